"""The gallery: every script has a title and a picture, runs offline, and becomes a notebook."""

from __future__ import annotations

import ast
import json
import re
import runpy
import socket
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = {path.stem: path for path in sorted(FOLDER.rglob("*.py"))}
# What a script warns of on purpose; any other warning is an error.
EXPECTED_WARNINGS = {"plot_nothing_there": "no structure of family 'line' is significant"}
# Data that have to be downloaded, or that the repository does not hold.
NOT_SHIPPED = re.compile(
    r"fetch_|load_adelaidermf|load_synthetic2d|PIFOREST_DATA|https?://|read_csv|np\.load\(|imread"
)

each_script = pytest.mark.parametrize("name", SCRIPTS)


def docstring(name):
    return ast.get_docstring(ast.parse(SCRIPTS[name].read_text(encoding="utf-8")))


def test_there_are_many_examples_and_each_has_a_name_of_its_own():
    paths = list(FOLDER.rglob("*.py"))
    assert len(SCRIPTS) == len(paths) >= 26
    # sphinx-gallery runs and draws files of this name only.
    assert all(name.startswith("plot_") for name in SCRIPTS)


def test_every_folder_has_a_title_and_examples():
    folders = [FOLDER, *sorted(path for path in FOLDER.iterdir() if path.is_dir())]
    for folder in folders:
        title, line, *_ = (folder / "README.txt").read_text(encoding="utf-8").splitlines()
        assert set(line) <= set("=-"), folder
        assert len(line) == len(title), folder
        assert folder is FOLDER or list(folder.glob("plot_*.py")), folder


@each_script
def test_an_example_has_a_title_and_says_in_a_few_sentences_what_it_shows(name):
    title, line, empty, *text = docstring(name).splitlines()
    assert line == "=" * len(title)
    assert empty == ""
    assert 1 <= " ".join(text).count(". ") + 1 <= 5
    assert "# %%" in SCRIPTS[name].read_text(encoding="utf-8")


@each_script
def test_an_example_needs_no_file_that_is_not_shipped(name):
    source = SCRIPTS[name].read_text(encoding="utf-8")
    assert not NOT_SHIPPED.search(source), NOT_SHIPPED.search(source)
    # Markdown would appear as it is: the text is reStructuredText.
    assert not re.search(r"^# .*(?<!`)`(?!`)[^`]+(?<!`)`(?!`)", source, re.MULTILINE)


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """An empty working folder, and no connections."""

    def refuse(*args):
        raise OSError("an example must not use the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@each_script
def test_an_example_runs_offline_without_warnings_and_draws_a_picture(name, offline, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    source = SCRIPTS[name].read_text(encoding="utf-8")
    for package in re.findall(r"^(?:import|from) (cv2|dask|imblearn|pandas)\b", source, re.M):
        pytest.importorskip(package)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # plt.show() has no window to show.
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        if name in EXPECTED_WARNINGS:
            with pytest.warns(UserWarning, match=EXPECTED_WARNINGS[name]):
                runpy.run_path(str(SCRIPTS[name]), run_name="__main__")
        else:
            runpy.run_path(str(SCRIPTS[name]), run_name="__main__")
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    assert all(any(ax.has_data() for ax in figure.axes) for figure in figures)
    assert capsys.readouterr().err == ""
    assert list(offline.iterdir()) == [], "an example leaves files behind"


@each_script
def test_an_example_becomes_a_notebook(name):
    pytest.importorskip("sphinx_gallery")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(SCRIPTS[name]))
    book = json.loads(json.dumps(jupyter_notebook(blocks, DEFAULT_GALLERY_CONF, str(FOLDER))))
    text = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown"]
    code = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    assert docstring(name).splitlines()[0] in text[0]
    assert all(compile(each, name, "exec") for each in code)
    imports = [line for line in SCRIPTS[name].read_text().splitlines() if line.startswith("from ")]
    assert all(any(line in each for each in code) for line in imports)
