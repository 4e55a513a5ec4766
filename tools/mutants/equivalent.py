"""Mutants that no test can kill, because they change no result."""

from __future__ import annotations

_BLOCKS = "results do not depend on the size of a block"
_HASH = "a 64-bit hash equals the bound with probability 2**-63"
_MEMORY = "more memory than needed"
_TIES = "of equal values either is the smaller one"
_REPLACED = "the value is replaced before it is used"
_MARGIN = "the margin is a million times as wide as rounding"
_BELOW = "any number below all distances"
_REMOVED = "entries that round to 0 are removed later"
_NEGATIVE = "any number below 0 means the same"

# The beginning of a mutant's name, and the reason.
EQUIVALENT = {
    "archive.write_archive: [file.truncate() -> pass]": "what follows is always longer",
    "family_fingerprint.fingerprint: t(solved, axis=2).reshape(len(points), -[1 -> 2]": _NEGATIVE,
    "bands.MAX_WIDTHS: MAX_WIDTHS = [18 -> 19]": _MEMORY,
    "evidence.fits_table: return n * m [<= -> <] _TABLE_BYTES": _BLOCKS,
    "bands.log_ratios: out[w, j] = ratio if k [> -> >=] expected": "the ratio is 0 there",
    "file_checks.check_soft: range([0 -> 1]": "the other rows have the distances to the first",
    "flat._ROWS_TOGETHER:": _BLOCKS,
    "flat.FlatForest.grow: splits = (self.max_samples - 1) [// -> *]": _MEMORY,
    "flat.FlatForest.grow: splits = (self.max_samples [- -> +] 1)": _MEMORY,
    "flat.FlatForest.grow: max_nodes = len(trees) * ([1 -> 2]": _MEMORY,
    "flat.FlatForest.grow: mpty(b, np.int64), np.empty((max_nodes, [3 -> 4])": _MEMORY,
    "flat.FlatForest.children: _child >= 0, roots + self.first_child, -[1 -> 2]": _NEGATIVE,
    "flat.FlatForest.children: return np.where(self.first_child [>= -> >] 0": "no child is a root",
    "flat.FlatForest.children: return np.where(self.first_child >= [0 -> 1]": "no child is a root",
    "pooled._TABLE_BYTES:": _BLOCKS,
    "pooled.PooledForest.block_rows: return max([16 -> 17]": _BLOCKS,
    "pooled.PooledForest.block_rows: eturn max(16, min(256, _TABLE_BYTES // ([8 -> 9]": _BLOCKS,
    "preferences._BATCH_ENTRIES:": _BLOCKS,
    "preferences._INITIAL_SHARE: _INITIAL_SHARE = [1 -> 2] / 8": _MEMORY,
    "preferences.Preferences.rows_of: // 8) * 8, np.uint8), np.empty(m // 8 + [2 -> 3]": _MEMORY,
    "preferences._limits: -09, np.minimum(limit, reach * scale), -[1.0 -> 1.25]": _NEGATIVE,
    "preferences.Preferences.rows_of: block = block_rows(self.models) * m + [8 -> 9]": _MEMORY,
    "preferences.Preferences.rows_of: end + block [> -> >=] len(values)": _MEMORY,
    "preferences._limits: np.sqrt(2 * np.log(np.maximum(2 * unit, [1.0 -> 1.25]))": _REMOVED,
    "preferences._limits: return np.where([2 -> 3] * unit > 1 - 1e-09": _REMOVED,
    "bands.band_bins: padded = np.full(MAX_WIDTHS, -[1.0 -> 1.25])": _NEGATIVE,
    "bands.count_bins: last = first + 255 if first + 255 [< -> <=] rows.shape[0]": _TIES,
    "preferences._limits: return np.where(2 * unit [> -> >=] 1 - 1e-09": _MARGIN,
    "preferences.collect_gaussian: zeros = [0 -> 1]": "removes zeros where there are none",
    "preferences.Preferences._fixed_point: n_left [< -> <=] 0": "checks what is valid once more",
    "preferences.Preferences.rows_of: near, hits = (np.zeros(-(-m [// -> *] 8)": _MEMORY,
    "preferences.Preferences.rows_of: r, sigma = np.empty((2, [0 -> 1] if compiled": _MEMORY,
    "trees._split_in_two: one = -[1.0 -> 1.25]": _BELOW,
    "trees._split_in_two: two = -[1.0 -> 1.25]": _BELOW,
    "trees._split_in_two: lowest = next_lowest = ~np.uint64([0 -> 1])": _HASH,
    "trees._split_in_two: = first if before else row if row_hash [< -> <=]": _HASH,
    "trees.descend: nearest = distance if distance [< -> <=] nearest": _TIES,
    "trees.descend: nearest = two if two [< -> <=] one else one": _TIES,
    "trees._cell_of: nearest = distance if distance [< -> <=] nearest": _TIES,
    "trees._cell_of: nearest, at, tied = (np.inf, [0 -> 1], 0)": _REPLACED,
    "trees._cell_of: nearest, at, tied = (np.inf, 0, [0 -> 1])": _REPLACED,
    "trees._cell_of: distance = -[1.0 -> 1.25]": _BELOW,
}


def reason_to_exclude(name: str) -> str | None:
    """Why a mutant is not tested; None for all others."""
    return next((why for start, why in EQUIVALENT.items() if name.startswith(start)), None)
