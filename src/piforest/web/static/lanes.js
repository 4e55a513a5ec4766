// Series: a lane for each channel over time, anomalous rows as marks and as bands behind them.

import { midX } from "./camera.js";
import { rangeOfColumn } from "./data.js";
import { clipped, digitsFor, short } from "./format.js";
import { isFlagged, isShown } from "./state.js";

const MOST_LANES = 8;
const NAME = 124;

const channelsOf = ({ data }) => data.seen.slice(0, MOST_LANES);
const timeColumn = ({ data }) => data.time ?? null;

// Where the time of a row lies; the lanes zoom and pan along the time alone.
function timeScale(plot) {
  const { camera, data, frame } = plot, column = timeColumn(plot);
  const times = column ? column.numbers : null;
  const [low, high] = column ? rangeOfColumn(column) : [0, Math.max(1, data.size - 1)];
  const unit = ((frame.right - frame.left - NAME) / (high - low)) * camera.zoom;
  const middle = midX(plot) + NAME / 2;
  return {
    x: (row) => middle + ((times ? times[row] : row) - (low + high) / 2) * unit,
    time: (x) => (x - middle) / unit + (low + high) / 2,
  };
}

function laneOf(plot, k) {
  const { frame } = plot, count = channelsOf(plot).length;
  const height = (frame.bottom - frame.top - 24) / count;
  const [low, high] = rangeOfColumn(channelsOf(plot)[k]);
  const top = frame.top + k * height + 5, bottom = frame.top + (k + 1) * height - 5;
  return { top, bottom, low, high, y: (value) => bottom - ((value - low) / (high - low)) * (bottom - top) };
}

// The pixels of a row in all lanes.
function lanesOf(plot, row) {
  const x = timeScale(plot).x(row);
  return channelsOf(plot).map((each, k) => [x, laneOf(plot, k).y(each.numbers[row])]);
}

// The row whose time is nearest to x: an anomalous one if any is within reach.
function rowAtTime(plot, x, reach) {
  const scale = timeScale(plot);
  let best = -1, closest = reach;
  for (const row of plot.data.byScore) {
    if (!isShown(plot, row)) continue;
    const away = Math.abs(scale.x(row) - x) + (isFlagged(plot, row) ? 0 : 3);
    if (away <= closest) [best, closest] = [row, away];
  }
  return best;
}

function drawLanes(plot) {
  const { frame } = plot, scale = timeScale(plot);
  const xs = Float32Array.from({ length: plot.data.size }, (_, row) => scale.x(row));
  drawBands(plot, xs);
  channelsOf(plot).forEach((each, k) => drawLane(plot, each, laneOf(plot, k), xs));
  nameTimes(plot, scale, frame);
}

function drawBands({ pen, colours, frame, ...plot }, xs) {
  pen.fillStyle = colours.flagged;
  pen.globalAlpha = 0.16;
  for (let row = 0; row < xs.length; row++) {
    if (!isFlagged(plot, row) || !isShown(plot, row)) continue;
    const from = row;
    while (row + 1 < xs.length && isFlagged(plot, row + 1)) row++;
    const wide = Math.max(3, xs[row] - xs[from]);
    const left = Math.max(xs[from] - 1, frame.left + NAME);
    if (left < xs[from] - 1 + wide) pen.fillRect(left, frame.top, xs[from] - 1 + wide - left, frame.bottom - frame.top - 24);
  }
  pen.globalAlpha = 1;
}

function drawLane(plot, each, lane, xs) {
  const { colours, frame, pen, styles } = plot;
  pen.save();
  pen.beginPath();
  pen.rect(frame.left + NAME, lane.top - 4, frame.right - frame.left - NAME, lane.bottom - lane.top + 8);
  pen.clip();
  strokeSeries(pen, each.numbers, xs, lane, colours.dim);
  for (let row = 0; row < xs.length; row++) {
    const look = styles.classes[styles.of[row]];
    const marked = plot.state.colour === "label" ? isFlagged(plot, row) : true;
    if (!marked || !isShown(plot, row)) continue;
    pen.fillStyle = look.colour;
    pen.fillRect(xs[row] - 1.2, lane.y(each.numbers[row]) - 1.2, 2.4, 2.4);
  }
  pen.restore();
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.font = "600 12px system-ui, sans-serif";
  pen.fillStyle = colours.ink;
  pen.fillText(clipped(each.name, 15), frame.left + 4, (lane.top + lane.bottom) / 2 - 7);
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = colours.dim;
  const digits = digitsFor(lane.low, lane.high, 3);
  pen.fillText(`${short(lane.low, digits)} to ${short(lane.high, digits)}`, frame.left + 4, (lane.top + lane.bottom) / 2 + 8);
  pen.strokeStyle = colours.line;
  pen.beginPath();
  pen.moveTo(frame.left, lane.bottom + 5);
  pen.lineTo(frame.right, lane.bottom + 5);
  pen.stroke();
}

// At most the lowest and the highest value of each pixel, however many rows there are.
function strokeSeries(pen, values, xs, lane, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let row = 0; row < values.length; ) {
    const pixel = Math.round(xs[row]);
    let low = values[row], high = values[row];
    pen.lineTo(xs[row], lane.y(values[row]));
    for (row++; row < values.length && Math.round(xs[row]) === pixel; row++) {
      low = Math.min(low, values[row]);
      high = Math.max(high, values[row]);
    }
    if (low !== high) {
      pen.lineTo(pixel, lane.y(low));
      pen.lineTo(pixel, lane.y(high));
    }
  }
  pen.stroke();
}

// The time of the nearest row as the file has it, such as a date. Rows are in order of time.
function textAt({ numbers, texts }, value) {
  let low = 0, high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return clipped(texts[low], 24);
}

function nameTimes(plot, scale, frame) {
  const { colours, pen } = plot, column = timeColumn(plot);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "bottom";
  pen.fillStyle = colours.dim;
  const left = frame.left + NAME;
  const [from, to] = [scale.time(left), scale.time(frame.right)];
  const digits = digitsFor(from, to, 4);
  [["left", left, from], ["center", (left + frame.right) / 2, (from + to) / 2], ["right", frame.right - 4, to]].forEach(
    ([align, x, value]) => {
      pen.textAlign = align;
      // Half of the last digit that is shown is no time.
      const shown = Math.abs(value) < (to - from) / 1e4 ? 0 : value;
      pen.fillText(column?.texts ? textAt(column, value) : short(shown, digits), x, frame.bottom);
    },
  );
  pen.textAlign = "left";
  pen.fillStyle = colours.ink;
  pen.fillText(clipped(timeColumn(plot)?.name ?? "row", 16), frame.left + 4, frame.bottom);
}

export const SERIES = { draw: drawLanes, endsOf: lanesOf, rowAt: rowAtTime };
