// The text of a row: in a tip beside the pointer, and in a card if it is pinned.

import { panBy } from "./camera.js";
import { valueText } from "./data.js";
import { button, element } from "./dom.js";
import { endsOf } from "./draw.js";
import { clipped, rounded, sentence } from "./format.js";
import { isFlagged, pin, structureName } from "./state.js";

function labelText(plot, row) {
  return `score ${plot.data.scores[row].toFixed(4)}, ${isFlagged(plot, row) ? "anomaly" : "kept"}`;
}

function nearestText(plot, row) {
  const { nearest, distances, structures, unit } = plot.data;
  if (!nearest) return "";
  const distance = distances[row], { sigma, name } = structures[nearest[row]];
  const away = `${rounded(distance / sigma)} sigmas (${rounded(distance)}${unit && ` ${clipped(unit, 20)}`}) away`;
  const which = name ? structureName(plot, nearest[row]) : nearest[row];
  return `nearest structure: ${which}, ${distance < 1e29 ? away : "on its wrong side"}`;
}

const valuePairs = ({ data }, row, most) =>
  data.columns.slice(0, most).map((each) => [each.name, clipped(valueText(each, row), 60)]);

export function showTip(plot, row, x, y) {
  const tip = plot.$("tip");
  tip.hidden = row < 0;
  if (row < 0) return;
  const values = element("dl");
  for (const [name, value] of valuePairs(plot, row, 8)) {
    values.append(element("dt", {}, clipped(name, 30)), element("dd", {}, value));
  }
  tip.replaceChildren(
    element("b", {}, `Row ${plot.data.rowNumbers[row]}`), ` · ${labelText(plot, row)}`, values, nearestText(plot, row),
  );
  const most = plot.$("stage").clientWidth - tip.offsetWidth - 4;
  const above = y > tip.offsetHeight + 16;
  tip.style.left = `${Math.max(4, Math.min(x + 12, most))}px`;
  tip.style.top = `${above ? y - tip.offsetHeight - 10 : y + 14}px`;
}

export function updatePinned(plot) {
  const { data, state } = plot, panel = plot.$("pinned"), row = state.pinned;
  panel.parentElement.classList.toggle("empty", row < 0);
  if (row < 0) {
    panel.replaceChildren(element("p", { class: "note" }, "Click a point to read its row here, or press N in the view."));
    return;
  }
  const quiet = (text, action) => button(text, action, { class: "quiet" });
  const values = element("dl", { class: "pairs" });
  for (const [name, value] of valuePairs(plot, row, data.columns.length)) {
    values.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  }
  panel.replaceChildren(
    element("p", {}, element("b", { class: "big" }, String(data.rowNumbers[row])), ` ${labelText(plot, row)}`),
    values,
    data.nearest ? element("p", { class: "note" }, sentence(nearestText(plot, row))) : "",
    element("p", { class: "buttons" }, quiet("More anomalous", () => pinNext(plot, 1, 0)),
      quiet("Less anomalous", () => pinNext(plot, -1, 1)), quiet("Unpin", () => unpin(plot))),
  );
}

// Pins the next row by score; the highest if none is pinned. `refocus`: the index of the pressed
// button, which is created again and keeps the focus.
export function pinNext(plot, by, refocus = -1) {
  const { byScore, size } = plot.data;
  const place = byScore.indexOf(plot.state.pinned);
  const next = place < 0 ? size - 1 : Math.min(Math.max(place + by, 0), size - 1);
  pinInSight(plot, byScore[next]);
  if (refocus >= 0) plot.$("pinned").querySelectorAll("button")[refocus].focus();
}

// Pans to the row if it is out of sight.
export function pinInSight(plot, row) {
  pin(plot, row);
  const { frame } = plot, [[x, y]] = endsOf(plot, row);
  const inside = x > frame.left && x < frame.right && y > frame.top && y < frame.bottom;
  if (inside || Number.isNaN(x + y)) return;
  panBy(plot, (frame.left + frame.right) / 2 - x, (frame.top + frame.bottom) / 2 - y);
}

function unpin(plot) {
  pin(plot, -1);
  plot.canvas.focus();
}
