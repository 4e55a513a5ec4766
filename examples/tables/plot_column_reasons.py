"""
Which column is wrong?
======================

For a row that is off a law, ``explain`` says what each column alone would have to be for the row
to lie on it. Large changes in units of the range of a column are unlikely causes; the smallest is
the first suspect.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from piforest import PreferenceIsolationForest
from piforest.families import get_family

rng = np.random.default_rng(1)
n = 300
table = pd.DataFrame(
    {
        "width": rng.uniform(1, 2, n),
        "height": rng.uniform(1, 3, n),
        "pieces": rng.integers(1, 20, n).astype(float),
    }
)
table["price"] = 4 * table["width"] + 2 * table["height"] + 1.5 * table["pieces"] + 3
table["price"] += rng.normal(0, 0.3, n)
table.loc[7, "pieces"] += 10  # a typing error

# %%

law = get_family("linear_regression", target="price")
detector = PreferenceIsolationForest(law, random_state=0).fit(table)
print(detector.structures_[0].equation)
why = detector.explain(table.loc[[7]])[0]
print(why)

# %%
# A change of the width or the height would have to be far beyond its range. The price or the
# number of pieces may be wrong; the data cannot tell which of the two.

changes = why.changes[::-1]
figure, ax = plt.subplots(figsize=(6.8, 3), layout="constrained")
bars = ax.barh([each.column for each in changes], [abs(each.relative) for each in changes])
texts = [f"{table.loc[7, each.column]:.3g} to {each.value:.3g}" for each in changes]
ax.bar_label(bars, texts, padding=4)
ax.set(xlabel="change, in units of the range of the column", title="row 7")
ax.set_xlim(0, 1.35 * max(abs(each.relative) for each in changes))
plt.show()
