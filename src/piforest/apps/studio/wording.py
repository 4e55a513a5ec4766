"""Messages of the command line in the words of the page, for people without a terminal."""

from __future__ import annotations

import re

_SOURCE = re.compile(r"(?:[A-Za-z]:)?[/\\](?:[^\s'\"]*?[/\\])?sources[/\\][0-9a-f]{16}[/\\]")
_MORE = "under More settings"
# What is replaced, in this order: whole phrases first, then single options.
_PHRASES = [
    (r"unrecognized arguments: --([\w-]+)=(\S.*)",
     r"this step has no use for the setting \1 (\2): choose another role for it, or take the "
     "setting back."),
    (r"Give the format of the file \(--delimiter, --decimal\)",
     "Save the file with a comma between columns and a point in numbers"),
    (r",? or select the columns with --columns", ", or give the column the role ignore"),
    (r"Select (?:them|others) with --columns(?:, or use `piforest detect`)?",
     "Choose others by their roles"),
    (r"--missing skip keeps such rows",
     f"“Rows that lack a number: are skipped” {_MORE} keeps such rows"),
    (r"pass scale_columns=True \(--scale-columns on the command line\)", "scale the columns"),
    (r"\b[Pp]ass scale_columns=True", "Scale the columns"),
    (r"assign\(X, return_distance=True\), or the column distance of --out, has it",
     "the column distance of rows.csv has it"),
    (r"compare families \(propose_families, `piforest suggest`\)", "compare families"),
    (r"pass contamination to flag a share",
     f"choose a share of anomalies as the threshold {_MORE}"),
    (r"pass it as sigma", f"give it as noise (sigma) {_MORE}"),
    (r"Pass sigma if you know the noise", f"If you know the noise, give it as sigma {_MORE}"),
    (r"pass one of them as groups", "give one of them the role group"),
    (r"Try family='([^']+)', or see piforest\.propose_families", r"Try \1, or compare families"),
    (r"family='([^']+)'", r"\1"),
    (r"--ratio 0\.9 keeps more", f"A larger ratio to the second match {_MORE} keeps more"),
    (r"; --dates \w+ takes them as numbers", ", used by the role time"),
    (r"--option target=NAME", "the role target"),
]  # fmt: skip
_OPTIONS = {
    "columns": "the roles of the columns", "family": "the family", "groups": "the role group",
    "missing": "rows that lack a number", "sigma": "the noise (sigma)",
    "contamination": "the share of anomalies", "false-alarm-rate": "the rate of false alarms",
    "threshold": "the threshold", "option": "the options of the family", "window": "the windows",
    "voxel": "the side of the cubes", "local": "“Judge in windows”", "pair": "the pair of images",
    "quality": "the role quality", "time": "the role time", "functions": "your functions",
}  # fmt: skip


def plain(text: str) -> str:
    """A message without options of the terminal and without paths of uploads."""
    text = _SOURCE.sub("", text)
    for pattern, words in _PHRASES:
        text = re.sub(pattern, words, text)
    return re.sub(r"--([a-z][a-z-]*)", _named, text)


def _named(found: re.Match[str]) -> str:
    return _OPTIONS.get(found[1], found[0])
