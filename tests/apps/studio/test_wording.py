"""Messages for people without a terminal."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from piforest.apps.studio.diagnosing import with_actions
from piforest.apps.studio.results import headline
from piforest.apps.studio.wording import plain

MESSAGES = [
    ("unrecognized arguments: --groups=district",
     "no use for the setting groups (district): choose another role"),
    ("/tmp/a/home/sources/8f24a8f24a8f24a8/bad.csv has no numeric column; its columns: a, b.",
     "bad.csv has no numeric column"),
    ("a.csv: row 3 of column 'x' is 'n'. Correct it, or select the columns with --columns.",
     "or give the column the role ignore"),
    ("a cloud has three coordinates; got x, y. Select them with --columns, or use "
     "`piforest detect`.", "Choose others by their roles."),
    ("model.pif was fitted to the columns x; its columns: a. Select others with --columns.",
     "Choose others by their roles."),
    ("row 2 has no number; --missing skip keeps such rows in the output, unscored.",
     "“Rows that lack a number: are skipped” under More settings"),
    ("If their units differ, pass scale_columns=True (--scale-columns on the command line).",
     "If their units differ, scale the columns."),
    ("--voxel: a side must be larger", "the side of the cubes: a side must be larger"),
    ("--option needs --family: the options of which family? A table has a target with --family "
     "linear_regression", "the options of the family needs the family"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MESSAGES)
def test_options_of_the_terminal_and_paths_are_replaced(text, expected):
    said = plain(text)
    assert expected in said
    assert not re.search(r"--[a-z]|sources/", said)


def test_other_text_stays_as_it_is():
    for text in ("flats.csv is empty.", "a -- b", "x-y - z", "/data/mine.csv is no table"):
        assert plain(text) == text


def test_the_advice_of_a_finding_is_plain_and_its_button_stays():
    advice = "Try family='polynomial (degree=3)', or see piforest.propose_families."
    found = [{"code": "better_family", "text": "Few follow it.", "advice": advice}]
    [shown] = with_actions(found, {})
    assert shown["way_out"] == "Try polynomial (degree=3), or compare families."
    assert shown["action"]["settings"] == {"families": ["polynomial"], "options": {"degree": 3}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("automatic", "0 of 569 points follow no line (0.0 %); 1 structure found."),
        ("too many beyond",
         "Too many are beyond the structures to flag any: none of 569 points is flagged."),
        ("units differ",
         "The columns seem to have different units: none of 569 points is flagged."),
    ],
)  # fmt: skip
def test_the_headline_says_why_nothing_is_flagged(source, expected):
    summary = {"family": ["line"], "points": 569, "anomalies": 0, "found_structure": True,
               "structures": [{}], "threshold_source": source}  # fmt: skip
    said = headline(SimpleNamespace(summary=summary), SimpleNamespace(noun="points"))
    assert said == expected
