"""
Planes between two photos
=========================

The matches of a plane in two images satisfy one homography. This scene has three planes and false
matches; the detector finds the false ones and the plane of each match.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_plane_pair
from piforest.plots import plot_matches

pair = make_plane_pair(3, anomaly_share=0.3, random_state=0)
X, y = pair.data, pair.target  # rows x1, y1, x2, y2 in pixels
detector = PreferenceIsolationForest("homography", random_state=0).fit(X)
flagged = detector.labels_ == -1
print(f"{flagged.sum()} of {len(X)} matches flagged, {(y[flagged] == 0).mean():.0%} of them false")
print(f"noise: {detector.sigma_:.2f} pixels")

# %%
# Each structure has its matrix, as ``cv2.findHomography`` would give it.

print(np.array2string(detector.structures_[0].matrix, precision=4, suppress_small=True))

# %%
# Crosses are the matches that no plane explains; the colours are the planes.

figure, ax = plt.subplots(figsize=(10, 4.4), layout="constrained")
plot_matches(
    pair.images, X, detector.scores_, ax,
    threshold=detector.threshold_, motions=detector.structure_labels_,
)  # fmt: skip
plt.show()
