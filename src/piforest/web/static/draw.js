// Rows on the canvas: points, matches, segments, and rings around single rows.

import { axisColumns, project, screenOf } from "./camera.js";
import { rangeOf } from "./format.js";
import { isFlagged, isShown } from "./state.js";
import { radiusOf } from "./styles.js";

function mark(pen, shape, x, y, r) {
  if (shape === "dot") {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  } else {
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.closePath();
  }
}

// How much larger marks are drawn at a zoom.
export const growth = ({ camera }) => Math.min(1.8, Math.max(1, camera.zoom ** 0.25));

// Rows of one class as one path: filling is the costly part. xs, ys: their pixels.
function drawRows(plot, rows, look, xs, ys, nearness = 1) {
  if (!rows.length) return;
  const { pen } = plot;
  const r = look.radius * (0.75 + 0.25 * nearness) * growth(plot);
  pen.globalAlpha = look.alpha * (0.45 + 0.55 * nearness);
  pen.fillStyle = look.colour;
  pen.beginPath();
  for (const row of rows) mark(pen, look.shape, xs[row], ys[row], r);
  pen.fill();
  pen.globalAlpha = 1;
}

const inView = ({ frame }, x, y) => x > -20 && y > -20 && x < frame.width + 20 && y < frame.height + 20;

// Rows in drawing order: far before near, then class by class, anomalies last.
export function drawPoints(plot) {
  const { data, state, styles } = plot, { x, y, depth } = screenOf(plot);
  const layers = state.mode === "3d" ? 5 : 1;
  const [low, high] = layers > 1 ? rangeOf(depth) : [0, 1];
  const buckets = Array.from({ length: layers }, () => styles.classes.map(() => []));
  for (const row of data.byScore) {
    if (!isShown(plot, row) || !inView(plot, x[row], y[row])) continue;
    const near = (high - depth[row]) / (high - low);
    const layer = layers > 1 ? Math.min(layers - 1, Math.floor(near * layers)) : 0;
    buckets[layer][styles.of[row]].push(row);
  }
  buckets.forEach((classes, layer) => {
    const nearness = layers > 1 ? (layer + 0.5) / layers : 1;
    classes.forEach((rows, k) => drawRows(plot, rows, styles.classes[k], x, y, nearness));
  });
}

function shownByClass(plot) {
  const classes = plot.styles.classes.map(() => []);
  for (const row of plot.data.byScore) if (isShown(plot, row)) classes[plot.styles.of[row]].push(row);
  return classes;
}

// A line from one end of each row to the other.
function strokeRows(plot, classes, width, alpha) {
  const { pen, styles } = plot, { x, y, otherX, otherY } = screenOf(plot);
  classes.forEach((rows, k) => {
    pen.strokeStyle = styles.classes[k].colour;
    pen.globalAlpha = alpha * (styles.classes[k].shape === "dot" ? 0.5 : 1);
    pen.lineWidth = width;
    pen.beginPath();
    for (const row of rows) {
      pen.moveTo(x[row], y[row]);
      pen.lineTo(otherX[row], otherY[row]);
    }
    pen.stroke();
  });
  pen.globalAlpha = 1;
}

export function drawMatches(plot) {
  const { data, state, styles } = plot, { x, y, otherX, otherY } = screenOf(plot);
  const classes = shownByClass(plot);
  const thin = Math.min(1, 14 / Math.sqrt(data.size));
  const lined = (row) => state.lines === "all" || (state.lines === "flagged" && isFlagged(plot, row));
  strokeRows(plot, classes.map((rows) => rows.filter(lined)), 0.6 + 0.5 * thin, 0.25 + 0.5 * thin);
  classes.forEach((rows, k) => {
    drawRows(plot, rows, styles.classes[k], x, y);
    drawRows(plot, rows, styles.classes[k], otherX, otherY);
  });
}

export const drawSegments = (plot) => strokeRows(plot, shownByClass(plot), 1.6 * growth(plot), 1);

// The pixels of the ends of a row, without those of all others.
export function endsOf(plot, row) {
  const { data, shift, state } = plot;
  const own = plot.scenes[state.mode]?.endsOf;
  if (own) return own(plot, row);
  const drawn = axisColumns(plot).length ? axisColumns(plot) : data.seen;
  const values = drawn.map((each) => each.numbers[row]);
  if (state.mode !== "matches" && state.mode !== "segments") return [project(plot, values)];
  return [project(plot, values), project(plot, [values[2] + shift[0], values[3] + shift[1]])];
}

// Marks the hovered or pinned row, and its other end.
export function drawRing(plot, row) {
  const { colours, data, pen, state } = plot, r = radiusOf(data) + 5;
  const ends = endsOf(plot, row);
  const wide = row === state.pinned ? 2.5 : 1.5;
  for (const [colour, extra] of [[colours.plot, 2.5], [colours.ink, 0]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide + extra;
    pen.beginPath();
    ends.forEach(([x, y]) => {
      pen.moveTo(x + r, y);
      pen.arc(x, y, r, 0, 2 * Math.PI);
    });
    pen.stroke();
    if (state.mode === "matches") strokeBetween(pen, ...ends, r);
  }
}

function strokeBetween(pen, from, to, gap) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const [dx, dy] = [((to[0] - from[0]) / length) * gap, ((to[1] - from[1]) / length) * gap];
  pen.lineWidth *= 0.6;
  pen.beginPath();
  pen.moveTo(from[0] + dx, from[1] + dy);
  pen.lineTo(to[0] - dx, to[1] - dy);
  pen.stroke();
}
