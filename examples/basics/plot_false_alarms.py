"""
How many false alarms?
======================

``false_alarm_rate=0.1`` flags rows so that at most 10 % of the flagged ones are expected to be
normal. ``p_values`` and ``anomaly_probability`` say the same of each row. The example compares
what they promise with the ground truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from piforest import PreferenceIsolationForest
from piforest.datasets import make_lines

X, y = make_lines(4, sizes=400, noise=0.01, anomaly_share=0.3, random_state=1, return_X_y=True)
rates = [0.02, 0.05, 0.1, 0.2, 0.3]
happened, found = [], []
for rate in rates:
    detector = PreferenceIsolationForest("line", false_alarm_rate=rate, random_state=0).fit(X)
    flagged = detector.labels_ == -1
    happened.append((y[flagged] > 0).mean() if flagged.any() else 0.0)
    found.append(flagged[y == 0].mean())
    print(f"promised {rate:.2f}, happened {happened[-1]:.3f}, anomalies found {found[-1]:.3f}")

# %%
# At the lowest rate nothing is flagged: a few normal rows score as high as the anomalies, so that
# no threshold can promise so little.
#
# A p-value is the probability that a normal row scores as high: of the normal rows, about 5 % have
# one below 0.05.

p_values = detector.p_values(X)
print(f"normal rows with p <= 0.05: {(p_values[y > 0] <= 0.05).mean():.3f}")

# %%
# The probability of an anomaly is calibrated if, of the rows with a probability of about 0.7, 70 %
# are anomalies.

probability = detector.anomaly_probability(X)
print(f"mean probability {probability.mean():.2f}, anomalies {(y == 0).mean():.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.plot(rates, rates, color="grey", ls="--", label="as many as promised")
left.plot(rates, happened, "o-", color="#0072B2", label="normal among the flagged")
left.set(xlabel="false_alarm_rate", ylabel="share", title="false alarms stay below the promise")
left.legend(frameon=False)
bins = np.linspace(0, 1, 8)
right.hist(probability[y > 0], bins, color="#E69F00", alpha=0.8, label="normal")
right.hist(probability[y == 0], bins, color="#0072B2", alpha=0.8, label="anomalies")
right.set(xlabel="anomaly_probability", ylabel="rows", yscale="log", title="by the ground truth")
right.legend(frameon=False)
plt.show()
