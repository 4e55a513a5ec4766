"""Folders of Parquet files on a cluster that was started from the command line."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")
pq = pytest.importorskip("pyarrow.parquet")

from dask_clusters import WAIT, ending, scheduler, worker  # noqa: E402
from piforest import LocalPreferenceIsolationForest, PreferenceIsolationForest  # noqa: E402
from piforest.apps import cli  # noqa: E402
from piforest.apps import folder as _folder  # noqa: E402
from piforest.apps.folder import score_folder  # noqa: E402
from piforest.datasets import make_lines  # noqa: E402
from piforest.engines.dask import cluster as _cluster  # noqa: E402
from piforest.engines.dask import connect  # noqa: E402
from piforest.engines.dask.packed import PackedModel  # noqa: E402
from piforest.io.atomic import atomic_write  # noqa: E402

SMALL = {"n_models": 150, "n_estimators": 5, "max_samples": 32, "pool_size": 100}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """`dask scheduler` and two `dask worker`s; their address, and the processes."""
    folder = tmp_path_factory.mktemp("cluster")
    with ending() as started:
        process, address = scheduler(folder)
        started += [process, worker(folder), worker(folder)]
        with connect(address, timeout=WAIT) as client:
            client.wait_for_workers(2, timeout=WAIT)
        yield address, started


@pytest.fixture(scope="module")
def client(cluster):
    with connect(cluster[0], timeout=WAIT) as client:
        yield client


@pytest.fixture(scope="module")
def table():
    X = make_lines(3, sizes=300, noise=0.01, anomaly_share=0.25, random_state=0).data
    frame = pd.DataFrame(X, columns=["a", "b"])
    return frame.assign(name=[f"row {k}" for k in range(len(X))])


@pytest.fixture(scope="module")
def detector(table):
    return PreferenceIsolationForest("line", random_state=0, **SMALL).fit(table[["a", "b"]])


@pytest.fixture
def source(table, tmp_path):
    """Three files, one of them in a folder of its own, and one without rows."""
    folder = tmp_path / "in"
    (folder / "day=2").mkdir(parents=True)
    for name, rows in FILES.items():
        table.iloc[rows].to_parquet(folder / name, row_group_size=150, index=False)
    (folder / "_SUCCESS").touch()
    return folder


FILES = {
    "day=2/part0.parquet": slice(0, 400),
    "part1.parquet": slice(400, 800),
    "part2.parquet": slice(800, 1200),
    "part3.parquet": slice(0, 0),
}


def run(detector, source, client, **changes):
    options = {"model": "m", **changes}
    out = source.parent / "out"
    return score_folder(detector, source, out, lambda: client, ["a", "b"], **options)


def check(out, table, detector, names=FILES):
    scores = detector.anomaly_score(table[["a", "b"]])
    for name in names:
        found = pd.read_parquet(out / name)
        expected = table.iloc[FILES[name]]
        assert found.columns.tolist() == ["a", "b", "name", "score", "anomaly", "structure",
                                          "distance"]  # fmt: skip
        assert found["name"].tolist() == expected["name"].tolist()
        assert np.array_equal(found["score"], scores[FILES[name]])
        assert np.array_equal(found["anomaly"], scores[FILES[name]] > detector.threshold_)
        if len(expected):
            assert np.array_equal(found["structure"], detector.assign(expected[["a", "b"]]))


def test_windows_score_files_without_structures(client, table, source):
    options = {"n_models": 50, "n_estimators": 5, "contamination": 0.1, "random_state": 0}
    windows = LocalPreferenceIsolationForest("line", **options).fit(table[["a", "b"]])
    assert sorted(run(windows, source, client).done) == list(FILES)
    found = pd.read_parquet(source.parent / "out" / "part1.parquet")
    assert found.columns.tolist() == ["a", "b", "name", "score", "anomaly"]
    expected = windows.anomaly_score(table[["a", "b"]])[FILES["part1.parquet"]]
    assert np.array_equal(found["score"], expected)


def test_every_file_gets_its_scores(client, detector, table, source, monkeypatch):
    monkeypatch.setattr(_folder, "TASK_ROWS", 60)
    seen = []
    report = run(detector, source, client, watch=lambda report: seen.append(report.seen))
    assert sorted(report.done) == list(FILES)
    assert seen == [1, 2, 3, 4]
    assert report.counts.rows == len(table)
    assert report.counts.anomalies == np.sum(detector.predict(table[["a", "b"]]) == -1)
    check(source.parent / "out", table, detector)
    groups = pq.ParquetFile(source.parent / "out" / "part1.parquet").metadata.num_row_groups
    assert groups == 3


def test_a_second_run_scores_the_remaining_files(client, detector, table, source):
    run(detector, source, client)
    out = source.parent / "out"
    (out / "part1.parquet").unlink()
    before = {name: (out / name).stat().st_mtime_ns for name in FILES if name != "part1.parquet"}
    report = run(detector, source, client)
    assert report.done == ["part1.parquet"]
    assert sorted(report.skipped) == sorted(before)
    assert {name: (out / name).stat().st_mtime_ns for name in before} == before
    check(out, table, detector)


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_done(
    client, detector, table, source
):
    (source / "part1.parquet").write_bytes(b"PAR1 nothing of the kind")
    whole = (source / "part2.parquet").read_bytes()
    # The footer can be read, the rows cannot.
    cut = 4 + len(whole) // 4
    (source / "part2.parquet").write_bytes(b"PAR1" + bytes(cut - 4) + whole[cut:])
    table[["a"]].to_parquet(source / "part4.parquet")
    report = run(detector, source, client)
    assert sorted(report.done) == ["day=2/part0.parquet", "part3.parquet"]
    assert sorted(report.failed) == ["part1.parquet", "part2.parquet", "part4.parquet"]
    assert "part1.parquet cannot be read" in report.failed["part1.parquet"]
    assert "has no column 'b'" in report.failed["part4.parquet"]
    out = source.parent / "out"
    left = [path.name for path in out.rglob("*") if path.is_file()]
    assert sorted(left) == ["part0.parquet", "part3.parquet"]
    check(out, table, detector, report.done)


def test_rows_that_lack_numbers_fail_their_file_or_are_skipped(client, detector, table, source):
    holes = table.iloc[400:800].copy()
    holes.iloc[250, 1] = np.nan
    holes.to_parquet(source / "part1.parquet", row_group_size=150, index=False)
    report = run(detector, source, client)
    assert "row 251 of column 'b' has no number" in report.failed["part1.parquet"]
    report = run(detector, source, client, skip_missing=True)
    assert report.done == ["part1.parquet"]
    assert report.counts.skipped == 1
    # The others lack no number: the option has no effect.
    assert len(report.skipped) == 3
    found = pd.read_parquet(source.parent / "out" / "part1.parquet")
    assert found["score"].isna().tolist() == holes["b"].isna().tolist()
    report = run(detector, source, client)
    assert "other settings" in report.failed["part1.parquet"]


def test_files_of_another_model_are_kept_unless_forced(client, detector, table, source):
    run(detector, source, client)
    other = PreferenceIsolationForest("line", random_state=1, **SMALL).fit(table[["a", "b"]])
    report = run(other, source, client, model="another")
    assert sorted(report.failed) == list(FILES)
    message = "from other data, another model or other settings; --force"
    assert message in report.failed["part1.parquet"]
    check(source.parent / "out", table, detector)
    assert sorted(run(other, source, client, model="another", force=True).done) == list(FILES)
    check(source.parent / "out", table, other)


def test_files_of_another_threshold_are_kept_unless_forced(client, detector, table, source):
    run(detector, source, client)
    other = copy.copy(detector).set_threshold(detector.threshold_ * 0.9)
    report = run(other, source, client)
    assert sorted(report.failed) == list(FILES)
    assert "other settings; --force" in report.failed["part1.parquet"]
    check(source.parent / "out", table, detector)
    assert sorted(run(other, source, client, force=True).done) == list(FILES)
    check(source.parent / "out", table, other)
    assert sorted(run(other, source, client).skipped) == list(FILES)


def no_cluster():
    raise AssertionError("a cluster was started")


def test_no_cluster_is_started_if_all_files_are_finished(client, detector, source):
    run(detector, source, client)
    (source / "part4.parquet").write_bytes(b"no Parquet file")
    out = source.parent / "out"
    report = score_folder(detector, source, out, no_cluster, ["a", "b"], model="m")
    assert report.skipped == list(FILES)
    assert list(report.failed) == ["part4.parquet"]


def test_invalid_folders_are_errors_before_the_work(detector, tmp_path):
    client = no_cluster
    with pytest.raises(NotADirectoryError, match="is not a folder of Parquet files"):
        score_folder(detector, tmp_path / "a", tmp_path / "b", client, ["a", "b"], model="m")
    with pytest.raises(FileNotFoundError, match="has no Parquet files"):
        score_folder(detector, tmp_path, tmp_path / "b", client, ["a", "b"], model="m")
    (tmp_path / "a.parquet").touch()
    for out in (tmp_path, tmp_path / "scored"):
        with pytest.raises(ValueError, match="output folder must be outside of"):
            score_folder(detector, tmp_path, out, client, ["a", "b"], model="m")


def command_line(*args):
    return cli.main(["score", *map(str, args)])


@pytest.fixture
def model(detector, tmp_path):
    detector.save(tmp_path / "model.pif")
    return tmp_path / "model.pif"


def test_the_command_line_scores_a_folder_and_goes_on_where_it_stopped(
    cluster, detector, table, source, model, capsys
):
    out = source.parent / "out"
    asked = (source, "--model", model, "--out", out, "--dask", cluster[0])
    (source / "part2.parquet").rename(source.parent / "later.parquet")
    (source / "part2.parquet").write_bytes(b"no Parquet file")
    assert command_line(*asked) == 1
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [captured.err.strip()]
    assert captured.err.startswith("piforest: part2.parquet failed: ")
    assert "files       3 of 4 scored" in captured.out
    assert "rows        800 in columns a, b" in captured.out
    (source.parent / "later.parquet").replace(source / "part2.parquet")
    assert command_line(*asked, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["done"] == ["part2.parquet"]
    assert answer["skipped"] == [name for name in FILES if name != "part2.parquet"]
    assert answer["rows"] == 400
    check(out, table, detector)
    # There is no scheduler, and none is needed.
    assert command_line(*asked[:-1], "tcp://127.0.0.1:9") == 0
    captured = capsys.readouterr()
    assert "files       0 of 4 scored; 4 were finished before" in captured.out
    assert "cluster" not in captured.out
    assert captured.err == ""


@pytest.mark.slow
def test_a_cluster_of_this_machine_is_started_and_ended(detector, table, source, model, tmp_path):
    table.iloc[:9].assign(b=np.nan).to_parquet(source / "part4.parquet", index=False)
    command = [
        sys.executable, "-m", "piforest", "score", source, "--model", model, "--out",
        tmp_path / "out", "--dask", "local", "--jobs", "2",
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 1, result.stderr
    # Dask may log more when it ends.
    ours = [line for line in result.stderr.splitlines() if line.startswith("piforest: ")]
    assert len(ours) == 1
    assert ours[0].startswith("piforest: part4.parquet failed: ")
    assert str(Path(_folder.__file__).parents[1]) not in result.stderr, "a traceback of ours"
    assert "Compute Failed" not in result.stderr, "workers log what the command reports"
    assert "cluster     2 workers, 2 threads" in result.stdout
    check(tmp_path / "out", table, detector)


def test_the_error_of_a_missing_scheduler_is_one_line(source, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_cluster, "TIMEOUT", 1.0)
    asked = (source, "--model", model, "--out", tmp_path / "out")
    assert command_line(*asked, "--dask", "tcp://127.0.0.1:9") == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("piforest: no Dask scheduler answers at 'tcp://127.0.0.1:9'")
    assert len(captured.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--dask needs --out"),
        (["--out", "out", "--delimiter", ";"], "no --delimiter; omit it"),
        (["--out", "out", "--columns", "a,q"], "none of 4 files can be scored"),
    ],
)
def test_options_that_do_not_apply_to_folders_are_errors(source, model, capsys, options, message):
    assert command_line(source, "--model", model, "--dask", "local", *options) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def slow_writer(folder):
    """`write_scores` that leaves its process id in a folder, and half a file until there is one
    named go."""

    def write(path, target, *others):
        if not (folder / "go").exists():
            target.parent.mkdir(exist_ok=True)
            with atomic_write(target) as file:
                file.write(b"half")
                (folder / str(os.getpid())).touch()
                while not (folder / "go").exists():
                    time.sleep(0.02)
        return _folder.write_scores(path, target, *others)

    return write


def test_a_worker_that_dies_while_it_writes_costs_nothing_but_time(
    cluster, client, detector, table, source, tmp_path, monkeypatch
):
    (tmp_path / "writing").mkdir()
    monkeypatch.setattr(_folder, "TASK_ROWS", 7)
    # Workers have the real one under this name.
    monkeypatch.setattr(_folder, "write_scores", slow_writer(tmp_path / "writing"))
    _, started = cluster
    client.wait_for_workers(2, timeout=WAIT)
    with ThreadPoolExecutor() as executor:
        running = executor.submit(run, detector, source, client)
        try:
            limit = time.monotonic() + WAIT
            while not (writing := os.listdir(tmp_path / "writing")):
                assert time.monotonic() < limit, "no worker writes"
                time.sleep(0.02)
            [victim] = [each for each in started if str(each.pid) == writing[0]]
            started.remove(victim)
            victim.kill()
            victim.join(20)
            assert [*(tmp_path / "out").rglob(".*")], "it left nothing"
        finally:
            (tmp_path / "writing" / "go").touch()
        report = running.result(WAIT)
    assert sorted(report.done) == list(FILES)
    check(tmp_path / "out", table, detector)
    assert not list((tmp_path / "out").rglob(".*"))


def waited_for(folder):
    """Until there is something in it."""
    limit = time.monotonic() + WAIT
    while not (found := os.listdir(folder)):
        assert time.monotonic() < limit, f"nothing appeared in {folder}"
        time.sleep(0.02)
    return found


@pytest.mark.slow
def test_a_scheduler_that_restarts_is_one_error_and_the_next_run_goes_on(
    detector, table, source, tmp_path, monkeypatch
):
    (tmp_path / "writing").mkdir()
    (tmp_path / "cluster").mkdir()
    monkeypatch.setattr(_folder, "write_scores", slow_writer(tmp_path / "writing"))
    with ending() as started:
        process, address = scheduler(tmp_path / "cluster")
        started += [process, worker(tmp_path / "cluster")]
        with connect(address, timeout=WAIT) as client, ThreadPoolExecutor() as executor:
            running = executor.submit(run, detector, source, client)
            waited_for(tmp_path / "writing")
            process.kill()
            process.join(20)
            port = address.rsplit(":", 1)[1]
            process, again = scheduler(tmp_path / "cluster", port)
            started.append(process)
            assert again == address
            with pytest.raises(OSError, match=r"connection to the Dask scheduler was lost after 0"):
                running.result(WAIT)
        (tmp_path / "writing" / "go").touch()
        started.append(worker(tmp_path / "cluster"))
        with connect(address, timeout=WAIT) as client:
            report = run(detector, source, client)
    assert not report.failed
    check(tmp_path / "out", table, detector)


def hungry(folder):
    """`score_rows` that takes more memory for one file than its worker may, unless there is a
    file named enough."""

    def score(path, *others):
        if path.name == "part1.parquet" and not (folder / "enough").exists():
            held = np.ones(10**8)
            time.sleep(60)  # or until the nanny has seen it
            del held
        return _folder.score_rows(path, *others)

    return score


@pytest.mark.slow
def test_a_worker_that_runs_out_of_memory_fails_its_file_with_the_way_out(
    detector, table, source, tmp_path, monkeypatch
):
    (tmp_path / "cluster").mkdir()
    once = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    with ending() as started:
        process, address = scheduler(tmp_path / "cluster", **once)
        started += [process, worker(tmp_path / "cluster", "--nanny", "--memory-limit", "700MB")]
        with connect(address, timeout=WAIT) as client:
            with monkeypatch.context() as patched:
                # Workers have the real one under this name.
                patched.setattr(_folder, "score_rows", hungry(tmp_path))
                report = run(detector, source, client)
            told = "workers that worked on it died, for lack of memory most often"
            assert told in report.failed["part1.parquet"]
            check(tmp_path / "out", table, detector, report.done)
            (tmp_path / "enough").touch()
            report = run(detector, source, client)
    assert not report.failed
    check(tmp_path / "out", table, detector)


@pytest.fixture
def finished(detector, table, source):
    """Outputs of all files, written without a cluster; the model of `run` is "m"."""
    out = source.parent / "out"
    job = _folder._Job(source, out, ["a", "b"], "m", float(detector.threshold_), False, False)
    scores = detector.anomaly_score(table[["a", "b"]])
    packed = PackedModel(detector.fitted_, "cpu", 1, detector.structures_)
    for name, rows in FILES.items():
        stamp = job.stamp(source / name)
        given = (stamp, job.threshold, job.names, packed, [scores[rows]])
        _folder.write_scores(source / name, out / name, *given)
    return out


def skipped_and_failed(detector, source):
    out = source.parent / "out"
    report = score_folder(detector, source, out, no_cluster, ["a", "b"], model="m")
    return sorted(report.skipped), report.failed


def test_an_input_that_changed_after_its_output_was_written_is_named(detector, source, finished):
    assert skipped_and_failed(detector, source) == (sorted(FILES), {})
    later, longer = source / "part1.parquet", source / "part2.parquet"
    state = later.stat()
    os.utime(later, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    # Another size, but the same time.
    state = longer.stat()
    pd.read_parquet(longer).iloc[:-1].to_parquet(longer, index=False)
    os.utime(longer, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert longer.stat().st_size != state.st_size
    skipped, failed = skipped_and_failed(detector, source)
    assert skipped == ["day=2/part0.parquet", "part3.parquet"]
    assert sorted(failed) == ["part1.parquet", "part2.parquet"]
    assert all("already exists, from other data" in reason for reason in failed.values())


@pytest.mark.slow
def test_a_score_equal_to_the_threshold_is_no_anomaly(detector, table, source, tmp_path):
    scores, target = np.linspace(0, 1, 400), tmp_path / "out.parquet"
    path = source / "day=2" / "part0.parquet"
    given = (["a", "b"], PackedModel(detector.fitted_, "cpu", 1), [scores[:200], scores[200:]])
    counts = _folder.write_scores(path, target, {}, scores[300], *given)
    assert counts == (400, 0, 99)
    assert pd.read_parquet(target)["anomaly"].sum() == 99
