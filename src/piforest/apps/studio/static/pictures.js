// Small pictures of examples and families, drawn from points of a fixed sequence.

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// The same numbers from 0 to 1 each time.
function sequence(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

const around = (next, width) => (next() + next() + next() - 1.5) * width;

// Curves in a box of 64 by 40: share from 0 to 1, to a place.
const line = (x1, y1, x2, y2) => (t) => [x1 + t * (x2 - x1), y1 + t * (y2 - y1)];
const ring = (x, y, rx, ry = rx, turn = 0) => (t) => {
  const [a, b] = [rx * Math.cos(6.284 * t), ry * Math.sin(6.284 * t)];
  return [x + a * Math.cos(turn) - b * Math.sin(turn), y + a * Math.sin(turn) + b * Math.cos(turn)];
};
const graph = (height) => (t) => [4 + 56 * t, height(t)];
const quad = (...corners) => corners.map((from, k) => line(...from, ...corners[(k + 1) % corners.length]));
const map = [...quad([4, 8], [24, 8], [24, 32], [4, 32]), ...quad([38, 12], [60, 6], [58, 34], [40, 28])];

const FAMILIES = {
  line: [line(4, 34, 60, 8)], circle: [ring(32, 20, 15)], ellipse: [ring(32, 20, 24, 11, -0.3)],
  sphere: [ring(32, 20, 16), ring(32, 20, 16, 5)], parabola: [graph((t) => 6 + 110 * (t - 0.5) ** 2)],
  polynomial: [graph((t) => 20 + 130 * (t - 0.1) * (t - 0.5) * (t - 0.9))],
  plane: quad([6, 26], [28, 34], [58, 20], [36, 10]), hyperplane: quad([6, 26], [28, 34], [58, 20], [36, 10]),
  subspace: quad([6, 26], [28, 34], [58, 20], [36, 10]), linear_regression: [line(4, 34, 60, 8)],
  polynomial_regression: [graph((t) => 34 - 28 * t ** 2)],
  cylinder: [ring(14, 20, 5, 14), ring(50, 20, 5, 14), line(14, 6, 50, 6), line(14, 34, 50, 34)],
  cone: [ring(50, 20, 5, 14), line(8, 20, 50, 6), line(8, 20, 50, 34)],
  vanishing_point: [line(4, 36, 56, 10), line(4, 22, 56, 10), line(14, 4, 56, 10)],
};

// curves: which marks follow; off: how many marks follow none.
function drawing(curves, off, seed) {
  const next = sequence(seed);
  const made = shape("svg", { viewBox: "0 0 64 40", class: "picture", "aria-hidden": "true" });
  const dot = (x, y, name) => made.append(shape("circle", { class: name, cx: x.toFixed(1), cy: y.toFixed(1), r: 1.3 }));
  const each = Math.ceil(40 / curves.length);
  for (const curve of curves) {
    for (let k = 0; k < each; k++) {
      const [x, y] = curve((k + next() * 0.6) / each);
      dot(x + around(next, 0.9), y + around(next, 0.9), "kept");
    }
  }
  for (let k = 0; k < off; k++) dot(4 + 56 * next(), 4 + 32 * next(), "flagged");
  return made;
}

const EXAMPLES = {
  motors: [[line(4, 36, 60, 4)], 6], circles: [[ring(16, 14, 10), ring(44, 24, 13), ring(22, 30, 7)], 9],
  room: [[...quad([6, 30], [26, 36], [58, 28], [38, 22]), line(38, 22, 38, 4), line(6, 30, 6, 10), line(6, 10, 38, 4)], 6],
  photographs: [map, 5], panel: [quad([8, 8], [56, 8], [56, 34], [8, 34]), 5],
  pump: [[graph((t) => 12 + 4 * Math.sin(14 * t)), graph((t) => 28 + 4 * Math.sin(14 * t))], 5],
};

export const examplePicture = ({ name }) => drawing(...(EXAMPLES[name] ?? [[line(4, 34, 60, 8)], 6]), 71);

// Families of matches are drawn as one image and its map.
export const familyPicture = (name) => drawing(FAMILIES[name] ?? map, 5, 1234);

const TURN = [-0.55, 0.42];

// Rows from 0 to 1 on both sides of a picture: two columns, or three from the side.
function flat(points, mode) {
  const unit = points.map((values) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return (row) => (values[row] - low) / (high - low || 1);
  });
  if (mode !== "3d") return (row) => [unit[0](row), 1 - unit[mode === "2d" ? unit.length - 1 : 1](row)];
  const [sinYaw, cosYaw, sinPitch, cosPitch] = TURN.flatMap((angle) => [Math.sin(angle), Math.cos(angle)]);
  return (row) => {
    const [u, v, w] = unit.slice(0, 3).map((each) => each(row) - 0.5);
    const away = u * sinYaw + v * cosYaw;
    return [0.5 + 0.7 * (u * cosYaw - v * sinYaw), 0.5 - 0.7 * (w * cosPitch + away * sinPitch)];
  };
}

// labels: the structure of each row, -1 for none.
export function rowsPicture(points, labels, mode) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 264, height: 168, className: "picture rows" });
  canvas.setAttribute("aria-hidden", "true");
  const pen = canvas.getContext("2d"), place = flat(points, mode), style = getComputedStyle(document.documentElement);
  for (const [name, follows, r] of [["--flagged", false, 3.4], ["--kept", true, 3.4]]) {
    pen.fillStyle = style.getPropertyValue(name);
    labels.forEach((label, row) => {
      if (label >= 0 !== follows) return;
      const [x, y] = place(row);
      pen.fillRect(12 + 240 * x - r / 2, 12 + 144 * y - r / 2, r, r);
    });
  }
  return canvas;
}
