"""What may come of an input: it is read, or refused in one line that names it."""

from __future__ import annotations

import io
import warnings
import zlib
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

import numpy as np

import piforest
from piforest.apps import cli
from piforest.io.cameras import read_calibration
from piforest.io.matches import Verdict, open_matches, read_matches
from piforest.io.tables import (
    FORMATS,
    read_blocks,
    read_table,
    with_scores,
    write_table,
)
from piforest.io.tables.compression import CODECS

from .inputs import KEYPOINTS

_LONGEST = 1000
_WRITTEN = [*sorted(set(FORMATS) - {".mat", ".npz", ".xlsm"}), ".csv.xz", ".jsonl.gz", ".tsv.zst"]


@cache
def _rows(d):
    """Rows to score models of d columns with; none is negative, which some metrics refuse."""
    return np.random.default_rng(1).uniform(0, 1, (12, d))


class Find(Exception):
    """What must not come of an input."""


def judge(made, scores):
    """ "read" or "refused"; raises Find. scores: of the models as they were, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning)
        outcome = {"model": _model, "reader": _reader, "command": _command}[made.kind](made, scores)
    allowed = {made.path.name, "model.pif", "other.png", KEYPOINTS, *outcome[1:]}
    left = [path.name for path in made.path.parent.iterdir() if path.name not in allowed]
    if left:
        raise Find(f"files were left: {left}")
    return outcome[0]


def _refused(error, made):
    """An error that may be raised."""
    said = str(error)
    if not isinstance(error, (ValueError, OSError)) or isinstance(error, UnicodeError):
        raise Find(f"{type(error).__name__}: {said[:200]}") from error
    if made.path.name not in said:
        raise Find(f"the file is not named: {said[:200]}") from error
    if "\n" in said or len(said) > _LONGEST + 2 * len(str(made.path)):
        raise Find(f"more than one line: {said[:200]!r}") from error
    return ("refused",)


def _matches(made):
    """All pairs, half of their matches written back, and read again."""
    path = made.path
    keypoints = path.with_name(KEYPOINTS) if path.suffix == ".h5" else None
    out = path.with_name(f"out{path.suffix}")
    try:
        file = open_matches(path, keypoints=keypoints)
        kept = {}
        for pair in file.pairs():
            kept[pair] = Verdict(np.arange(len(file.read(pair).X)) % 2 == 0)
            file.camera(pair[0])
        if path.suffix != ".csv":
            file.write(out, kept)
            for pair, verdict in kept.items():
                again = open_matches(out, keypoints=keypoints)
                if path.suffix != ".db" and len(again.read(pair).X) != verdict.kept.sum():
                    raise Find("other matches are read than were written")
    except Exception as error:
        if isinstance(error, Find):
            raise
        return _refused(error, made)
    return "read", out.name


def _camera(made):
    try:
        read_calibration(made.path)
    except Exception as error:
        return _refused(error, made)
    return ("read",)


def _reader(made, _):
    path = made.path
    if made.name.startswith("camera"):
        return _camera(made)
    if path.suffix in (".h5", ".hdf5") or made.name.startswith("matches_"):
        return _matches(made)
    try:
        table = _database(made) if path.suffix == ".db" else read_table(path)
        if path.suffix != ".db":
            rows = sum(len(block) for block in read_blocks(path, 7))
            if rows != len(table):
                raise Find(f"{rows} rows in blocks, {len(table)} at once")
        table.numbers(table.numeric())
    except Exception as error:
        if isinstance(error, Find):
            raise
        return _refused(error, made)
    return _written(table, made)


def _database(made):
    """As matches; half of the databases of the corpus by a query."""
    if made.name != "matches.db" or zlib.crc32(made.path.read_bytes()) % 2:
        return read_matches(made.path)
    return read_table(made.path, sql="SELECT * FROM keypoints")


def _written(table, made):
    """The table with scores in some other format, and read again."""
    suffix = _WRITTEN[sum(made.path.read_bytes()[:64]) % len(_WRITTEN)]
    out = made.path.with_name(f"out{suffix}")
    try:
        write_table(out, with_scores(table, np.full(len(table), 0.5), 0.4))
        if len(read_table(out)) != len(table):
            raise Find(f"{len(table)} rows were written as {suffix}, others are read")
    except (ValueError, OSError) as error:
        if isinstance(error, UnicodeError) or "\n" in str(error):
            raise Find(f"{type(error).__name__}: {error}") from error
    return "read", out.name


def _model(made, scores):
    try:
        detector = piforest.load(made.path)
        found = score(detector)
        detector.predict(_rows(detector.n_features_in_))
    except Exception as error:
        return _refused(error, made)
    if not (np.isfinite(found).all() and (found > 0).all() and (found <= 1).all()):
        raise Find(f"scores are {found[:3]}")
    if made.raw and not np.array_equal(found, scores[made.name]):
        raise Find("bytes were changed, and scores with them")
    return ("read",)


def score(detector):
    return detector.anomaly_score(_rows(detector.n_features_in_))


def _command(made, _):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = cli.main(list(made.command))
        except SystemExit as ended:
            code = ended.code
    lines = [each for each in err.getvalue().splitlines() if "piforest: warning: " not in each]
    if code not in (0, 1, 2):
        raise Find(f"exit code {code}")
    if code == 1 and not (len(lines) == 1 and lines[0].startswith("piforest: ")):
        raise Find(f"not one line: {lines[:3]}")
    if code == 0 and lines:
        raise Find(f"errors, and exit code 0: {lines[:3]}")
    named = [word for word in made.command if word.endswith(_OUTPUTS)]
    written = [word.rsplit("/", 1)[-1] for word in named if code == 0]
    return ("read" if code == 0 else "refused", *written)


_PACKED = [suffix + packing for suffix in FORMATS for packing in ("", *CODECS)]
_OUTPUTS = tuple(f"/out{suffix}" for suffix in _PACKED)
