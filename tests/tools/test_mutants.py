from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from mutants.mutations import mutants_of
from mutants.targets import TARGETS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "piforest"
CODE = '''
LIMIT = 3

def larger(values, least: int = 2):
    """Docstring 5."""
    if values and values[0] < least:
        raise ValueError(f"{1 + 1}")
    return -values[0] * 0.5
'''


def test_one_change_a_mutant_and_none_in_annotations_and_texts(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(CODE)
    assert [mutant.name for mutant in mutants_of(path)] == [
        "module.LIMIT: LIMIT = [3 -> 4]",
        "module.larger: values [and -> or] values[0] < least",
        "module.larger: values and values[0] [< -> <=] least",
        "module.larger: values and values[[0 -> 1]] < least",
        "module.larger: return -values[0] [* -> /] 0.5",
        "module.larger: return [- -> ]values[0] * 0.5",
        "module.larger: return -values[[0 -> 1]] * 0.5",
        "module.larger: return -values[0] * [0.5 -> 0.625]",
    ]
    trees = [ast.unparse(mutant.tree()) for mutant in mutants_of(path)]
    assert "LIMIT = 4" in trees[0]
    assert trees[-1] == ast.unparse(ast.parse(CODE)).replace("0.5", "0.625")


@pytest.mark.parametrize("name", TARGETS)
def test_modules_and_tests_exist(name):
    assert all((SOURCE / path).is_file() for path in TARGETS[name].modules)
    assert all((ROOT / "tests" / path).exists() for path in TARGETS[name].tests)
