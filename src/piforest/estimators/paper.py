"""The algorithm of the paper, as parameters of the detector."""

from __future__ import annotations

from typing import Any, Literal, Self

from .._validation import check_choice, check_positive
from ..preferences import list_kernels
from ..typing import ContaminationLike, FamilyLike, RandomStateLike


class PaperPreset:
    """Mixin of `PreferenceIsolationForest`: `paper`."""

    @classmethod
    def paper(
        cls,
        family: FamilyLike = "line",
        *,
        sigma: float,
        n_models: int | Literal["auto"] = "auto",
        kernel: Literal["gaussian", "paper", "binary"] = "gaussian",
        n_estimators: int = 100,
        max_samples: int = 256,
        pool_size: int = 4096,
        contamination: ContaminationLike = "auto",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: RandomStateLike = None,
        verbose: int = 0,
    ) -> Self:
        """The algorithm of the paper, PIF, exactly as published.

        Uniform minimal samples, one sigma, integer path lengths, two branches and the Tanimoto
        distance (with binary preferences this is the Jaccard distance). It does not change when
        the defaults of `PreferenceIsolationForest` improve.

        Parameters
        ----------
        family : str, ModelFamily or list, default="line"
            What a structure is.
        sigma : float
            The noise of the structures, in the units of X.
        n_models : int or "auto", default="auto"
            The number of models; the paper uses 10 n for lines and circles, 6 n for matches.
            "auto" is 10 n, at most 10,000.
        kernel : {"gaussian", "paper", "binary"}, default="gaussian"
            exp(-r^2 / (2 sigma^2)); the formula as printed, exp(-r^2 / sigma); or 1.
        n_estimators, max_samples, pool_size, contamination, device, n_jobs, random_state, verbose
            As in `PreferenceIsolationForest`.

        Returns
        -------
        PreferenceIsolationForest
            Not fitted, with the parameters of the paper.

        Examples
        --------
        >>> from piforest import PreferenceIsolationForest
        >>> from piforest.datasets import make_lines
        >>> X, y = make_lines(3, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
        >>> detector = PreferenceIsolationForest.paper("line", sigma=0.01, random_state=0)
        >>> scores = detector.fit(X).scores_
        >>> bool(scores[y == 0].mean() > scores[y > 0].mean())
        True
        """
        hint = "PreferenceIsolationForest() estimates the noise of the structures."
        check_positive("sigma", sigma, hint)
        check_choice("kernel", kernel, list_kernels())
        kind: Any = cls
        detector: Self = kind(
            family,
            sigma=sigma,
            n_models="paper" if n_models == "auto" else n_models,
            kernel=kernel,
            sampler="uniform",
            scale="fixed",
            weighting="none",
            in_sample_preferences=True,
            concentrate=False,
            refit=False,
            select=False,
            bound=False,
            scale_columns=False,
            path="depth",
            metric="tanimoto",
            n_estimators=n_estimators,
            max_samples=max_samples,
            branching=2,
            pool_size=pool_size,
            contamination=contamination,
            device=device,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        return detector
