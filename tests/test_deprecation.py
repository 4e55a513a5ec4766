"""Deprecations: a warning with a date and a way out, and an end."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from sklearn.utils.fixes import parse_version

import piforest
from piforest import _deprecation
from piforest._deprecation import DEPRECATIONS, deprecated


def test_a_deprecated_function_warns_and_works(monkeypatch):
    monkeypatch.setattr(_deprecation, "DEPRECATIONS", [])

    @deprecated(removed_in="9.0.0", instead="use two")
    def one(value):
        """The number."""
        return value + 1

    said = r"one will be removed in piforest 9\.0\.0; use two\."
    with pytest.warns(FutureWarning, match=said) as caught:
        assert one(1) == 2
    assert caught[0].filename == __file__
    assert one.__doc__ == "The number."
    assert [each.removed_in for each in _deprecation.DEPRECATIONS] == ["9.0.0"]


@pytest.mark.slow
def test_what_is_deprecated_has_a_version_a_way_out_and_is_gone_in_time():
    for module in pkgutil.walk_packages(piforest.__path__, "piforest."):
        if ".torch" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for each in DEPRECATIONS:
        assert each.instead
        assert parse_version(piforest.__version__) < parse_version(each.removed_in), each.text()
