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
_ORDER = "the order of 16-bit numbers does not depend on the algorithm"
_SAME_TREES = "trees are the same however their distances are computed"
_DIFFERENT = "different rows have different hashes: the hash is a permutation of 64 bits"
_NO_ROOT = "no child is a root"
_NO_ROWS = "no rows, however many columns"
_EXACT = "such values are compared with the widths themselves"
_RATE = "the number of random points is 0 or above 1"
_MORE = "either is more than all points"
_FACTOR = "a factor does not move the maximum"
_SMALL = "any number that is no power of two and far below the square of the narrowest band"
_LARGE = "larger than the square of any width in units of the widest"
_SEARCH = "the search starts elsewhere and ends at the same value"

# The beginning of a mutant's name, and the reason.
EQUIVALENT = {
    "archive.write_archive: [file.truncate() -> pass]": "what follows is always longer",
    "family_fingerprint.fingerprint: t(solved, axis=2).reshape(len(points), -[1 -> 2]": _NEGATIVE,
    "bands.MAX_WIDTHS: MAX_WIDTHS = [18 -> 19]": _MEMORY,
    "evidence._BLOCK_ENTRIES,_BLOCK_ROWS:": _BLOCKS,
    "evidence._count_bands: = max(fewest, min(most, _BLOCK_ENTRIES [// -> *]": _BLOCKS,
    "bands.TOGETHER:": _BLOCKS,
    "bands._TINY,_HUGE: _TINY, _HUGE = ([1.5 -> 1.875] * 2.0 ** (-100)": _SMALL,
    "bands._TINY,_HUGE: _TINY, _HUGE = (1.5 * [2.0 -> 2.5] ** (-100)": _SMALL,
    "bands._TINY,_HUGE: _TINY, _HUGE = (1.5 * 2.0 ** (-[100 -> 101])": _SMALL,
    "bands._TINY,_HUGE: _TINY, _HUGE = (1.5 * 2.0 ** (-100), [1.5 -> 1.875]": _LARGE,
    "bands._TINY,_HUGE: NY, _HUGE = (1.5 * 2.0 ** (-100), 1.5 * [2.0 -> 2.5] ** 100)": _LARGE,
    "bands._TINY,_HUGE: NY, _HUGE = (1.5 * 2.0 ** (-100), 1.5 * [2.0 ** 100) ->": _LARGE,
    "bands._TINY,_HUGE: GE = (1.5 * 2.0 ** (-100), 1.5 * 2.0 ** [100 -> 101])": _LARGE,
    "bands._EXACT:": "rounding moves the squares of widths by less than any of these",
    "bands.band_bins: t = t [* -> /] t + _TINY": _EXACT,
    "bands.band_bins: squares[j] = np.float32(t if t [< -> <=] _HUGE else _HUGE)": _TIES,
    "bands.band_bins: lowest = mantissa if mantissa [< -> <=] lowest else lowest": _TIES,
    "bands.band_bins: out[j] = band if band [< -> <=] narrowest else other": _TIES,
    "bands.log_tables: logs[k] = math.log(k) if k > [0 -> 1]": "the logarithm of 1 is 0",
    "bands._compare: k [> -> >=] expected": "the ratio is 0 there",
    "bands.log_ratios: out[w, j] = ratio if k [> -> >=] expected": "the ratio is 0 there",
    "file_checks.check_soft: range([0 -> 1]": "the other rows have the distances to the first",
    "flat._ROWS_TOGETHER:": _BLOCKS,
    "flat.FlatForest.grow: splits = (self.max_samples - 1) [// -> *]": _MEMORY,
    "flat.FlatForest.grow: splits = (self.max_samples [- -> +] 1)": _MEMORY,
    "flat.FlatForest.grow: max_nodes = len(trees) * ([1 -> 2]": _MEMORY,
    "flat.FlatForest.grow: mpty(b, np.int64), np.empty((max_nodes, [3 -> 4])": _MEMORY,
    "flat.FlatForest.children: _child >= 0, roots + self.first_child, -[1 -> 2]": _NEGATIVE,
    "flat.FlatForest.children: return np.where(self.first_child [>= -> >] 0": _NO_ROOT,
    "flat.FlatForest.children: return np.where(self.first_child >= [0 -> 1]": _NO_ROOT,
    "flat.FlatForest._pairs: inner = np.flatnonzero(first [>= -> >] 0)": _NO_ROOT,
    "flat.FlatForest._pairs: inner = np.flatnonzero(first >= [0 -> 1])": _NO_ROOT,
    "flat.FlatForest._pairs: airs[inner, 3] |= np.where(first[child] [>= -> >] 0": _NO_ROOT,
    "flat.FlatForest._pairs: s[inner, 3] |= np.where(first[child] >= [0 -> 1]": _NO_ROOT,
    "flat.FlatForest._pairs: irs, first = (np.zeros((len(self.seed), [4 -> 5])": _MEMORY,
    "flat.FlatForest.grow: D = np.empty((0, [0 -> 1])) if D is None": _NO_ROWS,
    "flat.FlatForest.path_lengths_of_rows: self), len(pool_sums), rows.n_columns + [3": _MEMORY,
    "membership.sample_membership: few = len(hashes) [<= -> <]": _ORDER,
    "membership.sample_membership: few = len(hashes) <= 2 [** -> *] 16": _ORDER,
    "path_length.expected_depth: j = np.arange(1, size - branching + [2 -> 3])": "its share is 0",
    "pooled._DENSE_COLUMNS:": _SAME_TREES,
    "votes.best_cut: rate * len(p) [< -> <=] 0.5": _RATE,
    "votes.best_cut: rate * len(p) < [0.5 -> 0.625]": _RATE,
    "votes.best_cut: return float(q[np.argmax(2 [* -> /] rate": _FACTOR,
    "votes.best_cut: return float(q[np.argmax([2 -> 3] * rate": _FACTOR,
    "votes._too_many_near: expected = covered / max(1 - covered, [1e -> 1.25e]-09": _MORE,
    "votes._density: t(np.ceil((grid[-1] - first) / step)) + [41 -> 42]": "a bin beyond the kernel",
    "thresholds.otsu: rdered[:-1], below * above * gap ** 2, -[1.0 -> 1.25])": _NEGATIVE,
    "thresholds.share: owed = int(np.floor(contamination * n + [1e -> 1.25e]-09": _MARGIN,
    "thresholds.best_f1_threshold: f1 = [2 -> 3] * hits[ends]": _FACTOR,
    "pooled._ROWS:": _BLOCKS,
    "pooled.PooledForest.grow: ors * k // parts for k in range(parts + [1 -> 2])": "not used",
    "pooled._TABLE_BYTES:": _BLOCKS,
    "pooled.PooledForest.block_rows: return max([16 -> 17]": _BLOCKS,
    "preferences._BATCH_ENTRIES:": _BLOCKS,
    "preferences._INITIAL_SHARE: _INITIAL_SHARE = [1 -> 2] / 8": _MEMORY,
    "preferences.Preferences.rows_of: // 8) * 8, np.uint8), np.empty(m // 8 + [2 -> 3]": _MEMORY,
    "preferences._limits: 2 * np.log(np.maximum(2 * unit, 1.0)) + [1e -> 1.25e]-12": _MARGIN,
    "preferences.Preferences.rows_of: size = block + int(_INITIAL_SHARE": _MEMORY,
    "preferences.Preferences.rows_of: size = [2 -> 3] * len(values)": _MEMORY,
    "preferences.Preferences.rows_of: s(-(-m // 8) * 8, np.uint8), np.empty(m [// -> *]": _MEMORY,
    "preferences._limits: -09, np.minimum(limit, reach * scale), -[1.0 -> 1.25]": _NEGATIVE,
    "preferences.Preferences.rows_of: block = block_rows(self.models) * m + [8 -> 9]": _MEMORY,
    "preferences.Preferences.rows_of: end + block [> -> >=] len(values)": _MEMORY,
    "preferences._limits: np.sqrt(2 * np.log(np.maximum(2 * unit, [1.0 -> 1.25]))": _REMOVED,
    "preferences._limits: return np.where([2 -> 3] * unit > 1 - 1e-09": _REMOVED,
    "bands.count_bins: last = first + 252 if first + 252 [< -> <=] rows.shape[0]": _TIES,
    "preferences._limits: return np.where(2 * unit [> -> >=] 1 - 1e-09": _MARGIN,
    "preferences.collect_gaussian: zeros = [0 -> 1]": "removes zeros where there are none",
    "preferences.Preferences._fixed_point: n_left [< -> <=] 0": "checks what is valid once more",
    "preferences.Preferences.rows_of: near, hits = (np.zeros(-(-m [// -> *] 8)": _MEMORY,
    "preferences.Preferences.rows_of: r, sigma = np.empty((2, [0 -> 1] if compiled": _MEMORY,
    "trees._pool_distance: return distance if distance [> -> >=] 0.0 else 0.0": _TIES,
    "trees.descend_two: distances[j] = distance if distance [> -> >=] 0.0 else 0.0": _TIES,
    "trees.descend_rows: ndices, data, slot, dense, column_max, -[1 -> 2]": _NEGATIVE,
    "trees.descend_rows: products(entries, indices, data, -[1 -> 2]": _NEGATIVE,
    "trees.subsample: tion_bound(hashes, hashes, max_samples, [~ -> ]np.uint64(0)": _SEARCH,
    "trees.subsample: hashes, hashes, max_samples, ~np.uint64([0 -> 1])": _SEARCH,
    "trees._split_in_two: est if before else row_hash if row_hash [< -> <=]": _DIFFERENT,
    "trees._smallest_hashes: count == seeds.shape[0] and member_hash [>= -> >]": _DIFFERENT,
    "trees._smallest_hashes: at > 0 and hashes[at - 1] [> -> >=] member_hash": _DIFFERENT,
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
