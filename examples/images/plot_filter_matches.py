"""
In place of cv2.findHomography
==============================

``cv2.findHomography`` finds one motion and needs a threshold in pixels. ``filter_matches`` takes
the same key points and matches, finds every motion and estimates the noise. Here two halves of a
photo move differently.
"""

import cv2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from piforest.plots import plot_matches
from piforest.vision import filter_matches

photo = cv2.resize(load_sample_image("china.jpg"), (480, 320))
width = photo.shape[1] // 2
shift = np.float32([[1, 0.02, 12], [-0.03, 1, 8], [0.0001, 0, 1]])
turn = np.float32([[0.96, -0.06, 25], [0.05, 0.97, -14], [0, -0.0001, 1]])
moved = cv2.warpPerspective(photo, turn, (480, 320))
left = cv2.warpPerspective(photo, shift, (480, 320))
moved[:, :width] = left[:, :width]

# %%

sift = cv2.SIFT_create(600)
grey = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (photo, moved)]
(keypoints1, first), (keypoints2, second) = (sift.detectAndCompute(image, None) for image in grey)
matches = cv2.BFMatcher(crossCheck=True).match(first, second)
kept = filter_matches(keypoints1, keypoints2, matches, family="homography", random_state=0)
print(f"piforest keeps {kept.mask.sum()} of {len(matches)} matches in {len(kept.motions)} motions")

# %%
# OpenCV keeps one motion, with a threshold of 3 pixels:

source, goal = kept.X[:, :2], kept.X[:, 2:]
H, mask = cv2.findHomography(source, goal, cv2.USAC_MAGSAC, 3.0)
print(f"OpenCV keeps {int(mask.sum())}")

# %%
# The two matrices, found again; both are known here.

for motion in kept.motions[:2]:
    errors = [np.abs(motion.H - true / true[2, 2]).max() for true in (shift, turn)]
    print(f"{len(motion.members)} matches, largest error of an entry of H {min(errors):.3f}")
figure, ax = plt.subplots(figsize=(10, 4.2), layout="constrained")
plot_matches(
    (photo, moved), kept.X, kept.scores, ax,
    threshold=kept.detector.threshold_, motions=kept.labels,
)  # fmt: skip
plt.show()
