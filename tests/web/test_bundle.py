"""The modules that the pages share, and their union in one text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import piforest.apps
import piforest.report
from piforest.web import STATIC, bundled
from piforest.web.bundle import modules

STUDIO = Path(piforest.apps.__file__).parent / "studio" / "static"
REPORT = Path(piforest.report.__file__).parent / "static"
ENTRIES = [REPORT / "report.js", STATIC / "full.js"]
NAMES = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: path.name)
def test_a_bundle_imports_and_exports_nothing(entry):
    text = bundled(entry)
    assert not re.search(r"^\s*(?:import|export)\b", text, re.MULTILINE)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: path.name)
def test_no_two_modules_have_the_same_name_at_their_top(entry):
    counts = Counter(name for path in modules(entry) for name in NAMES.findall(path.read_text()))
    assert len(counts) > 50
    assert [name for name, count in counts.items() if count > 1] == []


IMPORTS = re.compile(r'^import \{([^}]*)\} from "(\.\./web|\.)/(.*)";', re.MULTILINE)


@pytest.mark.parametrize("folder", [STATIC, REPORT, STUDIO], ids=["shared", "report", "studio"])
def test_every_imported_name_is_exported_by_the_module_and_used(folder):
    for path in folder.glob("*.js"):
        text = path.read_text()
        rest = re.sub(r"^import .*\n", "", text, flags=re.MULTILINE)
        assert text.count("\nimport ") + text.startswith("import ") == len(IMPORTS.findall(text))
        for names, where, module in IMPORTS.findall(text):
            # The report's modules are inlined: theirs and the shared ones lie together.
            source = path.with_name(module) if where == "." else STATIC / module
            source = source if source.exists() else STATIC / module
            exported = re.findall(
                r"^export (?:async )?(?:function|const) ([\w$]+)", source.read_text(), re.MULTILINE
            )
            for name in names.replace(",", " ").split():
                assert name in exported, (path.name, name)
                assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", rest), f"{path.name} does not use {name}"


def test_a_module_stands_after_those_that_it_imports(tmp_path):
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b + 1;\n')
    (tmp_path / "b.js").write_text("// A comment.\nexport const b = 1;\n")
    assert bundled(tmp_path / "a.js") == "const b = 1;\nconst a = b + 1;\n"


def test_modules_that_import_each_other_are_named(tmp_path):
    for name, other in ("ab", "ba"):
        (tmp_path / f"{name}.js").write_text(f'import {{ x }} from "./{other}.js";\n')
    with pytest.raises(ValueError, match=r"each other: a\.js -> b\.js -> a\.js"):
        bundled(tmp_path / "a.js")


def test_text_of_data_never_becomes_markup():
    every = [*STATIC.glob("*.js"), *REPORT.glob("*.js"), *STUDIO.glob("*.js")]
    used = {path.name for path in every if "innerHTML" in path.read_text()}
    assert used == {"dom.js"}, "only `fixed` makes elements of text, and only of fixed text"
    for path in every:
        for word in ("outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in path.read_text(), (path.name, word)
