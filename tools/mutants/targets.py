"""The parts of the core, and the tests that guard each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Modules under src/piforest, and tests under tests, the fastest first."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "forest": Target(
        ("forest/flat.py", "forest/path_length.py", "forest/pooled.py", "_kernels/trees.py"),
        ("forest/test_tree_laws.py", "forest", "fitted/test_hostile_models.py"),
    ),
    "preferences": Target(
        ("preferences.py", "_kernels/preferences.py"),
        ("models/test_membership.py", "test_preferences.py"),
    ),
    "bands": Target(
        ("bands/evidence.py", "_kernels/bands.py"),
        ("bands/test_band_laws.py", "bands/test_evidence.py"),
    ),
    "files": Target(
        (
            "fitted/file.py", "fitted/file_checks.py", "fitted/file_measuring.py",
            "fitted/file_params.py", "fitted/file_versions.py", "fitted/family_fingerprint.py",
            "io/archive.py",
        ),
        ("fitted/test_file_values.py", "fitted/test_file_limits.py", "fitted"),
    ),
    "membership": Target(("models/membership.py",), ("models/test_membership.py",)),
    "structures": Target(
        ("structures/greedy.py",),
        ("structures/test_greedy_laws.py", "structures/test_greedy.py"),
    ),
    "labels": Target(
        ("labels/votes.py", "labels/thresholds.py"),
        ("labels/test_label_laws.py", "labels/test_thresholds.py", "labels/test_votes.py"),
    ),
}  # fmt: skip
