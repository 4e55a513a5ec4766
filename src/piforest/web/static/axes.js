// Axes: a grid with numbers in 2D, a box in 3D.

import { axisColumns, midX, midY, project } from "./camera.js";
import { clipped, digitsFor, short } from "./format.js";

function steps(low, high, most) {
  const raw = (high - low) / Math.max(2, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 50; k++) found.push(k * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const wide = Math.max(Math.abs(low), Math.abs(high));
  const text = (value) =>
    wide >= 1e12 || wide < 1e-3 ? short(value, digitsFor(low, high)) : value.toFixed(Math.min(digits, 8)).replace("-", "−");
  return found.map((value) => [value, text(value)]);
}

const GRID_FONT = "11px system-ui, sans-serif";

function widest(pen, ticks) {
  pen.font = GRID_FONT;
  return Math.max(0, ...ticks.map(([, text]) => pen.measureText(text).width));
}

// Width of the tick labels of the y axis; [low, high]: the range at zoom 1.
export function tickLabelWidth({ camera, pen }, [low, high], tall) {
  const middle = (low + high) / 2, half = (high - low) / 2 / camera.zoom;
  return Math.ceil(Math.max(52, 28 + widest(pen, steps(middle - half, middle + half, tall / 60))));
}

export function drawGrid(plot) {
  const { camera, colours, frame, pen } = plot;
  const x = (pixel) => (pixel - midX(plot)) / (frame.unit[0] * camera.zoom) + frame.centre[0];
  const y = (pixel) => (midY(plot) - pixel) / (frame.unit[1] * camera.zoom) + frame.centre[1];
  const ticks = (apart) => steps(x(frame.left), x(frame.right), (frame.right - frame.left) / apart);
  const across = ticks(Math.max(75, widest(pen, ticks(75)) + 14));
  const up = steps(y(frame.bottom), y(frame.top), (frame.bottom - frame.top) / 60);
  pen.font = GRID_FONT;
  pen.fillStyle = colours.dim;
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const [value, text] of across) {
    const at = Math.round(project(plot, [value, 0])[0]) + 0.5;
    pen.moveTo(at, frame.top);
    pen.lineTo(at, frame.bottom);
    pen.fillText(text, at, frame.bottom + 6);
  }
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const [value, text] of up) {
    const at = Math.round(project(plot, [0, value])[1]) + 0.5;
    pen.moveTo(frame.left, at);
    pen.lineTo(frame.right, at);
    pen.fillText(text, frame.left - 6, at);
  }
  pen.stroke();
  const [nameX, nameY] = axisColumns(plot).map((each) => clipped(each.name, 40));
  pen.fillStyle = colours.ink;
  pen.textAlign = "right";
  pen.textBaseline = "bottom";
  pen.fillText(nameX, frame.right, frame.height - 4);
  pen.save();
  pen.translate(4, frame.top);
  pen.rotate(-Math.PI / 2);
  pen.textBaseline = "top";
  pen.fillText(nameY, 0, 0);
  pen.restore();
}

const corner = ({ frame }, bits) => frame.range.map(([low, high], axis) => ((bits >> axis) & 1 ? high : low));

// The edges of the box behind the points, and a name and two numbers for each axis.
export function drawBox(plot) {
  const { colours, pen } = plot;
  const corners = Array.from({ length: 8 }, (_, bits) => project(plot, corner(plot, bits)));
  let nearestCorner = 0;
  corners.forEach((each, bits) => {
    if (each[2] < corners[nearestCorner][2]) nearestCorner = bits;
  });
  pen.lineWidth = 1;
  for (let bits = 0; bits < 8; bits++) {
    for (let axis = 0; axis < 3; axis++) {
      const other = bits | (1 << axis);
      if (other === bits) continue;
      const front = bits === nearestCorner || other === nearestCorner;
      if (front) continue;
      pen.strokeStyle = colours.edge;
      pen.beginPath();
      pen.moveTo(corners[bits][0], corners[bits][1]);
      pen.lineTo(corners[other][0], corners[other][1]);
      pen.stroke();
    }
  }
  [0, 1, 2].forEach((axis) => nameAxis(plot, axis, corners));
}

// On the outermost edge: the lowest for x and y, the leftmost for z.
function nameAxis(plot, axis, corners) {
  const { colours, frame, pen } = plot;
  const edges = [0, 1, 2, 3, 4, 5, 6, 7]
    .filter((bits) => !((bits >> axis) & 1))
    .map((bits) => [corners[bits], corners[bits | (1 << axis)]]);
  const outer = ([a, b]) => (axis === 2 ? -(a[0] + b[0]) : a[1] + b[1]);
  const [from, to] = edges.reduce((best, edge) => (outer(edge) > outer(best) ? edge : best));
  const middle = [(from[0] + to[0]) / 2 - midX(plot), (from[1] + to[1]) / 2 - midY(plot)];
  const length = Math.hypot(...middle) || 1;
  const out = axis === 2 ? [-1, 0] : [middle[0] / length, Math.max(middle[1] / length, 0.4)];
  pen.font = GRID_FONT;
  pen.textAlign = axis === 2 ? "right" : out[0] > 0.25 ? "left" : out[0] < -0.25 ? "right" : "center";
  pen.textBaseline = "middle";
  const put = (share, text, colour, far) => {
    pen.fillStyle = colour;
    pen.fillText(text, from[0] + share * (to[0] - from[0]) + far * out[0],
      from[1] + share * (to[1] - from[1]) + far * out[1]);
  };
  const [low, high] = frame.range[axis];
  if (Math.hypot(from[0] - to[0], from[1] - to[1]) > 60) {
    const digits = digitsFor(low, high, 3);
    put(0.06, short(low, digits), colours.dim, 10);
    put(0.94, short(high, digits), colours.dim, 10);
  }
  pen.font = "600 12px system-ui, sans-serif";
  put(0.5, clipped(axisColumns(plot)[axis].name, 24), colours.ink, 16);
}
