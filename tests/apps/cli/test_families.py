"""`piforest families`, `piforest completion`, and the help."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from piforest.apps import cli
from piforest.families import get_family, list_families


def run(capsys, *arguments):
    code = cli.main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_every_family_has_a_line(capsys):
    code, printed, err = run(capsys, "families")
    assert (code, err) == (0, "")
    lines = printed.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(list_families())]] == list_families()
    assert "(x1, y1, x2, y2)  " in printed
    assert all(len(line) <= 120 for line in lines)


def test_json_describes_the_rows_of_families(capsys):
    listed = json.loads(run(capsys, "families", "--json")[1])["families"]
    by_name = {each["name"]: each for each in listed}
    assert by_name["line"]["least_columns"] == 2
    assert by_name["line"]["sample"] == 2
    assert by_name["hyperplane"]["sample"] == "d"
    assert by_name["sphere"]["sample"] == "d + 1"
    assert by_name["homography"]["columns"] == 4
    assert by_name["fundamental"]["options"] == {"solver": "8-point"}
    assert by_name["polynomial_regression"]["sample"] == "6 (d = 3)"
    for each in listed:
        assert each["about"][0]


@pytest.mark.parametrize("name", list_families())
def test_each_family_is_described_with_its_options(name, capsys):
    code, printed, _ = run(capsys, "families", name)
    assert code == 0
    assert printed.startswith(name)
    for option in json.loads(run(capsys, "families", name, "--json")[1])["options"]:
        assert hasattr(get_family(name), option)
        assert f"{option}=" in printed


def test_an_unknown_family_is_one_line(capsys):
    code, printed, err = run(capsys, "families", "cirle")
    assert (code, printed) == (1, "")
    assert "Did you mean 'circle'?" in err
    assert err.count("\n") == 1


def completed(script, *words):
    """What bash offers for the last word."""
    code = (
        'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _piforest; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    result = subprocess.run(
        ["bash", "-c", code, str(script), "piforest", *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stderr == ""
    return result.stdout.split()


@pytest.fixture
def script(tmp_path, capsys):
    path = tmp_path / "piforest.bash"
    path.write_text(run(capsys, "completion", "bash")[1])
    return path


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_and_values(script):
    assert completed(script, "de") == ["detect", "demo"]
    assert set(cli.COMMANDS) <= set(completed(script, ""))
    assert completed(script, "detect", "points.csv", "--fam") == ["--family"]
    assert completed(script, "detect", "points.csv", "--family", "cy") == ["cylinder"]
    assert completed(script, "detect", "--family", "line,ci") == ["line,circle"]
    assert completed(script, "families", "sub") == ["subspace"]
    assert completed(script, "completion", "") == ["bash", "zsh", "fish"]
    # No reply: bash completes files.
    assert completed(script, "detect", "--out", "a") == []
    assert completed(script, "detect", "points") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_every_option_of_every_command_is_offered(script):
    commands = next(each for each in cli.make_parser()._actions if isinstance(each.choices, dict))
    for name, parser in commands.choices.items():
        known = {flag for action in parser._actions for flag in action.option_strings}
        assert set(completed(script, name, "-")) == known


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_of_other_shells_are_valid(shell, tmp_path, capsys):
    script = run(capsys, "completion", shell)[1]
    for command in cli.COMMANDS:
        assert command in script
    assert "vanishing_point" in script
    assert script.count("'") % 2 == 0
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(script)
        command = [shell, "-n", str(path)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, "")


def test_an_unknown_shell_exits_with_two():
    with pytest.raises(SystemExit) as stopped:
        cli.main(["completion", "csh"])
    assert stopped.value.code == 2


def test_the_help_has_every_command_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0
    printed = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert f"\n    {command}" in printed
    for line in ("0    success", "1    failure", "2    invalid command line", "130  interrupted"):
        assert line in printed


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_a_help(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([command, "--help"])
    assert stopped.value.code == 0
    assert f"usage: piforest {command}" in capsys.readouterr().out
