// The histogram of all scores, those above the threshold in the colour of anomalies. A click or
// a drag moves the threshold; the slider below does so from the keyboard.

import { setStep } from "./state.js";

const SVG = "http://www.w3.org/2000/svg";
const BARS = 60;
const HIGH = 120;
const BASE = HIGH - 16;

// The edges of the bars, in steps of the threshold, and the number of scores in each.
function barsOf({ above, first, last }) {
  const edges = Array.from({ length: BARS + 1 }, (_, k) => Math.round(first + (k / BARS) * (last - first)));
  return { edges, heights: edges.slice(1).map((edge, k) => above[edges[k] - first] - above[edge - first]) };
}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// Where the colour of bar k changes: at the threshold, but a side with points stays visible and
// a side without points is not drawn.
function splitAt({ bars: { edges, heights }, data, state }, k, left, right, at) {
  const { above, first } = data.thresholds;
  const flagged = Math.min(Math.max(state.flagged - above[edges[k + 1] - first], 0), heights[k]);
  if (flagged === 0) return right;
  if (flagged === heights[k]) return left;
  const least = Math.min(3, (right - left) / 2);
  return Math.min(Math.max(at, left + least), right - least);
}

export function drawHistogram(plot) {
  const { first, last, scale, digits } = plot.data.thresholds;
  const { edges, heights } = (plot.bars ??= barsOf(plot.data.thresholds));
  const histogram = plot.$("histogram");
  const wide = histogram.clientWidth || 300;
  histogram.setAttribute("viewBox", `0 0 ${wide} ${HIGH}`);
  const x = (step) => ((step - first) / (last - first || 1)) * wide;
  const at = Math.min(Math.max(x(plot.state.threshold * scale), 0), wide);
  // Square roots, so that a few anomalies beside many kept points can be seen.
  const most = Math.sqrt(Math.max(...heights, 1));
  const made = [];
  heights.forEach((count, k) => {
    const [left, right] = [x(edges[k]), x(edges[k + 1])];
    const edge = splitAt(plot, k, left, right, at);
    const height = count ? Math.max((Math.sqrt(count) / most) * (BASE - 16), 1.5) : 0;
    for (const [name, from, to] of [["kept", left, edge], ["flagged", edge, right]]) {
      if (to > from && height) {
        made.push(shape("rect", { class: name, x: from, y: BASE - height, width: Math.max(to - from - 0.8, 0.4), height }));
      }
    }
  });
  made.push(shape("line", { class: "base", x1: 0, x2: wide, y1: BASE, y2: BASE }));
  for (const share of [0, 0.5, 1]) {
    const value = (first + share * (last - first)) / scale;
    const label = shape("text", { x: share * wide, y: HIGH - 3, "text-anchor": ["start", "middle", "end"][share * 2] });
    label.textContent = value.toFixed(Math.max(2, digits - 2));
    made.push(label);
  }
  const unit = shape("text", { x: 0, y: 9 });
  unit.textContent = "√ count";
  made.push(unit);
  made.push(shape("line", { class: "threshold", x1: at, x2: at, y1: 0, y2: BASE }));
  made.push(shape("circle", { class: "grip", cx: Math.min(Math.max(at, 5), wide - 5), cy: 5, r: 5 }));
  histogram.replaceChildren(...made);
}

export function startHistogram(plot) {
  const { first, last } = plot.data.thresholds, histogram = plot.$("histogram");
  const move = (event) => {
    const box = histogram.getBoundingClientRect();
    setStep(plot, first + ((event.clientX - box.left) / box.width) * (last - first));
  };
  histogram.addEventListener("pointerdown", (event) => {
    histogram.setPointerCapture(event.pointerId);
    move(event);
  });
  histogram.addEventListener("pointermove", (event) => {
    if (histogram.hasPointerCapture(event.pointerId)) move(event);
  });
  return new ResizeObserver(() => drawHistogram(plot));
}
