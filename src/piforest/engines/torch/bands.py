"""The bands of residuals and their counts: `piforest.bands` on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ..._kernels.bands import MAX_WIDTHS, NO_BAND
from ...bands.evidence import Bands, BandTable, bands_of, fits_table, within
from ...bands.ladder import Ladder
from ...models.drawing import ModelSet
from ...models.membership import SampleMembership
from ...protocols import Floats
from ._memory import explain_out_of_memory, to_device
from .preferences import ALIGNED, DeviceMembership
from .residuals import DeviceModels

# The memory of the residuals of a block of rows.
_BLOCK_BYTES = {"cuda": 2**30, "cpu": 2**25}


class DeviceBands:
    """The bands of one family's models, for one grid of half-widths."""

    def __init__(
        self, models: ModelSet, membership: SampleMembership, widths: Floats, device: Any
    ) -> None:
        self.n_models, self.device = len(models), device
        width = -(-len(models) // ALIGNED) * ALIGNED
        self.models = DeviceModels(models, width, device, as_bounded=True)
        self.membership = DeviceMembership(membership, np.arange(len(models)), device)
        # A constant number of widths is compiled once; no residual is below 0.
        padded = np.pad(widths, (0, MAX_WIDTHS - len(widths)), constant_values=-1.0)
        self.n_widths, self.widths = len(widths), torch.as_tensor(padded, device=device)

    def bins(self, X: Any) -> Any:
        """(r, m) of uint8: the narrowest band of each row of X (r, d); NO_BAND for none, and for
        the models whose samples contain the row."""
        bins = self.models.apply(_bins, X, self.widths)
        self.membership.fill(bins, X, NO_BAND)
        return bins[:, : self.n_models]

    @explain_out_of_memory
    def counts(self, X: Floats) -> Any:
        """(w, m) the number of rows in each band, on the host."""
        counts: Any = sum(_counts(self.bins(block)) for block in self._blocks(X))
        return counts.cpu().numpy()[: self.n_widths]

    @explain_out_of_memory
    def table(self, X: Floats) -> tuple[Any, Any]:
        """`bins` of all rows, and `counts`, on the host."""
        counts: Any = 0
        # Copies to pinned memory are ten times faster.
        pinned = self.device.type == "cuda"
        bins = torch.empty((len(X), self.n_models), dtype=torch.uint8, pin_memory=pinned)
        start = 0
        for block in self._blocks(X):
            block_bins = self.bins(block)
            counts = counts + _counts(block_bins)
            bins[start : start + len(block)] = block_bins
            start += len(block)
        return bins.numpy(), counts.cpu().numpy()[: self.n_widths]

    def _blocks(self, X: Floats) -> Iterator[Any]:
        size = max(32, min(8192, _BLOCK_BYTES[self.device.type] // (8 * self.n_models)))
        for start in range(0, len(X), size):
            yield to_device(X[start : start + size], self.device)


def _bins(R: Any, widths: Any) -> Any:
    """The number of widths that are at least r, minus one; 0 - 1 is NO_BAND in a byte."""
    within: Any = sum((widths[k] >= R).to(torch.uint8) for k in range(MAX_WIDTHS))
    return within - 1


def _counts(bins: Any) -> Any:
    """(18, m) of int32: the number of rows in each band."""
    # Not compiled: a first call would wait for it.
    return torch.stack([(bins == k).sum(dim=0, dtype=torch.int32) for k in range(MAX_WIDTHS)])


def measure_bands(
    X: Floats,
    models: ModelSet,
    membership: SampleMembership,
    ladder: Ladder,
    device: Any,
    *,
    keep: bool,
) -> tuple[Bands, BandTable | None]:
    """`piforest.bands.evidence.measure_bands` on a device."""
    bands, table = DeviceBands(models, membership, ladder.widths, device), None
    null_inside = _null_inside(bands, ladder)
    if keep and fits_table(len(X), len(models)):
        table = BandTable(ladder, *bands.table(X), null_inside)
    counts = bands.counts(X) if table is None else table.counts
    return bands_of(counts, null_inside, ladder, models, X), table


def band_table(
    X: Floats, models: ModelSet, membership: SampleMembership, ladder: Ladder, device: Any
) -> BandTable:
    """The bands of all points and their counts, on the host."""
    bands = DeviceBands(models, membership, ladder.widths, device)
    return BandTable(ladder, *bands.table(X), _null_inside(bands, ladder))


def _null_inside(bands: DeviceBands, ladder: Ladder) -> Any:
    return None if ladder.null is None else within(bands.counts(ladder.null))
