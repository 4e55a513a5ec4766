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
        ("forest", "fitted/test_hostile_models.py"),
    ),
    "preferences": Target(
        ("preferences.py", "_kernels/preferences.py"),
        ("test_membership.py", "test_preferences.py"),
    ),
    "bands": Target(("bands.py", "_kernels/bands.py"), ("test_bands.py",)),
    "files": Target(
        (
            "fitted/file.py", "fitted/file_checks.py", "fitted/file_measuring.py",
            "fitted/file_params.py", "fitted/file_versions.py", "fitted/family_fingerprint.py",
            "io/archive.py",
        ),
        ("fitted/test_file_limits.py", "fitted"),
    ),
    "membership": Target(("membership.py",), ("test_membership.py",)),
    "structures": Target(("structures.py",), ("test_structures.py",)),
    "labels": Target(("labels.py", "thresholds.py"), ("test_labels.py", "test_thresholds.py")),
}  # fmt: skip
