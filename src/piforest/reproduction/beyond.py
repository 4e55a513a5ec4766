"""Evaluation of what goes beyond the paper, on its datasets and on held-out scenes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import roc_auc_score

from .. import __version__
from .._random import Stream
from ..datasets import (
    load_adelaidermf,
    load_synthetic2d,
    make_circles,
    make_lines,
    make_motion_pair,
    make_plane_pair,
)
from ..datasets.published import SYNTHETIC2D, data_file
from ..datasets.resample import fit_circle, fit_line
from ..estimators import PreferenceIsolationForest
from ..protocols import Floats
from ..structures.greedy import relative_distances
from .run import Cell, compute
from .settings import SHARE_SAMPLES, digest, family_of, sigma_of, table_of

PLAIN, KNOWN, FREE = "PIF", "sigma known", "sigma free"
ABLATIONS: dict[str, dict[str, Any]] = {
    "without local samples": {"sampler": "uniform"},
    "with one sigma": {"scale": "fixed"},
    "with a sigma per model": {"scale": "per_model"},
    "without weights": {"weighting": "none"},
    "with in-sample preferences": {"in_sample_preferences": True},
    "with depths": {"path": "depth"},
    "without refits": {"refit": False},
    "without selection": {"select": False},
    "without bounds": {"bound": False},
    "without selection and bounds": {"select": False, "bound": False},
    "models as drawn": {"concentrate": False, "refit": False, "select": False, "bound": False},
}
# The steps between drawing and embedding, one after the other: title and variant.
STEPS = {
    "draw": "models as drawn",
    "+ refit": "without selection and bounds",
    "+ select": "without bounds",
    "+ bound": FREE,
}
WRONG = {f"{name}, sigma {sign}": (name, factor)
         for name in (PLAIN, KNOWN)
         for sign, factor in (("/ 4", 0.25), ("/ 2", 0.5), ("x 2", 2.0), ("x 4", 4.0))}  # fmt: skip
VARIANTS = (PLAIN, KNOWN, FREE, *ABLATIONS, *WRONG)

FAMILIES = ("line", "circle", "homography", "fundamental")
SHARES = (0.0, 0.01, 0.05, 0.2, 0.5, 0.8)
# Only in the plane, where scenes are built structure by structure.
STRESSES = ("90 %", "unequal noise", "clustered anomalies", "times 1000")
HALVES = (200, 400, 1600)
SCENES = 20
_FARTHEST = 8.0  # half-widths within which a normal point is assigned to a structure


@dataclass(frozen=True)
class Trial:
    """One detector on one dataset or scene, with everything that the result depends on."""

    kind: str
    """ "set", "share", "scene" or "halves" """
    dataset: str
    """a dataset, or the family of a scene"""
    condition: str
    variant: str
    run: int
    seed: int
    data: str = ""
    version: str = __version__
    part: str = "beyond"

    @property
    def key(self) -> str:
        parts = (self.part, self.kind, self.dataset, self.condition, self.variant, str(self.run))
        return "-".join("".join(c if c.isalnum() or c == "." else "_" for c in p) for p in parts)

    @property
    def random_state(self) -> int:
        """The same for all variants of one run: they use the same points and samples."""
        path = (self.part, self.kind, self.dataset, self.condition, self.run)
        return int(Stream(self.seed).child(*path).key % 2**31)

    def is_complete(self, cell: Cell) -> bool:
        return all(isinstance(value, float) for value in cell["values"].values())

    def settings(self) -> dict[str, Any]:
        return asdict(self)


def set_trials(names: Sequence[str], runs: int, seed: int) -> list[Trial]:
    """All variants on the datasets of the paper; half as many runs on the real ones, whose points
    are fixed."""
    return [
        Trial("set", name, "", variant, run, seed, digest(data_file(name)))
        for name in names
        for variant in VARIANTS
        for run in range(runs if name in SYNTHETIC2D else (runs + 1) // 2)
    ]


def share_trials(
    names: Sequence[str], shares: Sequence[float], runs: int, seed: int
) -> list[Trial]:
    return [
        Trial("share", name, str(share), variant, run, seed, digest(data_file(name)))
        for name in names
        for share in shares
        for variant in (PLAIN, FREE)
        for run in range(runs)
    ]


def scene_trials(scenes: int, seed: int) -> list[Trial]:
    """Our default, and PIF with the true sigma, on synthetic scenes."""
    conditions = {
        family: [*(f"{100 * share:g} %" for share in SHARES), *(STRESSES if at < 2 else ())]
        for at, family in enumerate(FAMILIES)
    }
    trials = [
        Trial("scene", family, condition, variant, run, seed)
        for family in FAMILIES
        for condition in conditions[family]
        for variant in (PLAIN, FREE)
        for run in range(scenes)
        if not (variant == PLAIN and condition == "0 %")
    ]
    return trials + [
        Trial("halves", family, str(n), FREE, run, seed)
        for family in FAMILIES[:2]
        for n in HALVES
        for run in range(2 * scenes if n == 200 else scenes)
    ]


@compute.register
def _(trial: Trial) -> Cell:
    with warnings.catch_warnings():
        # Some trials have a wrong sigma on purpose.
        warnings.simplefilter("ignore", UserWarning)
        return _run_trial(trial)


def _run_trial(trial: Trial) -> Cell:
    X, y, family, sigma = _points(trial)
    start = time.process_time()
    if trial.kind == "halves":
        values = _halves(trial, X, y, family)
    else:
        n_models: Any = "auto"
        if trial.kind == "set":
            n_models = table_of(trial.dataset).models_per_point * len(X)
        detector = _detector(trial, family, sigma, n_models).fit(X)
        values = _evaluate(detector, X, y, trial.variant == FREE and trial.kind != "share")
        values["sigma"] = detector.sigma_ / sigma
        values["models"] = float(detector.n_models_)
        if trial.dataset in SYNTHETIC2D and trial.kind == "set":
            values["oracle"] = float(roc_auc_score(y == 0, _oracle(X, y, family)))
    taken = time.process_time() - start
    return {"settings": trial.settings(), "values": values, "cpu_s": taken}


def _detector(trial: Trial, family: str, sigma: float, n_models: Any) -> Any:
    common = {"n_models": n_models, "random_state": trial.random_state}
    name, factor = WRONG.get(trial.variant, (trial.variant, 1.0))
    if name == PLAIN:
        return PreferenceIsolationForest.paper(family, sigma=sigma * factor, **common)
    if name == KNOWN:
        return PreferenceIsolationForest(family, sigma=sigma * factor, **common)
    return PreferenceIsolationForest(family, **common, **ABLATIONS.get(name, {}))


def _evaluate(detector: Any, X: Floats, y: Any, everything: bool) -> dict[str, float]:
    """The AUC; and F1 of the labels, the best F1 of any threshold, the share of flagged points,
    and the errors of structures."""
    anomalous, flagged = y == 0, detector.labels_ == -1
    values: dict[str, float] = {}
    if anomalous.any():
        values["auc"] = float(roc_auc_score(anomalous, detector.scores_))
    if everything:
        values["flagged"] = float(flagged.mean())
        if anomalous.any():
            values["f1"] = f1(anomalous, flagged)
            values["best_f1"] = best_f1(anomalous, detector.scores_)
        values["error"], values["surplus"] = _misclassified(detector, X, y)
    return values


def f1(truth: Any, flagged: Any) -> float:
    both = truth.sum() + flagged.sum()
    return float(2 * (truth & flagged).sum() / both) if both else 1.0


def best_f1(truth: Any, scores: Floats) -> float:
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits = np.cumsum(truth[order])[ends]
    return float((2 * hits / (ends + 1 + truth.sum())).max())


def _misclassified(detector: Any, X: Floats, y: Any) -> tuple[float, float]:
    """The misclassification error, with anomalies as one class and the best assignment of
    structures, and the number of structures minus the true number."""
    structures = detector.structures_
    found = np.zeros(len(X), np.int64)
    if structures:
        distances = relative_distances(X, structures)
        near = (detector.labels_ == 1) & (distances.min(axis=1) <= _FARTHEST)
        found = np.where(near, distances.argmin(axis=1) + 1, 0)
    pairs = np.zeros((y.max(), max(1, len(structures))))
    np.add.at(pairs, (y[(y > 0) & (found > 0)] - 1, found[(y > 0) & (found > 0)] - 1), 1)
    right = pairs[linear_sum_assignment(-pairs)].sum() + np.sum((y == 0) & (found == 0))
    return float(1 - right / len(X)), float(len(structures) - y.max())


def _oracle(X: Floats, y: Any, family: str) -> Floats:
    """Distance to the nearest true structure, fitted to its points."""
    distances = []
    for label in range(1, y.max() + 1):
        if family == "line":
            centre, _, across = fit_line(X[y == label])
            distances.append(np.abs((X - centre) @ across))
        else:
            middle, radius = fit_circle(X[y == label])
            distances.append(np.abs(np.linalg.norm(X - middle, axis=1) - radius))
    return np.asarray(np.min(distances, axis=0))


def _halves(trial: Trial, X: Floats, y: Any, family: str) -> dict[str, float]:
    """Fit a random half: shares of flagged normal points and anomalies in both halves."""
    rng = np.random.default_rng(trial.random_state)
    fitted = rng.permutation(len(X)) % 2 == 0
    detector = PreferenceIsolationForest(family, random_state=trial.random_state).fit(X[fitted])
    flagged = detector.predict(X) == -1
    return {
        f"{kind} {which}": float(flagged[half & ((y == 0) == (kind == "anomalous"))].mean())
        for kind in ("normal", "anomalous")
        for which, half in (("fitted", fitted), ("new", ~fitted))
    }


def _points(trial: Trial) -> tuple[Floats, Any, str, float]:
    """(X, y, family, sigma)"""
    seed = trial.random_state
    if trial.kind in ("scene", "halves"):
        return scene(trial.dataset, trial.condition, seed, trial.kind == "halves")
    family, sigma = family_of(trial.dataset), sigma_of(trial.dataset)
    if trial.kind == "share":
        X, y = load_synthetic2d(
            trial.dataset, anomaly_share=float(trial.condition), n_samples=SHARE_SAMPLES,
            random_state=seed, return_X_y=True,
        )  # fmt: skip
    elif trial.dataset in SYNTHETIC2D:
        X, y = load_synthetic2d(trial.dataset, random_state=seed, return_X_y=True)
    else:
        X, y = load_adelaidermf(trial.dataset, return_X_y=True)
    return X, y, family, sigma


def scene(
    family: str, condition: str, seed: int, halves: bool = False
) -> tuple[Floats, Any, str, float]:
    """A synthetic scene: 2 to 6 structures (at most 4 for matches) of 40 to 200 points with
    log-uniform noise; for halves, 4 of equal size."""
    rng = np.random.default_rng(seed)
    if halves:
        sizes, noise, share = [round(0.7 * int(condition) / 4)] * 4, 0.01, 0.3
    else:
        sizes = rng.integers(40, 200, rng.integers(2, 7)).tolist()
        noise = float(np.exp(rng.uniform(np.log(0.003), np.log(0.015))))
        share = float(condition[:-2]) / 100 if condition.endswith("%") else 0.4
    if family in ("homography", "fundamental"):
        make = make_plane_pair if family == "homography" else make_motion_pair
        sizes, noise = sizes[:4], 100 * noise
        pair = make(len(sizes), sizes=sizes, noise=noise, anomaly_share=share, random_state=seed)
        return pair.data, pair.target, family, noise
    X, y, noise = _in_the_plane(family, condition, sizes, noise, share, seed, rng)
    return X, y, family, noise


def _in_the_plane(
    family: str, condition: str, sizes: list[int], noise: float, share: float, seed: int, rng: Any
) -> tuple[Floats, Any, float]:
    make = make_lines if family == "line" else make_circles
    common: dict[str, Any] = {"anomaly_share": share, "random_state": seed}
    if condition == "unequal noise":
        # The noise of each structure differs by a factor of up to e.
        noises = noise * np.exp(rng.uniform(-1, 1, len(sizes)))
        every = make(len(sizes), sizes=sizes, noise=0.0, **common)
        X, y = every.data, every.target
        X = X + np.append(0.0, noises)[y][:, None] * rng.normal(size=X.shape)
        return X, y, noise
    generated = make(len(sizes), sizes=sizes, noise=noise, **common)
    X, y = generated.data, generated.target
    if condition == "clustered anomalies":
        # Half of the anomalies are in three clusters.
        at = np.flatnonzero(y == 0)[::2]
        centres = rng.uniform(X.min(axis=0), X.max(axis=0), (3, 2))
        X[at] = centres[rng.integers(3, size=len(at))] + rng.normal(0, 0.05, (len(at), 2))
    if condition == "times 1000":
        return 1000 * X, y, 1000 * noise
    return X, y, noise
