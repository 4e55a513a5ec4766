"""A Python script that repeats a command, bit for bit.

Each command has a function that yields the lines of its script; shared parts are functions, too.
args.threshold is that of the slider, if it was moved.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

# The names that a script may import, and their modules.
_MODULES = {
    "LocalPreferenceIsolationForest": "piforest", "PreferenceIsolationForest": "piforest",
    "load": "piforest", "Stream": "piforest._random", "estimate_normals": "piforest.clouds",
    "voxel_sample": "piforest.clouds", "from_functions": "piforest.families",
    "get_family": "piforest.families", "only_pair": "piforest.io.matches",
    "open_matches": "piforest.io.matches", "MATCH": "piforest.io.matches",
    "MatchTable": "piforest.io.matches.table", "quality_of": "piforest.io.matches.table",
    "Table": "piforest.io.tables", "colours_by_score": "piforest.apps.cli._colours",
    "read_table": "piforest.io.tables",
    "with_scores": "piforest.io.tables", "write_table": "piforest.io.tables",
    "dates_as_numbers": "piforest.io.tables.dates", "propose": "piforest.proposals.propose",
    "inspect_series": "piforest.series", "inspect_surface": "piforest.surfaces",
    "read_map": "piforest.surfaces", "assign_rows": "piforest.structures.assignment",
    "structures_to_assign": "piforest.structures.assignment", "match_images": "piforest.vision",
    "read_image": "piforest.vision", "propose_match_family": "piforest.vision.filtering",
    "PairOptions": "piforest.vision.pairs", "run_pairs": "piforest.vision.pairs",
}  # fmt: skip
_HEAD = '"""Made by piforest studio {version}. It {does}:\n\n    {command}\n"""\n\n'


def script_of(
    args: argparse.Namespace, inputs: dict[str, Any], command: str, threshold: float | None = None
) -> str:
    """The script. args: of the command; inputs: see `script_inputs`."""
    from ... import __version__

    args.threshold = threshold if threshold is not None else getattr(args, "threshold", None)
    body = "\n".join(_WRITERS[args.command](args, inputs)) + "\n"
    written = "write_table(" in body
    does = "writes rows.csv as this does" if written else "computes what this does"
    head = _HEAD.format(version=__version__, does=does, command=_quoted(command))
    return f"{head}{_imports(body)}\n{body}"


def _imports(body: str) -> str:
    """The modules and the names that the script uses."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    names = defaultdict(list)
    for name, module in _MODULES.items():
        if name in used:
            names[module].append(name)
    lines = ["import runpy\n"] * ("runpy" in used) + ["import numpy as np\n"] * ("np" in used)
    lines.append("\n".join(f"from {module} import {', '.join(names[module])}" for module in names))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Text that cannot end a docstring: names of files and columns may hold anything."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def comparison_script(detection: str, seed: int) -> str:
    """The script of a comparison: that of the detection, then the methods of scikit-learn."""
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


