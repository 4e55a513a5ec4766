// The controls of the threshold: slider, number, reset, and the counts of all points.

import { whole } from "./format.js";
import { resetThreshold, setStep, setThreshold, thresholdText } from "./state.js";

export function startThreshold(plot) {
  const { first, last, scale } = plot.data.thresholds;
  const slider = plot.$("slider"), box = plot.$("box");
  // About 250 steps, so that the arrow keys move visibly; the number is finer. A whole number
  // of them ends at the last threshold, above which there is no row.
  const step = Math.max(1, Math.round((last - first) / 250));
  const min = last - Math.ceil((last - first) / step) * step;
  Object.assign(slider, { min, max: last, step });
  Object.assign(box, { min: first / scale, max: last / scale, step: 1 / scale });
  slider.addEventListener("input", () => setStep(plot, Number(slider.value)));
  box.addEventListener("change", () => {
    if (box.value === "") updateThreshold(plot);
    else setThreshold(plot, Number(box.value));
  });
  plot.$("back").addEventListener("click", () => resetThreshold(plot));
}

export function updateThreshold(plot) {
  const { data, state } = plot, { digits, initial, last, scale } = data.thresholds;
  const kept = data.total - state.flagged;
  plot.$("count-flagged").textContent = whole(state.flagged);
  plot.$("count-kept").textContent = whole(kept);
  const slider = plot.$("slider");
  // Its right end is where no row is flagged; a threshold between steps is not rounded to it.
  slider.value = Math.min(state.threshold * scale, state.flagged ? last - Number(slider.step) : last);
  slider.setAttribute("aria-valuetext", `${thresholdText(plot, state.threshold)}, ${whole(state.flagged)} anomalies, ${whole(kept)} kept`);
  plot.$("box").value = state.threshold.toFixed(digits);
  plot.$("back").disabled = state.threshold === initial;
  plot.$("expected").textContent = alarmText(plot);
}

// What is to be expected among the flagged rows; empty where that was not measured.
function alarmText({ data, state }) {
  const alarms = data.falseAlarms;
  if (!alarms) return "";
  const { first, scale } = data.thresholds;
  const at = Math.min(Math.max(Math.round(state.threshold * scale) - first, 0), alarms.length - 1);
  const rate = alarms[at];
  if (!Number.isFinite(rate) || !state.flagged) return "";
  const share = rate < 0.0001 ? "under 0.01" : (100 * rate).toPrecision(2);
  return `Expected false alarms: ${share} % of the flagged are normal.`;
}
