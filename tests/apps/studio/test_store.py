"""The store: what stays, what goes, and how much there may be."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
from piforest.apps.server.guard import Refused
from piforest.apps.studio.store import Store


def put_source(store, size=10):
    key = store.new_id()
    path = store.source_folder(key) / "a.csv"
    path.write_bytes(b"x" * size)
    store.add_source({"id": key, "name": "a.csv", "kind": "table", "bytes": size,
                      "origin": "upload", "path": str(path)})  # fmt: skip
    return key


def test_what_is_stored_is_there_after_a_restart(tmp_path):
    store = Store(tmp_path)
    source = put_source(store)
    key = store.add_project("mine", "table", [source], settings={"seed": 3})
    store.change_project(key, {"marks": {"normal": [1], "anomalous": []}})
    job = store.new_id()
    store.add_job(job, key, "detect", "queued", {"seed": 3}, "piforest detect a.csv")
    store.close()
    again = Store(tmp_path)
    project = again.project(key)
    assert project["name"] == "mine"
    assert project["settings"] == {"seed": 3}
    assert project["marks"] == {"normal": [1], "anomalous": []}
    assert [each["id"] for each in project["sources"]] == [source]
    assert [each["id"] for each in project["jobs"]] == [job]
    again.close()


def test_only_the_user_may_look_into_the_folder(tmp_path):
    store = Store(tmp_path / "data" / "studio")
    assert (tmp_path / "data" / "studio").stat().st_mode & 0o077 == 0
    store.close()


def test_a_removed_project_takes_its_files_along_but_not_those_of_others(tmp_path):
    store = Store(tmp_path)
    own, shared = put_source(store), put_source(store)
    first = store.add_project("first", "table", [own, shared])
    store.add_project("second", "table", [shared])
    job = store.new_id()
    store.job_folder(job).mkdir()
    store.add_job(job, first, "detect", "done", {}, "")
    store.remove_project(first)
    assert not store.job_folder(job).exists()
    assert not (tmp_path / "sources" / own).exists()
    assert (tmp_path / "sources" / shared / "a.csv").exists()
    with pytest.raises(Refused, match="there is no project"):
        store.project(first)
    store.close()


def test_a_full_folder_refuses_more_in_words(tmp_path):
    store = Store(tmp_path, most_bytes=200_000)
    store.check_space(1000)
    with pytest.raises(
        Refused, match=r"remove projects, or start with a larger --max-home"
    ) as full:
        store.check_space(500_000)
    assert full.value.status == 507
    store.close()


def test_sources_of_no_project_are_removed_in_time(tmp_path):
    store = Store(tmp_path)
    kept, left = put_source(store), put_source(store)
    store.add_project("mine", "table", [kept])
    store.tidy(older=-1.0)
    assert (tmp_path / "sources" / kept).exists()
    assert not (tmp_path / "sources" / left).exists()
    store.close()


def test_threads_share_a_store(tmp_path):
    store = Store(tmp_path)
    source = put_source(store)
    threads = [threading.Thread(target=store.add_project, args=(f"p{k}", "table", [source]))
               for k in range(8)]  # fmt: skip
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {each["name"] for each in store.projects()} == {f"p{k}" for k in range(8)}
    store.close()
