from __future__ import annotations

import importlib.util
from email.message import Message
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_licences.py"
SPEC = importlib.util.spec_from_file_location("check_licences", TOOL)
licences = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(licences)

PAGE = licences.rewritten({"numpy": ("BSD", "core"), "plyfile": ("GPL", "test")}, "")


def package(**fields):
    metadata = Message()
    for name, value in fields.items():
        metadata[name.replace("_", "-")] = value
    return SimpleNamespace(metadata=metadata)


def test_one_name_for_every_spelling_of_a_licence():
    for text in ("BSD-3-Clause", "BSD", "BSD 2-Clause License"):
        assert licences.licence_of(package(License=text)) == "BSD"
    parts = "BSD-3-Clause AND MIT AND BSD-2-Clause"
    assert licences.licence_of(package(License_Expression=parts)) == "BSD, MIT"
    gpl = "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
    full_text = package(License="GNU GENERAL PUBLIC LICENSE\nVersion 3", Classifier=gpl)
    assert licences.licence_of(full_text) == "GPL"
    assert licences.licence_of(package()) == "unknown"


@pytest.mark.parametrize(
    ("licence", "expected"),
    [("BSD, MIT", True), ("BSD, GPL", False), ("GPL or MIT", True), ("unknown", False)],
)
def test_every_part_of_a_licence_must_be_permissive(licence, expected):
    assert licences.is_permissive(licence) == expected


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"numpy": ("BSD", "core"), "plyfile": ("GPL", "test")}, []),
        ({"plyfile": ("GPL", "core")}, ["plyfile: GPL is not permissive, and core needs it"]),
        ({"plyfile": ("GPL", "cloud, test")}, ["plyfile: GPL is not permissive, and cloud, test"]),
        ({"numpy": ("MIT", "core")}, ["numpy: MIT, but licences.md has BSD"]),
        ({"new": ("MIT", "core")}, ["new: not in licences.md; --write adds it"]),
    ],
)
def test_what_the_page_does_not_allow_is_a_problem(row, problem):
    lines = licences.problems(row, PAGE)
    assert len(lines) == len(problem)
    assert all(line.startswith(start) for line, start in zip(lines, problem))


@pytest.mark.slow
def test_packages_are_found_through_others():
    needed = licences.needed()
    assert needed["llvmlite"] == {"core"}  # through numba
    assert needed["plyfile"] == {"test"}
    assert "piforest" not in needed
