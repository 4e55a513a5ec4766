"""Settings to commands: every setting reaches its option, and none is ignored."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="piforest[studio] is not installed")
from pydantic import ValidationError

from piforest._random import Stream
from piforest.apps import cli
from piforest.apps.server.guard import Refused
from piforest.apps.studio.commands import arguments, link_names, shown, to_repeat, with_threshold
from piforest.apps.studio.diagnosing import chosen, with_actions
from piforest.apps.studio.examples import EXAMPLES
from piforest.apps.studio.scripts import script_of
from piforest.apps.studio.settings import Settings, check_code
from piforest.families import get_family
from piforest.proposals.better import better_family
from piforest.units import unequal_ranges


def words(kind="detect", project="table", files=("a.csv",), **settings):
    return arguments(kind, project, list(files), Settings.model_validate(settings))


def parsed(argv):
    return cli.make_parser().parse_args(argv)


def test_a_comparison_of_families_gets_the_groups_of_the_run():
    roles = {"x": "coordinate", "y": "coordinate", "site": "group"}
    asked, run = words("suggest", roles=roles), words(roles=roles)
    for word in ("--columns=x,y", "--groups=site"):
        assert word in asked
        assert word in run


def test_settings_become_options_of_the_command():
    args = parsed(words(
        roles={"x": "coordinate", "y": "coordinate", "site": "group", "note": "ignore"},
        families=["line", "circle"], sigma=0.5, scale_columns=True, missing="skip", models=700,
        trees=50, seed=3, connected=True, threshold_rule={"contamination": 0.1},
    ))  # fmt: skip
    assert args.columns == ["x", "y"]
    assert (args.groups, args.family, args.sigma) == ("site", ["line", "circle"], 0.5)
    assert (args.scale_columns, args.missing, args.models, args.trees) == (True, "skip", 700, 50)
    assert (args.seed, args.connected, args.contamination) == (3, True, 0.1)
    assert str(args.model) == "model.pif"


def test_a_target_comes_last_and_asks_for_a_law():
    args = parsed(words(roles={"y": "target", "a": "coordinate", "b": "coordinate"}))
    assert args.columns == ["a", "b", "y"]
    assert args.family == ["linear_regression"]


def test_a_column_of_times_makes_a_series():
    argv = words(roles={"t": "time", "a": "coordinate"})
    assert argv[0] == "series"
    assert parsed(argv).time == "t"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_settings_of_examples_are_valid(name):
    example = EXAMPLES[name]
    files = [file for file, _ in example.files]
    parsed(words(project=example.kind, files=files, **example.settings))


@pytest.mark.parametrize(
    ("project", "settings", "text"),
    [
        ("table", {"voxel": 0.1}, "voxel: a table has no such setting"),
        ("map", {"trees": 9}, "trees: a map has no such setting"),
        ("table", {"roles": {"q": "quality"}}, "no use for a column of role quality"),
        ("table", {"roles": {"a": "target", "b": "target"}}, "one column is the target"),
        ("series", {"roles": {"a": "coordinate"}}, "needs a column with the role time"),
        ("table", {"roles": {"a,b": "coordinate"}}, "a name with a comma"),
        ("table", {"options": {"--x": 1}}, "must be a name"),
        ("map", {"threshold_rule": {"false_alarm_rate": 0.5}}, "takes no false_alarm_rate"),
        ("model", {}, "a model scores files"),
    ],
)
def test_what_a_command_cannot_do_is_refused_in_words(project, settings, text):
    with pytest.raises(Refused, match=text):
        words(project=project, **settings)


def test_two_rules_of_the_threshold_are_refused():
    with pytest.raises(ValidationError, match="both choose the threshold"):
        Settings.model_validate({"threshold_rule": {"contamination": 0.1, "threshold": 0.5}})


def test_values_that_begin_with_a_dash_are_values():
    args = parsed(words(roles={"-x": "coordinate", "--force": "coordinate"}))
    assert args.columns == ["-x", "--force"]
    assert args.force is False


def test_a_slider_takes_the_place_of_the_rule():
    argv = words(threshold_rule={"contamination": 0.1})
    args = parsed(with_threshold(argv, 0.71))
    assert (args.threshold, args.contamination) == (0.71, "auto")
    assert to_repeat(argv).endswith("--out=rows.csv")
    assert shown(["detect", "a b.csv"]) == "piforest detect 'a b.csv'"


def test_equal_names_get_numbers():
    assert link_names(["a.png", "a.png", "model.pif"]) == ["a.png", "a-2.png", "model-2.pif"]


def test_code_is_looked_at_and_not_run():
    check_code("sample_size = 2\ndef fit(points): ...\ndef residuals(X, params): ...")
    for source, text in [
        ("def fit(:", "not valid Python"),
        ("sample_size = 2\ndef fit(points): ...", "must define a function 'residuals'"),
        ("def fit(p): ...\ndef residuals(X, p): ...", "must set sample_size"),
    ]:
        with pytest.raises(ValueError, match=text):
            check_code(source)


@pytest.mark.slow
def test_findings_come_with_settings_that_help():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([np.cos(t), np.sin(t)]) + rng.normal(0, 0.01, (300, 2))
    line = get_family("line")
    [better] = better_family(X, None, line, Stream(0))
    wide = unequal_ranges([line], X * [1, 1000])
    found = with_actions(
        [asdict(better), {"code": "units_differ", "text": wide.text(None), "advice": wide.advice},
         {"code": "no_structure", "text": "", "advice": ""},
         {"code": "one_structure", "text": "", "advice": ""}],
        {"families": ["line"]},
    )  # fmt: skip
    assert [each["action"] for each in found] == [
        {"label": "Try circle", "settings": {"families": ["circle"], "options": {}}},
        {"label": "Scale columns", "settings": {"scale_columns": True}},
        {"label": "Compare families", "settings": {"families": "auto", "options": {}}},
        None,
    ]
    for each in found[:3]:
        Settings.model_validate(each["action"]["settings"])


def test_the_name_of_a_proposal_is_settings():
    assert chosen("polynomial (degree=3, extra=a) + line") == {
        "families": ["polynomial", "line"], "options": {"degree": 3, "extra": "a"}
    }  # fmt: skip


def test_names_cannot_leave_the_text_of_a_script():
    """Of a file and of a column: quotes in them must not end a string or the docstring."""
    evil = '"""\nraise SystemExit(1)\n"""'
    argv = words(files=[f"{evil}.csv"], roles={evil: "coordinate"}, families=["line"])
    args = parsed(argv)
    args.command = "detect"
    told = {"columns": [evil], "families": [{"name": "line", "options": {}}]}
    tree = compile(script_of(args, told, to_repeat(argv)), "script.py", "exec", flags=1024)
    names = {type(each).__name__ for each in tree.body}
    assert names == {"Expr", "ImportFrom", "Assign"}
