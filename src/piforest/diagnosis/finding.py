"""A finding about the data or the result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One finding about the data or the result.

    Attributes
    ----------
    code : str
        A short name that does not change between versions: "no_structure", "one_structure",
        "too_few_points", "sigma_at_limit", "sigma_disagrees", "rounded_columns", "units_differ",
        "columns_scaled", "many_to_one", "repeated_rows", "scores_overlap", "little_explained",
        "weak_structure", "uneven_noise", "too_many_beyond", "categorical_columns",
        "common_value", "long_tail", "parallax", "narrow_band", "better_family", "class_target" or
        "less_than_proposed".
        Later versions may add others.
    text : str
        What was found, in one sentence.
    advice : str
        What can be done about it, in one sentence.

    Examples
    --------
    >>> from piforest.diagnosis import Finding
    >>> print(Finding("too_few_points", "There are 9 points.", "Collect more."))
    There are 9 points. Collect more.
    """

    code: str
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.text} {self.advice}"
