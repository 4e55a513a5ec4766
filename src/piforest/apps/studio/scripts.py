"""From a command that has run to Python that does the same, bit for bit."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

_HEAD = '"""Made by piforest studio {version}. It repeats:\n\n    {command}\n"""\n\n'


def script_of(
    args: argparse.Namespace, told: dict[str, Any], command: str, threshold: float | None = None
) -> str:
    """The script. args: of the command; told: what only the run knows, see `telling`."""
    from ... import __version__

    lines = list(_WRITERS[args.command](args, told, threshold))
    head = _HEAD.format(version=__version__, command=_quoted(command))
    return head + "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Text that cannot end a docstring: names of files and columns may hold anything."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def comparison_script(detection: str, seed: int) -> str:
    """The script of a comparison: the one of the detection, and scikit-learn beside it."""
    return detection + "\n".join([
        "",
        "# The same rows by other methods; larger is more anomalous.",
        "from sklearn.ensemble import IsolationForest",
        "from sklearn.neighbors import LocalOutlierFactor",
        "",
        f"isolation_forest = -IsolationForest(random_state={seed}).fit(X).score_samples(X)",
        "neighbours = LocalOutlierFactor(min(20, len(X) - 1)).fit(X)",
        "lof = -neighbours.negative_outlier_factor_",
        "",
    ])  # fmt: skip


def _families(told: dict[str, Any], args: argparse.Namespace) -> str:
    if getattr(args, "functions", None) is not None:
        return "family"
    texts = [
        f"get_family({each['name']!r}{', ' * bool(each['options'])}{_arguments(each['options'])})"
        for each in told["families"]
    ]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _arguments(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def _detector(args: argparse.Namespace, told: dict[str, Any], sampler: str) -> Iterator[str]:
    given: dict[str, Any] = {"sigma": args.sigma, "contamination": args.contamination}
    given["scale_columns"] = getattr(args, "scale_columns", "auto")
    given["false_alarm_rate"] = args.false_alarm_rate
    given["n_models"] = args.models or "auto"
    given["n_estimators"] = args.trees
    given["sampler"] = sampler
    usual = {"sigma": "auto", "contamination": "auto", "scale_columns": "auto",
             "false_alarm_rate": None, "n_models": "auto", "n_estimators": 100,
             "sampler": "mixed"}  # fmt: skip
    changed = "".join(f", {n}={v!r}" for n, v in given.items() if v != usual[n])
    yield (
        f"detector = PreferenceIsolationForest({_families(told, args)}{changed}, "
        f"random_state={args.seed})"
    )


def _fit(args: argparse.Namespace, threshold: float | None, more: str = "") -> Iterator[str]:
    yield f"detector.fit(X{more})"
    chosen = args.threshold if threshold is None else threshold
    if chosen is not None:
        yield f"detector.set_threshold({chosen!r})"
    yield "# Training rows have their scores; of more than 50,000 they are computed."
    yield "known = detector.findings_.has_scores"
    yield "scores = detector.scores_ if known else detector.anomaly_score(X)"
    yield "anomalous = scores > detector.threshold_"


def _imports(args: argparse.Namespace, *more: str) -> Iterator[str]:
    yield "import numpy as np"
    yield ""
    yield "from piforest import PreferenceIsolationForest"
    if getattr(args, "functions", None) is not None:
        yield "from piforest.families import from_functions"
    else:
        yield "from piforest.families import get_family"
    yield from more
    yield ""


def _reading(args: argparse.Namespace, columns: list[str]) -> Iterator[str]:
    """Lines that read the table and its points X."""
    yield f"table = read_table({str(args.file)!r})"
    if getattr(args, "dates", None) is not None:
        yield f"table = dates_as_numbers(table, {args.dates!r})"
    yield f"X = table.numbers({columns!r})"


def _custom(args: argparse.Namespace) -> Iterator[str]:
    """Lines that make the family of a file of functions."""
    if getattr(args, "functions", None) is None:
        return
    yield "# The two functions, as Studio has stored them."
    yield f"names = runpy.run_path({str(args.functions)!r}, run_name='family')"
    yield "settings = ('sample_size', 'n_features', 'name', 'codimension', 'exact', 'batched')"
    yield "given = {name: names[name] for name in settings if name in names}"
    yield (
        "family = from_functions(names['fit'], names['residuals'], "
        f"**{{'name': {args.functions.stem!r}, **given}})"
    )


def _table_imports(args: argparse.Namespace) -> list[str]:
    found = ["from piforest.io.tables import read_table"]
    if getattr(args, "dates", None) is not None:
        found.append("from piforest.io.tables.dates import dates_as_numbers")
    if getattr(args, "functions", None) is not None:
        found.insert(0, "import runpy")
    return found


def _detect(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    yield from _imports(args, *_table_imports(args))
    yield from _reading(args, told["columns"])
    yield from _complete(args)
    yield from _custom(args)
    grouped = args.groups is not None
    yield from _detector(args, told, "grouped" if grouped else "mixed")
    yield from _fit(args, threshold, ", groups=groups" if grouped else "")


def _complete(args: argparse.Namespace) -> Iterator[str]:
    """Lines that leave out rows without a number, and the groups of the others."""
    if args.missing == "skip":
        yield "complete = ~np.isnan(X).any(axis=1)"
        yield "X = X[complete]"
    if args.groups is not None:
        yield f"cells = table.columns[{args.groups!r}].tolist()"
        yield "cells = ['' if cell is None else str(cell) for cell in cells]"
        yield "groups = np.unique(cells, return_inverse=True)[1]"
        if args.missing == "skip":
            yield "groups = groups[complete]"


def _cloud(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    if args.local:
        yield from _local(args, told, threshold)
        return
    estimated = told.get("normals") == "estimated"
    more = ["from piforest.clouds import estimate_normals"] if estimated else []
    more += ["from piforest.clouds import voxel_sample"] if args.voxel is not None else []
    yield from _imports(args, *more, *_table_imports(args))
    yield from _reading(args, told["columns"][:3] if estimated else told["columns"])
    yield from _complete(args)
    if estimated:
        yield f"X = np.column_stack([X, estimate_normals(X, viewpoint={told['viewpoint']!r})])"
    yield from _custom(args)
    grouped = args.groups is not None
    yield from _detector(args, told, "grouped" if grouped else "mixed")
    if args.voxel is None:
        yield from _fit(args, threshold, ", groups=groups" if grouped else "")
        return
    yield f"some = voxel_sample(X[:, :3], {args.voxel!r})"
    yield "detector.fit(X[some]" + (", groups=groups[some])" if grouped else ")")
    chosen = args.threshold if threshold is None else threshold
    if chosen is not None:
        yield f"detector.set_threshold({chosen!r})"
    yield "scores = detector.anomaly_score(X)"
    yield "anomalous = scores > detector.threshold_"


def _local(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    yield "from piforest import LocalPreferenceIsolationForest"
    yield "from piforest.families import get_family"
    yield from _table_imports(args)
    yield ""
    yield from _reading(args, told["columns"])
    yield from _complete(args)
    window = "" if args.window is None else f", window={args.window!r}"
    yield (
        f"detector = LocalPreferenceIsolationForest({_families(told, args)}{window}, "
        f"coordinates=[0, 1, 2], sigma={args.sigma!r}, contamination={args.contamination!r}, "
        f"random_state={args.seed})"
    )
    fitted = "X" if args.voxel is None else f"X[voxel_sample(X[:, :3], {args.voxel!r})]"
    if args.voxel is not None:
        yield "from piforest.clouds import voxel_sample"
        yield ""
    yield f"detector.fit({fitted})"
    chosen = args.threshold if threshold is None else threshold
    if chosen is not None:
        yield f"detector.set_threshold({chosen!r})"
    yield "scores = detector.anomaly_score(X)"
    yield "anomalous = scores > detector.threshold_"


def _matches(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    files = [str(each) for each in args.inputs]
    if told.get("many"):
        yield "from piforest.vision.pairs import PairOptions, run_pairs"
        yield "from piforest.io.matches import open_matches"
        yield ""
        yield f"file = open_matches({files[0]!r})"
        yield f"options = PairOptions({_arguments(told['options'])})"
        yield "results = list(run_pairs(file, file.pairs(), options, n_jobs=1))"
        yield "scores = [each.scores for each in results]"
        return
    if len(files) == 2:
        yield from _imports(args, "from piforest.vision import match_images, read_image")
        yield f"images = [read_image(path) for path in {files!r}]"
        yield (
            f"found = match_images(*images, features={args.features or 'sift'!r}, "
            f"ratio={args.ratio or 0.8!r}, mutual={not args.no_mutual!r})"
        )
        yield "X = found.X"
    else:
        yield from _imports(args, "from piforest.io.matches import only_pair, open_matches")
        columns = f", columns={args.columns!r}" if args.columns else ""
        yield f"file = open_matches({files[0]!r}{columns})"
        yield f"X = file.read(only_pair(file, {args.pair!r})).X"
    yield from _detector(args, told, "mixed")
    yield from _fit(args, threshold)


def _surface(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    yield "from piforest.families import get_family"
    yield "from piforest.surfaces import inspect_surface, read_map"
    yield ""
    yield f"values = read_map({str(args.file)!r}, zero={args.zero!r})"
    yield (
        f"found = inspect_surface(values, family={_families(told, args)}, window={args.window!r}, "
        f"sigma={args.sigma!r}, contamination={args.contamination!r}, zero='valid', "
        f"step={args.step or 'auto'!r}, min_area={args.min_area}, random_state={args.seed})"
    )
    yield "scores, defects = found.scores, found.defects"


def _series(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    yield "from piforest.families import get_family"
    yield "from piforest.io.tables import read_table"
    yield "from piforest.io.tables.dates import dates_as_numbers"
    yield "from piforest.series import inspect_series"
    yield ""
    yield f"table = dates_as_numbers(read_table({str(args.file)!r}), {args.dates or 'seconds'!r})"
    yield f"columns = {told['columns']!r}"
    yield f"used = ~table.missing([{args.time!r}, *columns])"
    family = _families(told, args) if told["families"] else repr(args.family[0])
    yield (
        f"found = inspect_series(table.numbers([{args.time!r}])[used, 0], "
        f"table.numbers(columns)[used], names=columns, family={family}, "
        f"window={args.window!r}, reference={args.reference!r}, smooth={args.smooth or 'auto'!r}, "
        f"sigma={args.sigma!r}, contamination={args.contamination!r}, "
        f"false_alarm_rate={args.reference_alarms!r}, min_rows={args.min_rows}, "
        f"random_state={args.seed})"
    )
    yield "scores, runs = found.scores, found.runs"


def _score(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    yield "import numpy as np"
    yield ""
    yield "from piforest import load"
    yield from _table_imports(args)
    yield ""
    yield f"detector = load({str(args.model)!r})"
    chosen = args.threshold if threshold is None else threshold
    if chosen != "auto":
        yield f"detector.set_threshold({chosen!r})"
    yield from _reading(args, told["columns"])
    if args.missing == "skip":
        yield "X = X[~np.isnan(X).any(axis=1)]"
    yield "scores = detector.anomaly_score(X)"
    yield "anomalous = scores > detector.threshold_"


def _suggest(
    args: argparse.Namespace, told: dict[str, Any], threshold: float | None
) -> Iterator[str]:
    yield "import numpy as np"
    yield ""
    yield "from piforest._random import Stream"
    yield from _table_imports(args)
    yield "from piforest.proposals.propose import propose"
    yield ""
    yield from _reading(args, told["columns"])
    if args.missing == "skip":
        yield "X = X[~np.isnan(X).any(axis=1)]"
    yield f"stream = Stream.from_random_state({args.seed}).child('proposals')"
    yield f"proposals = propose(X, {told['columns']!r}, stream)"
    yield "print(proposals)"


_WRITERS = {
    "detect": _detect, "cloud": _cloud, "matches": _matches, "surface": _surface,
    "series": _series, "score": _score, "suggest": _suggest,
}  # fmt: skip
