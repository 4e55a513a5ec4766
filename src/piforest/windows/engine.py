"""The engine that scores rows in windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engines.cpu import CpuEngine
from ..protocols import Floats


@dataclass(frozen=True)
class WindowsEngine(CpuEngine):
    """The CPU engine with threads over blocks of rows, and within a block none."""

    def scores(self, fitted: Any, rows: Any) -> Floats:
        """(n,) anomaly scores; fitted: windows."""
        scores: Floats = fitted.judge(rows, self.n_jobs)[0]
        return scores
