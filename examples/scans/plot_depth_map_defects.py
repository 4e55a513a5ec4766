"""
Defects of a depth map
======================

A road or a metal sheet is smooth, but no family describes it. ``inspect_surface`` compares each
pixel of a depth or height map with the surface around it, in windows of several sizes, and lists
the connected defects with their depth.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from piforest.surfaces import inspect_surface

rng = np.random.default_rng(0)
v, u = np.mgrid[:48, :72]
height = 0.01 * u + 0.5 * np.sin(u / 40) + 0.0003 * (v - 24) ** 2
height += rng.normal(0, 0.03, u.shape)
height[(u - 20) ** 2 + (v - 17) ** 2 < 25] -= 0.5  # a dent
height[30:35, 48:60] += 0.4  # a bump
height[6:11, 56:61] = np.nan  # missing values

# %%
# Windows of 24 pixels are larger than the defects that we look for, and smaller than the waves of
# the surface. ``contamination`` is the share of pixels to flag. Without it, the automatic
# threshold finds the parts of both defects that are farthest off; on a steeper map it may find
# none.

found = inspect_surface(height, window=24, contamination=0.04, random_state=0)
for defect in found.defects:
    print(f"{defect.area} pixels in the box {defect.box}, depth {defect.depth:+.2f}")
print(f"and {found.n_smaller} parts of fewer than 20 pixels")

# %%
# The surface itself varies more than the defects, so that no threshold on the height finds them.
# White pixels are missing.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
axes[0].set_title("height")
figure.colorbar(axes[0].imshow(found.values, cmap="viridis"), ax=axes[0], shrink=0.8)
axes[1].set_title("anomaly score")
figure.colorbar(axes[1].imshow(found.scores, cmap="coolwarm"), ax=axes[1], shrink=0.8)
for defect in found.defects:
    left, top, right, bottom = defect.box
    corner, size = (left - 0.5, top - 0.5), (right - left, bottom - top)
    axes[1].add_patch(Rectangle(corner, *size, fill=False, lw=1.5))
    axes[1].text(right + 0.5, (top + bottom) / 2, f"{defect.depth:+.2f}", va="center")
plt.show()
