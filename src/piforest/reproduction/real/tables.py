"""Tables of records with one noisy law, beside a robust regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn import datasets

from ...datasets import data_folder
from ...io.tables import read_table
from ...protocols import Floats
from .cases import Case, Values
from .measures import fit, measure
from .robust import robust_residuals

RUNS = 3
Laws = dict[str, tuple[str, ...]]
_MPG = "Miles_per_Gallon"
# name: the columns, the last of which is the target
CARS: Laws = {
    "cars: horsepower, weight → mpg": ("Horsepower", "Weight_in_lbs", _MPG),
    "cars: horsepower → mpg": ("Horsepower", _MPG),
    "cars: weight → mpg": ("Weight_in_lbs", _MPG),
    "cars: displacement → mpg": ("Displacement", _MPG),
    "cars: displacement → weight": ("Displacement", "Weight_in_lbs"),
    "cars: displacement → horsepower": ("Displacement", "Horsepower"),
}
WEATHER: Laws = {"Seattle: lowest → highest temperature": ("temp_min", "temp_max")}
DIABETES: Laws = {
    "diabetes: bmi, bp, s5 → progression": ("bmi", "bp", "s5", "target"),
    "diabetes: bmi → progression": ("bmi", "target"),
    "diabetes: s5 → progression": ("s5", "target"),
    "diabetes: s1 → s2": ("s1", "s2"),
}
IRIS: Laws = {"iris: petal length → petal width": ("petal length (cm)", "petal width (cm)")}
WINE: Laws = {"wine: total phenols → flavanoids": ("total_phenols", "flavanoids")}
TUMOURS: Laws = {"tumours: radius → perimeter": ("mean radius", "mean perimeter")}
LINNERUD: Laws = {"linnerud: weight → waist": ("Weight", "Waist")}


def cases() -> list[Case]:
    folder = data_folder() / "tables"
    shipped = {"load_diabetes": DIABETES, "load_iris": IRIS, "load_wine": WINE,
               "load_breast_cancer": TUMOURS, "load_linnerud": LINNERUD}  # fmt: skip
    files = {str(folder / "cars.csv"): CARS, str(folder / "seattle_weather.csv"): WEATHER}
    present = {path: laws for path, laws in files.items() if Path(path).is_file()}
    return [
        Case("tables", name, name, run, partial(_measure, source, columns))
        for source, laws in (present | shipped).items()
        for name, columns in laws.items()
        for run in range(RUNS)
    ]


def rows_of(source: str, columns: Sequence[str]) -> Floats:
    """The complete rows of a file, or of a set that scikit-learn has."""
    if source.startswith("load_"):
        options = {"scaled": False} if source == "load_diabetes" else {}
        found = getattr(datasets, source)(**options)
        targets = found.target_names if source == "load_linnerud" else ["target"]
        every = [*found.feature_names, *targets]
        rows = np.column_stack([found.data, found.target])
        X = rows[:, [every.index(name) for name in columns]]
    else:
        X = read_table(source).numbers(columns)
    return np.asarray(X[np.isfinite(X).all(axis=1)])


def _measure(source: str, columns: Sequence[str], seed: int) -> Values:
    X = rows_of(source, columns)
    # The same for all runs: only the detector is random.
    residuals, sigma = robust_residuals(X)
    fitted = fit("linear_regression", X, seed)
    values: dict[str, Any] = measure(fitted, None, sigma)
    correlation = spearmanr(fitted.detector.scores_, residuals).statistic
    return {**values, "rank correlation": float(correlation)}
