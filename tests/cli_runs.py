"""Commands run in tests, and a file to run them on."""

from __future__ import annotations

import csv

import numpy as np

from piforest.apps import cli
from piforest.datasets import make_lines


def line_scene():
    """Points (n, 2) with four decimals, and the lines that they are on, in no order."""
    X, y = make_lines(3, sizes=60, noise=0.01, anomaly_share=0.3, random_state=0, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].round(4), y[order]


def put_lines(path, X, y):
    """A table with text columns around the numbers."""
    rows = [
        f's{k:03d},{x:.4f},{v:.4f},"on line {t}, or none"'
        for k, ((x, v), t) in enumerate(zip(X, y))
    ]
    path.write_text("\n".join(["id,x,y,note", *rows]) + "\n")
    return path


def run(capsys, *arguments):
    """The exit code, standard output and standard error of a command."""
    code = cli.main([str(each) for each in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows_of(path, **options):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, **options))
