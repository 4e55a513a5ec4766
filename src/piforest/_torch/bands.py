"""Which band a residual lies in, and how many lie in each: `piforest.scales` on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .._kernels.scales import NO_BAND
from ..models import ModelSet, OwnModels, own_models
from ..protocols import Floats
from ..scales import Bands, BandTable, bands_of, fits_table, widths_of
from .preferences import ALIGNED, DeviceOwn
from .residuals import DeviceModels

_BLOCK_ROWS = {"cuda": 8192, "cpu": 256}


class DeviceBands:
    """The bands of one family's models, for one grid of half-widths."""

    def __init__(self, models: ModelSet, own: OwnModels, widths: Floats, device: Any) -> None:
        self.n_models, self.device = len(models), device
        width = -(-len(models) // ALIGNED) * ALIGNED
        self.models = DeviceModels(models, width, device)
        self.own = DeviceOwn(own, np.arange(len(models)), device)
        self.widths = torch.as_tensor(widths, device=device)

    def counts(self, X: Any) -> Any:
        """(15, m) how many of the rows X (r, d) lie in each band; none counts for models of its
        own sample."""
        inside = self.models.then(_inside, X, self.widths)[:, : self.n_models]
        counts = inside.clone()
        counts[:-1] -= inside[1:]
        bands, columns = self._own_bands(X)
        ones = torch.ones_like(bands)
        counts.view(-1).index_add_(0, bands * self.n_models + columns, -ones)
        return counts

    def _own_bands(self, X: Any) -> tuple[Any, Any]:
        """The band of every row in every model of its own, and the model; what has none is left
        out."""
        rows, columns = self.own.of(X)
        bands, held = self._bins(X[torch.unique(rows)]), torch.unique(rows)
        found = bands[torch.searchsorted(held, rows), columns].to(torch.int64)
        kept = found != NO_BAND
        return found[kept], columns[kept]

    def _bins(self, X: Any) -> Any:
        return self.models.then(_bins, X, self.widths)[:, : self.n_models]

    def table(self, X: Any) -> Any:
        """(r, m) of uint8, on the host: the narrowest band, NO_BAND for none and for own models."""
        bins = self._bins(X)
        bins[self.own.of(X)] = NO_BAND
        return bins.cpu().numpy()


def _inside(R: Any, widths: Any) -> Any:
    """(15, m) how many of the rows lie within each width."""
    return torch.stack([(widths[k] >= R).sum(dim=0) for k in range(NO_BAND)])


def _bins(R: Any, widths: Any) -> Any:
    """How many widths r lies within, less one; none less one is 15 in four bits."""
    within = sum((widths[k] >= R).to(torch.uint8) for k in range(NO_BAND))
    return (within - 1) & NO_BAND


def measure_bands(
    X: Floats, models: ModelSet, own: OwnModels, widths: Floats, device: Any, *, keep: bool
) -> tuple[Bands, BandTable | None]:
    """`piforest.scales.measure_bands` on a device."""
    if keep and fits_table(len(X), len(models)):
        table = _table(X, models, own, widths, device)
        return bands_of(table.counts, widths, models, models.family.codimension(X.shape[1])), table
    bands = DeviceBands(models, own, widths, device)
    counts = sum(bands.counts(block) for block in _blocks(X, device))
    found = counts.to(torch.int32).cpu().numpy()
    return bands_of(found, widths, models, models.family.codimension(X.shape[1])), None


def band_table(X: Floats, models: ModelSet, device: Any) -> BandTable:
    """The bands of all points and how many lie in each, on the host."""
    return _table(X, models, own_models([models]), widths_of(models.family, X), device)


def _table(X: Floats, models: ModelSet, own: OwnModels, widths: Floats, device: Any) -> BandTable:
    bands = DeviceBands(models, own, widths, device)
    bins = np.concatenate([bands.table(block) for block in _blocks(X, device)])
    counts = sum(bands.counts(block) for block in _blocks(X, device))
    return BandTable(widths, bins, counts.to(torch.int32).cpu().numpy())


def _blocks(X: Floats, device: Any) -> Iterator[Any]:
    size = _BLOCK_ROWS[device.type]
    for start in range(0, len(X), size):
        yield torch.as_tensor(X[start : start + size], device=device)
