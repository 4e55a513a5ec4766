"""From settings to the command that runs: a list of arguments of `piforest`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

from ..server.guard import Refused
from .settings import Settings

# The model of a result, which `score` and explanations need.
MODEL = "model.pif"
FAMILY_FILE = "family.py"
# The settings that each command takes; others are an error.
_ALWAYS = {"seed"}
_TABLE = {"roles", "missing", "dates"}
_DETECTOR = {"families", "options", "sigma", "threshold_rule"}
_GLOBAL = _DETECTOR | {"models", "trees", "connected"}
_KNOWN: dict[str, set[str]] = {
    "suggest": _TABLE,
    "detect": _TABLE | _GLOBAL | {"scale_columns", "code"},
    "cloud": _TABLE | _GLOBAL | {"scale_columns", "local", "voxel", "window", "code"},
    "matches": _GLOBAL | {"features", "ratio", "pair", "roles"},
    "surface": _DETECTOR | {"window"},
    "series": _TABLE | _DETECTOR | {"window", "reference"},
    "score": {"roles", "missing", "dates", "threshold_rule", "job", "source"},
}
_COMPARING = {"suggest": _KNOWN["suggest"], "matches": {"features", "ratio", "pair", "roles"}}
_SERIES = "series"
# What runs a command, in messages.
_SPOKEN = {
    "suggest": "the comparison of families", "detect": "a table", "cloud": "a scan",
    "matches": "a run of matches", "surface": "a map", "series": "a series",
    "score": "the scoring of a file",
}  # fmt: skip


def command_of(kind: str, project: str, settings: Settings) -> str:
    """The command that a job runs. kind: of the job; project: its kind."""
    if kind == "score" or (kind == "suggest" and project not in ("matches", "pairs")):
        return kind
    timed = "time" in settings.roles.values()
    if project == _SERIES or (project == "table" and timed):
        return _SERIES
    return {"table": "detect", "scan": "cloud", "map": "surface", "matches": "matches",
            "pairs": "matches"}[project]  # fmt: skip


def arguments(
    kind: str, project: str, files: Sequence[str], settings: Settings, model: str = MODEL
) -> list[str]:
    """The arguments of a job, without `piforest`. files: names of the inputs; model: of score."""
    if project == "model" and kind != "score":
        raise Refused(422, f"a model scores files; a project of a model has no {kind}.")
    if kind == "suggest" and (project == "map" or (project == "pairs" and settings.pair is None)):
        raise Refused(422, f"families are compared for rows and one pair of images, not for "
                      f"{project}.")  # fmt: skip
    command = command_of(kind, project, settings)
    _check_known(command, settings, (_COMPARING if kind == "suggest" else _KNOWN)[command])
    words = [command, *files]
    if command == "score":
        words += _joined("model", model)
    if command == "matches" and settings.pair is not None:
        words += _joined("pair", ",".join(settings.pair))
    words += _columns(command, settings)
    if kind == "suggest":
        return [*words, *_more(command, settings), *(["--suggest"] if command == "matches" else [])]
    words += _detector(command, settings)
    words += _more(command, settings)
    if _has_model(command, project, settings):
        words += _joined("model", MODEL)
    return [*words, *_outputs(command, project, settings, files[0])]


def _outputs(command: str, project: str, settings: Settings, file: str) -> Iterator[str]:
    """Files of commands in windows, and of many pairs: they have no model to make them from."""
    pictures = find_spec("matplotlib") is not None
    if command in ("surface", "series"):
        yield from _joined("table", "runs.csv" if command == _SERIES else "defects.csv")
        yield from _joined("scores", "rows.csv" if command == _SERIES else "scores.npy")
        if pictures:
            yield from _joined("out", "picture.png")
    elif command == "cloud" and settings.local:
        yield from _joined("out", f"rows{PurePath(file).suffix.lower()}")
        if pictures:
            yield from _joined("plot", "picture.png")
    elif command == "matches" and project == "pairs" and settings.pair is None:
        yield from _joined("table", "pairs.csv")
        yield from _joined("out", f"filtered{PurePath(file).suffix.lower()}")


def shown(words: Sequence[str]) -> str:
    """The command as a person would type it."""
    return shlex.join(["piforest", *words])


def with_threshold(words: Sequence[str], threshold: float | None) -> list[str]:
    """The same command with the threshold of a slider in place of its own rule; None: as it is."""
    if threshold is None:
        return list(words)
    rules = ("--contamination=", "--false-alarm-rate=", "--threshold=")
    return [*(each for each in words if not each.startswith(rules)), f"--threshold={threshold!r}"]


def suggests(words: Sequence[str]) -> bool:
    """Whether a command compares families and stops."""
    return words[0] == "suggest" or "--suggest" in words


def to_repeat(words: Sequence[str], threshold: float | None = None) -> str:
    """The command that repeats a job, writes its rows, and has the threshold of the slider."""
    has_rows = any(each.startswith(("--out=", "--scores=")) for each in words)
    more = [] if has_rows or suggests(words) else ["--out=rows.csv"]
    return shown([*with_threshold(words, threshold), *more])


def files_of(words: Sequence[str] | None) -> list[str]:
    """Names of the files of a result; words: of its command, None for a comparison."""
    texts = ["command.sh", "script.py"]
    if words is None:
        return texts[1:]
    written = [each.partition("=")[2] for each in words
               if each.startswith(("--out=", "--table=", "--scores=", "--plot="))]  # fmt: skip
    if written or suggests(words):
        return [*written, *texts]
    if words[0] == "score":
        return ["rows.csv", "rows.parquet", *texts]
    more = ["surfaces.json", "rows.ply"] if words[0] == "cloud" else []
    return ["rows.csv", "rows.parquet", *more, "report.html", "picture.svg", "picture.png", MODEL,
            *texts]  # fmt: skip


def _check_known(command: str, settings: Settings, known: set[str]) -> None:
    defaults = Settings()
    for name in settings.model_fields_set:
        changed = getattr(settings, name) != getattr(defaults, name)
        if changed and name not in known | _ALWAYS:
            raise Refused(422, f"{name}: {_SPOKEN[command]} has no such setting; leave it out.")


def _has_model(command: str, project: str, settings: Settings) -> bool:
    if command == "matches":
        return project == "matches" or settings.pair is not None
    return command in ("detect", "cloud") and not settings.local


def _joined(name: str, value: Any) -> list[str]:
    """An option and its value as one argument, since a value may begin with a dash."""
    return [f"--{name}={value}"]


def _names(columns: Sequence[str]) -> str:
    for name in columns:
        if "," in name or name != name.strip():
            raise Refused(
                422, f"column {name!r}: a name with a comma, or with blanks at its ends, cannot "
                "be chosen; rename it in the file."
            )  # fmt: skip
    return ",".join(columns)


def _columns(command: str, settings: Settings) -> Iterator[str]:
    """The columns by their roles."""
    roles = settings.roles
    having: dict[str, list[str]] = {}
    for name, role in roles.items():
        having.setdefault(role, []).append(name)
    for role in ("target", "group", "quality", "time"):
        if len(having.get(role, [])) > 1:
            raise Refused(422, f"roles: one column is the {role}, got {having[role]}.")
    target, group, quality, time = (
        next(iter(having.get(role, [])), None) for role in ("target", "group", "quality", "time")
    )
    if command == _SERIES and time is None:
        raise Refused(422, "roles: a series needs a column with the role time.")
    if time is not None and command == _SERIES:
        yield from _joined("time", time)
    _refuse_roles(command, target=target, group=group, quality=quality, time=time)
    chosen = [*having.get("coordinate", []), *([target] if target is not None else [])]
    if chosen:
        yield from _joined("columns", _names(chosen))
    if group is not None:
        yield from _joined("groups", group)
    if quality is not None:
        yield from _joined("quality", quality)
    if settings.missing != "error":
        yield from _joined("missing", settings.missing)
    if settings.dates is not None:
        yield from _joined("dates", settings.dates)


def _refuse_roles(command: str, **having: str | None) -> None:
    """Raise an error for roles that a command does not use."""
    used = {"detect": {"target", "group"}, "cloud": {"group"}, "matches": {"quality"},
            "series": {"time"}, "suggest": {"target", "group", "time"}, "score": set()}  # fmt: skip
    for role, name in having.items():
        if name is not None and role not in used.get(command, set()):
            raise Refused(
                422, f"roles: {_SPOKEN[command]} has no use for a column of role {role}, "
                f"{name!r}; choose another role."
            )  # fmt: skip


def _detector(command: str, settings: Settings) -> Iterator[str]:
    if command == "score":
        yield from _threshold(command, settings)
        return
    if settings.code is not None:
        yield from _joined("functions", FAMILY_FILE)
    elif settings.families != "auto":
        yield from _joined("family", _names(settings.families))
    elif "target" in settings.roles.values():
        # The rows are a table whose target follows the other columns.
        yield from _joined("family", "linear_regression")
    for name, value in settings.options.items():
        if not name.isidentifier():
            raise Refused(422, f"options: {name!r} must be a name, such as degree.")
        yield from _joined("option", f"{name}={value}")
    if settings.sigma != "auto":
        yield from _joined("sigma", repr(float(settings.sigma)))
    yield from _threshold(command, settings)


def _threshold(command: str, settings: Settings) -> Iterator[str]:
    for name, value in settings.threshold_rule:
        if value is None:
            continue
        windows = {"contamination", "threshold"}
        known = {"surface": windows, "series": windows, "score": {"threshold"}}.get(command)
        if known is not None and name not in known:
            raise Refused(422, f"threshold_rule: {_SPOKEN[command]} takes no {name}.")
        yield from _joined(name.replace("_", "-"), repr(float(value)))


def _more(command: str, settings: Settings) -> Iterator[str]:
    """The options of single commands, and the seed."""
    if settings.scale_columns != "auto":
        yield "--scale-columns" if settings.scale_columns else "--no-scale-columns"
    for name in ("models", "trees", "voxel", "reference", "features", "ratio"):
        value = getattr(settings, name)
        if value is not None:
            yield from _joined(name, value)
    if settings.window is not None:
        yield from _joined("window", ",".join(map(repr, settings.window)))
    for flag in ("connected", "local"):
        if getattr(settings, flag):
            yield f"--{flag}"
    if command != "score":
        yield from _joined("seed", settings.seed)


def link_names(names: Sequence[str]) -> list[str]:
    """Names for files side by side: the second of two equal ones gets a number."""
    found: list[str] = []
    for name in names:
        path, unused, k = PurePath(name), name, 2
        while unused in found or unused in (MODEL, FAMILY_FILE):
            unused, k = f"{path.stem}-{k}{path.suffix}", k + 1
        found.append(unused)
    return found
