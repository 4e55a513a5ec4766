"""Dense fixed-point preferences of a block of rows: `piforest.preferences` on a device."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, cast

import numpy as np
import torch

from ..._rows import UNIT, SparseRows, index_dtype
from ...fitted import FittedEmbedding
from ...models.drawing import ModelSet
from ...models.membership import SampleMembership
from ...protocols import Floats, Kernel
from ._memory import explain_out_of_memory, to_device
from .random import mix, unsigned_order
from .residuals import FEW_MODELS, DeviceModels, compiled

# Matrix products of bytes need a multiple of this many columns.
ALIGNED = 16
# Up to this many columns, sums of squares are not compiled.
_FEW_COLUMNS = 2048
# Entries of a table that are set at once: 8 bytes each for their places.
_FILLED = 2**25


class DevicePreferences:
    """Computes the preferences of rows for the models, on a device."""

    def __init__(
        self,
        embedding: FittedEmbedding,
        binary: bool,
        device: Any,
    ) -> None:
        models, membership = embedding.models, embedding.membership
        self.binary, self.device = binary, device
        self.n_columns = sum(len(part) for part in models)
        widths = [-(-len(part) // ALIGNED) * ALIGNED for part in models]
        starts = np.concatenate([[0], np.cumsum(widths)])
        self.width = int(starts[-1])
        # The models of each family are padded to a multiple of 16; these columns are no padding.
        real = [start + np.arange(len(part)) for start, part in zip(starts, models)]
        self.real = np.concatenate(real)
        heaviest = max(part.weight.max() for part in models)
        self.parts = [
            _Part(part, width, embedding.kernel, heaviest, device)
            for part, width in zip(models, widths)
        ]
        self.membership = None
        if membership is not None:
            self.membership = DeviceMembership(membership, self.real, device)

    def embed(self, X: Any) -> tuple[Any, Any]:
        """(r, d) of float64 to preferences (r, width) of int8 and the sums of their squares."""
        parts = [part.preferences(X) for part in self.parts]
        P = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        if self.membership is not None:
            self.membership.fill(P, X, 0)
        if self.binary:
            P = (P > 0).to(torch.int8)
        return P, square_sums(P)

    @explain_out_of_memory
    def rows_of(self, X: Floats) -> SparseRows:
        """Preferences of rows on the host, as rows on the host."""
        return self.to_rows(self.embed(to_device(X, self.device))[0])

    @property
    def row_bytes(self) -> int:
        """The memory of a row; more if residuals are computed on the host, or step by step."""
        on_host = any(not part.models.has_formula for part in self.parts)
        few = any(part.models.width <= FEW_MODELS for part in self.parts)
        return self.width * (65 if few else 17 if on_host else 1)

    def to_rows(self, P: Any) -> SparseRows:
        """Convert preferences (n, width) to `SparseRows` on the host."""
        rows, columns = P.nonzero(as_tuple=True)
        counts = torch.bincount(rows, minlength=len(P)).cpu().numpy()
        model = torch.full((self.width,), -1, dtype=torch.int64, device=P.device)
        model[torch.as_tensor(self.real, device=P.device)] = torch.arange(
            self.n_columns, device=P.device
        )
        indices = model[columns].to(torch.int32).cpu().numpy()
        return SparseRows(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            indices.astype(index_dtype(self.n_columns)),
            P[rows, columns].cpu().numpy(),
            self.n_columns,
        )

    def from_rows(self, rows: SparseRows) -> Any:
        """Convert `SparseRows` on the host to preferences (n, width)."""
        P = np.zeros((len(rows), self.width), np.int8)
        P[np.repeat(np.arange(len(rows)), rows.counts), self.real[rows.indices]] = rows.data
        return torch.as_tensor(P, device=self.device)


def square_sums(P: Any) -> Any:
    """(r,) exact sums of squares, as float64."""
    # Compiled, it needs no table of squares; for few models a first call would wait for longer than
    # that table takes.
    return _compiled_sums(P) if P.shape[1] > _FEW_COLUMNS else _square_sums(P)


def _square_sums(P: Any) -> Any:
    wide = P.to(torch.int32)
    return (wide * wide).sum(dim=1, dtype=torch.int64).to(torch.float64)


_compiled_sums = compiled(_square_sums)


class _Part:
    """The models of one family."""

    def __init__(
        self, models: ModelSet, width: int, kernel: Kernel, heaviest: float, device: Any
    ) -> None:
        extra = width - len(models)
        # Padding columns are never within their limit.
        scale = np.append(models.scale, np.ones(extra))
        limit = np.append(kernel.cutoff * models.scale, np.full(extra, -1.0))
        unit = np.append(UNIT * models.weight / heaviest, np.zeros(extra))
        self.columns = [torch.as_tensor(each, device=device) for each in (scale, limit, unit)]
        self.models, self.step = (
            DeviceModels(models, width, device),
            fixed_point_step(cast(Hashable, kernel)),
        )

    def preferences(self, X: Any) -> Any:
        return self.models.apply(self.step, X, *self.columns)


@lru_cache(maxsize=32)
def fixed_point_step(kernel: Any) -> Any:
    """Residuals to fixed point: round(unit phi) within the limit, 0 beyond it."""

    def fixed_point(R: Any, scale: Any, limit: Any, unit: Any) -> Any:
        near = limit >= R
        # The kernel must not see infinity.
        phi = kernel(torch.where(near, R, 0.0), scale)
        return torch.where(near, unit * phi + 0.5, 0.0).to(torch.int8)

    return fixed_point


class DeviceMembership:
    """`SampleMembership` on a device."""

    def __init__(self, membership: SampleMembership, real: Any, device: Any) -> None:
        def tensor(array: Any) -> Any:
            return torch.as_tensor(np.ascontiguousarray(array), device=device)

        self.hashes = unsigned_order(tensor(membership.hashes.view(np.int64)))
        self.points = tensor(membership.points)
        counts = np.diff(membership.starts)
        self.has_models = tensor(counts > 0)
        # (contents, most) the models of each, the last one repeated. 0 if there is none.
        most = np.arange(int(counts.max(initial=1)))
        at = membership.starts[:-1, None] + np.minimum(most, np.maximum(counts, 1)[:, None] - 1)
        columns = real[np.append(membership.columns, 0)]
        self.columns = tensor(columns[np.minimum(at, len(columns) - 1)])

    def fill(self, table: Any, X: Any, value: int) -> None:
        """Set the entries of table (r, models) for the models whose samples contain the row of X
        (r, d). The host does not wait for the device."""
        hashes = torch.zeros(len(X), dtype=torch.int64, device=X.device)
        for column in (X + 0.0).T:
            hashes = mix(hashes, column.contiguous().view(torch.int64))
        hashes = unsigned_order(hashes)
        at = torch.searchsorted(self.hashes, hashes).clamp(max=len(self.hashes) - 1)
        known = (self.hashes[at] == hashes) & (self.points[at] == X).all(dim=1)
        known &= self.has_models[at]
        step = max(1, _FILLED // self.columns.shape[1])
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            # A row that is in no sample keeps what it has.
            columns, part = self.columns[at[rows]], table[rows]
            part.scatter_(
                1, columns, part.gather(1, columns).masked_fill_(known[rows, None], value)
            )
