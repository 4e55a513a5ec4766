// Many points without a GPU: each is a small square of pixels, nearer ones in front. A hundred
// times as fast as paths on the canvas, and faster than WebGL in software.

import { axisColumns, projection } from "./camera.js";
import { growth } from "./draw.js";
import { rangeOf } from "./format.js";
import { isShown } from "./state.js";
import { radiusOf } from "./styles.js";
import { channels } from "./theme.js";

// Steps of depth that fade into the background.
const FADES = 8;

const rgbOf = (colour) => (colour[0] === "#" ? channels(colour) : colour.match(/\d+/g).map(Number));

// The colour of each class at each step of depth, as one number of four bytes.
function palette({ colours, styles }) {
  const paper = rgbOf(colours.plot), table = new Uint32Array(styles.classes.length * FADES);
  const bytes = new Uint8ClampedArray(table.buffer);
  styles.classes.forEach((look, k) => {
    for (let fade = 0; fade < FADES; fade++) {
      const share = 0.4 + (0.6 * (fade + 1)) / FADES;
      rgbOf(look.colour).forEach((part, channel) => {
        bytes[4 * (k * FADES + fade) + channel] = paper[channel] + share * (part - paper[channel]);
      });
      bytes[4 * (k * FADES + fade) + 3] = 255;
    }
  });
  return table;
}

// The depth of the corners of the box that the points lie in.
function depths({ frame }, set) {
  const place = [0, 0, 0], found = [];
  for (let bits = 0; bits < 8; bits++) {
    const at = frame.range.map(([low, high], axis) => ((bits >> axis) & 1 ? high : low));
    set(at[0], at[1], at[2], place);
    found.push(place[2]);
  }
  return rangeOf(found);
}

// The drawn columns in the order of the scores: memory is read from its start to its end.
function ordered(plot, layer) {
  const { data, state } = plot;
  if (layer.axes !== state.axes.join()) {
    layer.axes = state.axes.join();
    layer.values = axisColumns(plot).map(({ numbers }) => Float64Array.from(data.byScore, (row) => numbers[row]));
  }
  return layer.values;
}

function splat(plot, layer, ratio) {
  const { data, state, styles } = plot, { width, height } = layer.canvas;
  const solid = state.mode === "3d", set = projection(plot), place = [0, 0, 0];
  const [xs, ys, zs] = ordered(plot, layer);
  const [near, far] = solid ? depths(plot, set) : [0, 1];
  const { pixels, nearest } = layer, colours = palette(plot), all = state.only === "all";
  pixels.fill(0);
  if (solid) nearest.fill(Infinity);
  const side = Math.max(1, Math.round(1.8 * radiusOf(data) * growth(plot) * ratio));
  for (let rank = 0; rank < data.size; rank++) {
    const row = data.byScore[rank];
    if (!all && !isShown(plot, row)) continue;
    set(xs[rank], ys[rank], solid ? zs[rank] : 0, place);
    const left = Math.round(place[0] * ratio - side / 2), top = Math.round(place[1] * ratio - side / 2);
    // Not so if a value is missing.
    if (!(left >= 0 && top >= 0 && left + side <= width && top + side <= height)) continue;
    const depth = place[2], share = solid ? (far - depth) / (far - near) : 1;
    const colour = colours[styles.of[row] * FADES + Math.min(FADES - 1, Math.max(0, Math.floor(share * FADES)))];
    for (let y = top; y < top + side; y++) {
      for (let at = y * width + left; at < y * width + left + side; at++) {
        if (solid) {
          if (depth > nearest[at]) continue;
          nearest[at] = depth;
        }
        pixels[at] = colour;
      }
    }
  }
}

function drawSplats(plot) {
  const { canvas, frame, gpu: layer, pen } = plot;
  if (layer.canvas.width !== canvas.width || layer.canvas.height !== canvas.height || !layer.image) {
    Object.assign(layer.canvas, { width: canvas.width, height: canvas.height });
    layer.image = new ImageData(canvas.width, canvas.height);
    layer.pixels = new Uint32Array(layer.image.data.buffer);
    layer.nearest = new Float32Array(layer.pixels.length);
  }
  splat(plot, layer, canvas.width / frame.width);
  layer.canvas.getContext("2d").putImageData(layer.image, 0, 0);
  pen.drawImage(layer.canvas, 0, 0, frame.width, frame.height);
}

export const splatLayer = () => ({ draw: drawSplats, byClass: true, canvas: document.createElement("canvas"), remove: () => {} });
