// Rows that the reader selects: by a rectangle, or one by one.

import { screenOf } from "./camera.js";
import { endsOf } from "./draw.js";
import { drawSoon } from "./scene.js";
import { isShown } from "./state.js";
import { radiusOf } from "./styles.js";

export const selectedRows = ({ state }) =>
  Array.from(state.selected.keys()).filter((row) => state.selected[row]);

export function toggleSelected(plot, row) {
  if (row < 0) return;
  plot.state.selected[row] ^= 1;
  plot.changed("selection");
}

export function setSelected(plot, rows) {
  plot.state.selected.fill(0);
  for (const row of rows) plot.state.selected[row] = 1;
  plot.changed("selection");
}

function startBand(plot, place) {
  plot.band = [place, place];
}

function moveBand(plot, place) {
  plot.band[1] = place;
  drawSoon(plot);
}

// The rows in the rectangle replace the selection, or with Shift join it.
function finishBand(plot, drawn, joined) {
  const [from, to] = plot.band;
  plot.band = null;
  if (!drawn) return;
  const [left, right] = [from[0], to[0]].sort((a, b) => a - b);
  const [top, bottom] = [from[1], to[1]].sort((a, b) => a - b);
  const inside = (x, y) => x >= left && x <= right && y >= top && y <= bottom;
  const { data, state } = plot, screen = screenOf(plot), own = plot.scenes[state.mode]?.endsOf;
  if (!joined) state.selected.fill(0);
  for (let row = 0; row < data.size; row++) {
    const hit = own
      ? own(plot, row).some(([x, y]) => inside(x, y))
      : inside(screen.x[row], screen.y[row]);
    if (hit && isShown(plot, row)) state.selected[row] = 1;
  }
  plot.changed("selection");
}

// Small rings around the selected rows.
function drawSelected(plot) {
  const { colours, data, pen, state } = plot, r = radiusOf(data) + 2.5;
  if (!state.selected.includes(1)) return;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1.2;
  pen.beginPath();
  state.selected.forEach((on, row) => {
    if (!on) return;
    for (const [x, y] of endsOf(plot, row)) {
      pen.moveTo(x + r, y);
      pen.arc(x, y, r, 0, 2 * Math.PI);
    }
  });
  pen.stroke();
}

// A tick on rows that are surely normal, a cross on rows that are surely anomalous.
function drawMarks(plot) {
  const { colours, pen, state } = plot;
  for (const [row, kind] of state.marks) {
    const [[x, y]] = endsOf(plot, row), normal = kind === "normal";
    pen.beginPath();
    pen.arc(x, y, 7, 0, 2 * Math.PI);
    pen.fillStyle = colours.plot;
    pen.fill();
    pen.strokeStyle = normal ? colours.kept : colours.flagged;
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.beginPath();
    const path = normal ? [[-3, 0], [-1, 2.5], [3.5, -2.5]] : [[-2.5, -2.5], [2.5, 2.5], null, [2.5, -2.5], [-2.5, 2.5]];
    path.forEach((to, k) => to && pen[k === 0 || path[k - 1] === null ? "moveTo" : "lineTo"](x + to[0], y + to[1]));
    pen.stroke();
  }
}

// The rectangle that is being drawn around rows.
function drawBand({ band, colours, pen }) {
  if (!band) return;
  const [[left, top], [right, bottom]] = band;
  pen.strokeStyle = colours.ink;
  pen.lineWidth = 1;
  pen.setLineDash([4, 3]);
  pen.strokeRect(left, top, right - left, bottom - top);
  pen.setLineDash([]);
}

// What a plot needs to let its reader select and mark rows.
export const SELECTION = {
  start: startBand, move: moveBand, finish: finishBand, toggle: toggleSelected,
  draw: (plot) => [drawSelected, drawMarks, drawBand].forEach((draw) => draw(plot)),
};