def _families(inputs: dict[str, Any], args: argparse.Namespace) -> str:
    if getattr(args, "functions", None) is not None:
        return "family"
    texts = [
        f"get_family({each['name']!r}{', ' * bool(each['options'])}{_arguments(each['options'])})"
        for each in inputs["families"]
    ]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _arguments(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


# Lines that read.


def _reading(args: argparse.Namespace, columns: list[str]) -> Iterator[str]:
    """Lines that read the table and its points X, without rows that lack a number if asked."""
    yield f"table = read_table({str(args.file)!r})"
    numbers = "table"
    if getattr(args, "dates", None) is not None:
        numbers = f"dates_as_numbers(table, {args.dates!r})"
    yield f"X = {numbers}.numbers({columns!r})"
    skips, groups = args.missing == "skip", getattr(args, "groups", None)
    if skips:
        yield "complete = ~np.isnan(X).any(axis=1)"
        yield "X = X[complete]"
    if groups is not None:
        yield f"cells = table.columns[{groups!r}].tolist()"
        yield "cells = ['' if cell is None else str(cell) for cell in cells]"
        yield "groups = np.unique(cells, return_inverse=True)[1]"
    if groups is not None and skips:
        yield "groups = groups[complete]"


def _read_matches(args: argparse.Namespace) -> Iterator[str]:
    files = [str(each) for each in args.inputs]
    if len(files) == 2:
        yield f"images = [read_image(path) for path in {files!r}]"
        yield (
            f"found = match_images(*images, features={args.features or 'sift'!r}, "
            f"ratio={args.ratio or 0.8!r}, mutual={not args.no_mutual!r}"
            + (f", max_size={args.max_size!r})" if args.max_size else ")")
        )
        yield "X = found.X"
        yield "columns = {**dict(zip(MATCH, X.T)), 'ratio': found.ratio}"
        yield "table = Table(columns, 'matches', points=MATCH)"
        return
    columns = f", columns={args.columns!r}" if args.columns else ""
    yield f"file = open_matches({files[0]!r}{columns})"
    yield f"found = file.read(only_pair(file, {args.pair!r}))"
    yield f"table = file.table if isinstance(file, MatchTable) else found.table({files[0]!r})"
    yield "X = found.X"
    if args.quality is not None:
        yield f"quality = quality_of(table, {args.quality!r})"


# Lines that fit and score.


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


# By what else `fit` gets of each row.
_SAMPLERS = {"groups": "grouped", "quality": "weighted"}


def _rows_have(args: argparse.Namespace) -> str:
    """What `fit` gets of each row beside its coordinates; empty for nothing."""
    return next((each for each in _SAMPLERS if getattr(args, each, None) is not None), "")


def _detector(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    """Lines that make the detector of the whole file."""
    yield from _custom(args)
    sampler = _SAMPLERS.get(_rows_have(args), "mixed")
    given = {
        "sigma": (args.sigma, "auto"), "contamination": (args.contamination, "auto"),
        "scale_columns": (getattr(args, "scale_columns", "auto"), "auto"),
        "false_alarm_rate": (args.false_alarm_rate, None), "n_models": (args.models, None),
        "n_estimators": (args.trees, 100), "sampler": (sampler, "mixed"),
    }  # fmt: skip
    changed = _arguments({name: value for name, (value, usual) in given.items() if value != usual})
    yield (
        f"detector = PreferenceIsolationForest({_families(inputs, args)}{', ' * bool(changed)}"
        f"{changed}, random_state={args.seed})"
    )


def _fit(args: argparse.Namespace) -> Iterator[str]:
    """Lines that fit to all rows, or to one of each voxel, and score all."""
    rows, name = "", _rows_have(args)
    if getattr(args, "voxel", None) is not None:
        rows = "[some]"
        yield f"some = voxel_sample(X[:, :3], {args.voxel!r})"
    more = f", {name}={name}{rows}" if name else ""
    yield f"detector.fit(X{rows}{more})"
    known = not rows and not getattr(args, "local", False)
    if known:
        yield "# Training rows have their scores; of more than 50,000 they are computed."
        yield "known = detector.findings_.has_scores"
    yield from _verdicts(args, "detector.scores_ if known else " * known)


def _verdicts(args: argparse.Namespace, first: str = "") -> Iterator[str]:
    if args.threshold not in (None, "auto"):
        yield f"detector.set_threshold({args.threshold!r})"
    yield f"scores = {first}detector.anomaly_score(X)"
    yield "anomalous = scores > detector.threshold_"


def _rows(args: argparse.Namespace, detector: bool = True) -> Iterator[str]:
    """Lines that write the rows as the command does. detector: of this fit, not of a file."""
    scored = "complete" if getattr(args, "missing", None) == "skip" else "None"
    yield "# Anomalies belong to no structure."
    if detector:
        yield "assigned = assign_rows(X, ~anomalous, detector.structures_)"
    else:
        yield "structures = structures_to_assign(detector)"
        yield "assigned = None if structures is None else assign_rows(X, ~anomalous, structures)"
    if getattr(args, "connected", False):
        yield "pieces = detector.findings_.pieces(detector.backend_)"
        yield "assigned = assigned._replace(pieces=pieces.of(X, assigned))"
    yield f"rows = with_scores(table, scores, detector.threshold_, {scored}, assigned)"
    if args.command == "cloud":
        every = "np.ones(len(X), bool)" if scored == "None" else scored
        yield "# Blue for kept points, red for anomalies."
        yield f"colours = colours_by_score(scores, detector.threshold_, {every})"
        yield "rows = rows.with_columns(colours)"
    yield "write_table('rows.csv', rows)"
    yield from _told("anomalous")


def _told(flagged: str) -> Iterator[str]:
    yield f"print({flagged}.sum(), 'anomalies among', len(scores), 'rows')"


def _at_threshold(args: argparse.Namespace) -> Iterator[str]:
    if args.threshold is not None:
        yield f"found = found.with_threshold({args.threshold!r})"


# One function for each command.


def _detect(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    yield from _reading(args, inputs["columns"])
    yield from _detector(args, inputs)
    yield from _fit(args)
    yield from _rows(args)


def _cloud(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    estimated = inputs.get("normals") == "estimated"
    yield from _reading(args, inputs["columns"][:3] if estimated else inputs["columns"])
    if estimated:
        yield f"normals = estimate_normals(X, viewpoint={inputs['viewpoint']!r})"
        yield "X = np.column_stack([X, normals])"
    if estimated and args.missing == "error":
        yield "table = table.with_columns(dict(zip(['nx', 'ny', 'nz'], normals.T)))"
    yield from _local_detector(args, inputs) if args.local else _detector(args, inputs)
    yield from _fit(args)
    # Rows that lack a number lack a normal, too: their place in the file is not known here.
    written = not args.local and (not estimated or args.missing == "error")
    yield from _rows(args) if written else _told("anomalous")


def _local_detector(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    window = "" if args.window is None else f", window={args.window!r}"
    yield (
        f"detector = LocalPreferenceIsolationForest({_families(inputs, args)}{window}, "
        f"coordinates=[0, 1, 2], sigma={args.sigma!r}, contamination={args.contamination!r}, "
        f"random_state={args.seed})"
    )


def _matches(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    if inputs.get("many"):
        yield f"file = open_matches({str(args.inputs[0])!r})"
        yield f"options = PairOptions({_arguments(inputs['options'])})"
        yield "results = list(run_pairs(file, file.pairs(), options, n_jobs=1))"
        yield "scores = [each.scores for each in results]"
        yield "print(sum(each.kept.sum() for each in results), 'matches kept')"
        return
    if args.suggest:
        yield from _read_matches(args)
        yield f"proposals = propose_match_family(X, Stream.from_random_state({args.seed}))"
        yield "print(proposals)"
        return
    yield from _read_matches(args)
    yield from _detector(args, inputs)
    yield from _fit(args)
    yield from _rows(args)


def _surface(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    yield f"values = read_map({str(args.file)!r}, zero={args.zero!r})"
    yield (
        f"found = inspect_surface(values, family={_families(inputs, args)}, "
        f"window={args.window!r}, sigma={args.sigma!r}, contamination={args.contamination!r}, "
        f"zero='valid', step={args.step or 'auto'!r}, min_area={args.min_area}, "
        f"random_state={args.seed})"
    )
    yield from _at_threshold(args)
    yield "scores, defects = found.scores, found.defects"
    yield "print(*defects, sep='\\n')"


def _series(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    yield f"whole = read_table({str(args.file)!r})"
    yield f"table = dates_as_numbers(whole, {args.dates or 'seconds'!r})"
    yield f"columns = {inputs['columns']!r}"
    yield f"used = ~table.missing([{args.time!r}, *columns])"
    family = _families(inputs, args) if inputs["families"] else repr(args.family[0])
    yield (
        f"found = inspect_series(table.numbers([{args.time!r}])[used, 0], "
        f"table.numbers(columns)[used], names=columns, family={family}, "
        f"window={args.window!r}, reference={args.reference!r}, smooth={args.smooth or 'auto'!r}, "
        f"sigma={args.sigma!r}, contamination={args.contamination!r}, "
        f"false_alarm_rate={args.reference_alarms!r}, min_rows={args.min_rows}, "
        f"random_state={args.seed})"
    )
    yield from _at_threshold(args)
    yield "scores, runs = found.scores, found.runs"
    yield "write_table('rows.csv', with_scores(whole, scores, found.threshold, used))"
    yield from _told("found.flagged")


def _score(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    yield f"detector = load({str(args.model)!r})"
    yield from _reading(args, inputs["columns"])
    yield from _verdicts(args)
    yield from _rows(args, detector=False)


def _suggest(args: argparse.Namespace, inputs: dict[str, Any]) -> Iterator[str]:
    yield from _reading(args, inputs["columns"])
    yield f"stream = Stream.from_random_state({args.seed}).child('proposals')"
    yield f"proposals = propose(X, {inputs['columns']!r}, stream)"
    yield "print(proposals)"


_WRITERS = {
    "detect": _detect, "cloud": _cloud, "matches": _matches, "surface": _surface,
    "series": _series, "score": _score, "suggest": _suggest,
}  # fmt: skip
