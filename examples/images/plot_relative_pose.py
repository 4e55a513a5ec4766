"""
The motion of a camera
======================

With a calibrated camera, matches give the rotation of the camera and the direction in which it
moved. ``filter_matches`` takes pixels and the camera, drops false matches and returns the pose of
each motion.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest.datasets import make_essential_pair
from piforest.plots import plot_matches
from piforest.vision import filter_matches

pair = make_essential_pair(1, sizes=150, anomaly_share=0.4, random_state=3)
pixels = pair.data * 800 + [320, 240, 320, 240]
kept = filter_matches(
    pixels[:, :2], pixels[:, 2:], family="essential", K1=[800, 800, 320, 240], random_state=0
)
motion = kept.motions[0]
angle = np.degrees(np.arccos((np.trace(motion.R) - 1) / 2))
print(f"rotation by {angle:.1f} degrees, direction of the movement {np.round(motion.t, 3)}")
true = pair.target > 0
print(f"kept {kept.mask.sum()}: {kept.mask[true].mean():.0%} of the true and", end=" ")
print(f"{kept.mask[~true].mean():.0%} of the false matches")

# %%
# The length of the movement is not determined by two images, so ``t`` has length 1. The picture
# shows the matches as lines from the first to the second image.

figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
plot_matches(None, pixels, kept.scores, ax, threshold=kept.detector.threshold_)
plt.show()
