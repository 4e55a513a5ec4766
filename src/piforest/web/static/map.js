// Maps: each row is a pixel of one image. Values are grey, or shaded by what the reader chose.

import { project } from "./camera.js";
import { rangeOfColumn } from "./data.js";
import { drawPanels } from "./panels.js";
import { isFlagged, isShown } from "./state.js";
import { isDark, channels } from "./theme.js";

// The distance between neighbouring pixels: more than 1 if the map was thinned.
function stepOf(values) {
  let least = Infinity;
  for (let k = 1; k < values.length; k++) {
    const step = Math.abs(values[k] - values[k - 1]);
    if (step > 0 && step < least) least = step;
  }
  return Number.isFinite(least) ? least : 1;
}

const rgb = (colour) => (colour[0] === "#" ? channels(colour) : colour.match(/\d+/g).map(Number));

// The image of the rows, painted again if threshold, colours or filter changed.
function paint(plot) {
  const { colours, data, state, styles } = plot;
  const [xs, ys, values] = data.seen.map((each) => each.numbers);
  const step = (plot.step ??= Math.max(stepOf(xs), 1e-9));
  const [left, right] = rangeOfColumn(data.seen[0]), [top, bottom] = rangeOfColumn(data.seen[1]);
  const width = Math.round((right - left) / step) + 1, height = Math.round((bottom - top) / step) + 1;
  const pixels = new ImageData(width, height);
  const looks = styles.classes.map((each) => rgb(each.colour));
  const [low, high] = values ? rangeOfColumn(data.seen[2]) : [0, 1];
  const flagged = rgb(colours.flagged), dark = isDark(plot.host);
  for (let row = 0; row < data.size; row++) {
    if (!isShown(plot, row)) continue;
    const at = 4 * (Math.round((ys[row] - top) / step) * width + Math.round((xs[row] - left) / step));
    const share = values ? (values[row] - low) / (high - low) : 0.5;
    const grey = dark ? 40 + 150 * share : 110 + 140 * share;
    const colour = state.colour === "label" ? (isFlagged(plot, row) ? flagged : [grey, grey, grey]) : looks[styles.of[row]];
    pixels.data.set([...colour, 255], at);
  }
  const canvas = (plot.painted ??= { canvas: document.createElement("canvas") }).canvas;
  Object.assign(canvas, { width, height });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  Object.assign(plot.painted, { current: true, box: [left - step / 2, top - step / 2, right + step / 2, bottom + step / 2] });
}

function drawMap(plot) {
  drawPanels(plot, project);
  if (!plot.painted?.current) paint(plot);
  const [left, top, right, bottom] = plot.painted.box;
  const [x, y] = project(plot, [left, top]), [farX, farY] = project(plot, [right, bottom]);
  plot.pen.imageSmoothingEnabled = false;
  plot.pen.drawImage(plot.painted.canvas, x, y, farX - x, farY - y);
  plot.pen.imageSmoothingEnabled = true;
}

function forgetMap(plot) {
  if (plot.painted) plot.painted.current = false;
}

export const MAP = { draw: drawMap, forget: forgetMap };
