from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")

import matplotlib.pyplot as plt

from piforest.plots import plot_comparison, plot_scores, plot_truth

X = np.random.default_rng(0).normal(size=(50, 2))
Y = np.arange(50) % 3
SCORES = np.random.default_rng(1).uniform(size=50)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_scores_are_drawn_into_the_given_axes_worst_last():
    figure, ax = plt.subplots()
    assert plot_scores(X, SCORES, ax, title="scores") is ax
    drawn = ax.collections[0]
    assert np.array_equal(np.asarray(drawn.get_array()), np.sort(SCORES))
    assert np.array_equal(np.asarray(drawn.get_offsets())[-1], X[SCORES.argmax()])
    assert ax.get_title() == "scores"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert len(figure.axes) == 2  # the colour bar


def test_a_figure_is_made_where_none_is_given():
    assert plot_scores(X, SCORES).figure is plt.gcf()
    legend = plot_truth(X, Y).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["anomalous", "normal"]


def test_a_comparison_has_a_panel_for_each_method_and_one_for_the_truth():
    figure = plot_comparison(X, Y, {"a": SCORES, "b": -SCORES}, {"a": 0.7, "b": 0.3})
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert titles == ["input", "a\nAUC 0.700", "b\nAUC 0.300"]


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match=r"takes X \(n, 2\) and scores \(n,\), got \(50, 3\)"):
        plot_scores(np.zeros((50, 3)), SCORES)
