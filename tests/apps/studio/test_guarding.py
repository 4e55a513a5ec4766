"""Whom Studio answers, and what it reads."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
from fastapi.testclient import TestClient

from piforest.apps.server.guard import Refused
from piforest.apps.studio.sources import kind_of, safe_name
from studio_runs import BEARER, TOKEN, lines_csv, studio_in

BASE = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "inside").mkdir()
    (folder / "inside" / "a.csv").write_bytes(lines_csv())
    (folder / "secret.csv").write_text("x,y\n1,2\n")
    (folder / "inside" / "link.csv").symlink_to(folder / "secret.csv")
    with studio_in(folder / "home", [folder / "inside"], max_upload=100_000) as made:
        made.folder = folder / "inside"
        yield made


def test_every_address_needs_the_token(asking):
    plain = TestClient(asking.app, base_url=BASE)
    for path in ("/", "/static/studio.js", "/web/theme.js", "/api/about", "/api/projects",
                 "/openapi.json", "/nowhere"):  # fmt: skip
        assert plain.get(path).status_code == 401, path
        assert plain.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert plain.get(path, headers={"Cookie": "piforest_8765=wrong"}).status_code == 401
    assert "piforest studio printed" in plain.get("/api/projects").json()["error"]


def test_a_browser_without_the_token_gets_a_page_that_says_what_to_do(asking):
    plain = TestClient(asking.app, base_url=BASE)
    wanted = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = plain.get("/", headers=wanted)
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert "where <code>piforest studio</code> was started" in answer.text
    assert TOKEN not in answer.text
    other = plain.get("/", headers={**wanted, "Host": "<b>x</b>"})
    assert other.status_code == 421
    assert "<b>x" not in other.text
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        assert "error" in plain.get("/", headers=headers).json()
    assert "error" in plain.post("/api/projects", headers=wanted).json()


def test_the_token_in_the_address_becomes_a_cookie_that_scripts_cannot_read(asking):
    plain = TestClient(asking.app, base_url=BASE)
    answer = plain.get(f"/api/projects?token={TOKEN}")
    cookie = answer.headers["set-cookie"]
    assert cookie == f"piforest_8765={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    again = plain.get("/api/projects", headers={"Cookie": f"piforest_8765={TOKEN}"})
    assert again.status_code == 200
    assert "set-cookie" not in again.headers
    assert "set-cookie" not in plain.get("/api/projects?token=wrong").headers


def test_other_hosts_and_other_origins_are_refused(asking):
    cases = [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403),
             ({"Origin": "null"}, 403), ({"Origin": BASE}, 200)]  # fmt: skip
    for headers, status in cases:
        assert asking.http.get("/api/projects", headers=headers).status_code == status


def test_every_answer_has_the_policy(asking):
    for path in ("/api/projects", "/nowhere", "/api/jobs/x"):
        headers = asking.http.get(path).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/web/..%2f..%2f__init__.py",
             "/static//etc/passwd", "/static/%00", "/web/%2fetc%2fpasswd", "/static/"]
)  # fmt: skip
def test_pages_are_of_their_folders_only(asking, path):
    assert asking.http.get(path).status_code == 404


def test_files_by_path_are_of_the_given_folders_only(asking):
    folder = asking.folder
    assert asking.post("/sources/path", {"path": str(folder / "a.csv")}).status_code == 200
    assert asking.post("/sources/path", {"path": "a.csv"}).status_code == 200
    for path in (folder.parent / "secret.csv", folder / ".." / "secret.csv", folder / "link.csv",
                 "/etc/passwd", "~/.ssh/id_rsa", folder / "none.csv", "a\0.csv"):  # fmt: skip
        answer = asking.post("/sources/path", {"path": str(path)})
        assert answer.status_code in (403, 422), path
        assert "error" in answer.json()


def test_a_folder_lists_what_may_be_read(asking):
    top = asking.get("/folders").json()
    assert [each["path"] for each in top["entries"]] == [str(asking.folder)]
    inside = asking.get("/folders", params={"path": str(asking.folder)}).json()
    assert [each["name"] for each in inside["entries"]] == ["a.csv"]
    assert inside["parent"] is None
    for path in ("/", "/etc", str(asking.folder.parent)):
        assert asking.get("/folders", params={"path": path}).status_code == 403


def test_an_upload_that_is_too_large_is_not_kept(asking):
    before = list((asking.studio.store.home / "sources").iterdir())
    assert asking.upload("a.csv", b"x" * 100_001).status_code == 413

    def parts():  # without a length
        yield from (b"x" * 50_000 for _ in range(5))

    assert asking.upload("a.csv", parts()).status_code == 413
    assert asking.upload("a.csv", b"").status_code == 422
    assert list((asking.studio.store.home / "sources").iterdir()) == before


def test_names_of_files_are_names_of_files():
    assert safe_name("../../etc/passwd") == "passwd"
    assert safe_name("C:\\data\\a.csv") == "a.csv"
    assert safe_name("-rf.csv") == "rf.csv"
    assert safe_name('a"<b>\n.csv') == "a__b__.csv"
    assert safe_name("ä" * 300 + ".csv.gz").endswith(".csv.gz")
    assert len(safe_name("ä" * 300 + ".csv.gz")) == 100
    for name in ("", "..", "/", "..."):
        with pytest.raises(Refused, match="is no name of a file"):
            safe_name(name)


def test_the_ending_of_a_name_tells_what_a_file_is():
    kinds = {"a.csv": "table", "a.CSV.gz": "table", "a.xlsx": "table", "a.ply": "scan",
             "a.jpg": "image", "a.db": "colmap", "a.npz": "matches", "a.pif": "model",
             "a.piforest.zip": "project", "a.npy": "table"}  # fmt: skip
    assert {name: kind_of(name) for name in kinds} == kinds
    with pytest.raises(Refused, match="the ending of the name tells no format"):
        kind_of("a.exe")


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        ("/projects", {"sources": ["0" * 16]}, 404, "there is no source"),
        ("/projects", {"sources": []}, 422, "sources:"),
        ("/projects", {"sources": ["../../x"]}, 422, "sources.0:"),
        ("/sources/example", {"name": "none"}, 404, "examples: motors"),
        (f"/projects/{'0' * 16}/jobs", {"kind": "detect"}, 404, "there is no project"),
        (f"/projects/{'0' * 16}/jobs", {"kind": "rm"}, 422, "kind:"),
        (f"/projects/{'0' * 16}/jobs", {"kind": "detect", "settings": {"x": 1}}, 422, "settings.x"),
    ],
)
def test_what_is_not_there_or_not_valid_is_said_in_words(asking, path, body, status, text):
    answer = asking.post(path, body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert text in answer.json()["error"]


def test_code_is_refused_unless_it_was_allowed(asking):
    project = asking.project(("a.csv", lines_csv()))
    code = {"source": "sample_size = 2\ndef fit(p): ...\ndef residuals(X, p): ..."}
    answer = asking.post(
        f"/projects/{project}/jobs", {"kind": "detect", "settings": {"code": code}}
    )
    assert answer.status_code == 403
    assert "--allow-code" in answer.json()["error"]
    assert asking.get(f"/projects/{project}").json()["jobs"] == []


def test_two_pages_share_projects(asking):
    other = TestClient(asking.app, base_url=BASE, headers=BEARER)
    project = asking.project(("a.csv", lines_csv()))
    other.patch(f"/api/projects/{project}", json={"name": "renamed"})
    found = asking.get(f"/projects/{project}").json()
    assert found["name"] == "renamed"
    other.patch(f"/api/projects/{project}", json={"structure_names": {"0": "left wall"}})
    found = asking.get(f"/projects/{project}").json()
    assert (found["name"], found["structure_names"]) == ("renamed", {"0": "left wall"})
    assert other.delete(f"/api/projects/{project}").status_code == 204
    assert asking.get(f"/projects/{project}").status_code == 404
