// From the drawn columns to pixels: panned, zoomed and, in 3D, rotated.

const HOME = { zoom: 1, panX: 0, panY: 0, yaw: -0.55, pitch: 0.42 };
const camera = { ...HOME };

// Fits the data into the canvas at zoom 1; set by `reframe`.
const frame = { width: 1, height: 1, left: 0, top: 0, right: 1, bottom: 1, centre: [0, 0, 0], unit: [1, 1, 1], range: [[0, 1], [0, 1], [0, 1]] };

const screenX = new Float32Array(size), screenY = new Float32Array(size);
const depth = new Float32Array(size);
// The second end of a match.
const otherX = new Float32Array(size), otherY = new Float32Array(size);

function rangeOf(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(low <= high)) return [0, 1];
  if (low === high) return [low - 0.5, high + 0.5];
  return [low, high];
}

const axisColumns = () => state.axes.map((at) => drawable[at]);

// Equal axes: only if all of them are columns of the detector.
const canBeEqual = () => axisColumns().every((each) => seen.includes(each));
const isEqual = () => state.equal && canBeEqual();

function reframe(width, height) {
  const flat = state.mode === "2d";
  Object.assign(frame, {
    width, height,
    left: flat ? 52 : 8, right: width - (flat ? 14 : 8),
    top: flat ? 14 : 8, bottom: height - (flat ? 40 : 8),
  });
  if (state.mode === "matches") {
    frame.range = placeImages(width);
  } else {
    frame.range = axisColumns().map((each) => rangeOf(each.numbers));
    if (flat) frame.left = tickLabelWidth(frame.range[1], frame.bottom - frame.top);
  }
  frame.centre = frame.range.map(([low, high]) => (low + high) / 2);
  const lengths = frame.range.map(([low, high]) => high - low);
  const across = frame.right - frame.left, up = frame.bottom - frame.top;
  if (state.mode === "3d") {
    const diagonal = isEqual() ? Math.hypot(...lengths) : Math.sqrt(3);
    const scale = (1.02 * Math.min(across, up)) / diagonal;
    frame.unit = lengths.map((length) => scale / (isEqual() ? 1 : length));
  } else {
    const share = state.mode === "matches" ? 1 : 0.94;
    frame.unit = [(share * across) / lengths[0], (share * up) / lengths[1]];
    if (isEqual() || state.mode === "matches") frame.unit.fill(Math.min(...frame.unit));
  }
  projectAll();
}

const midX = () => (frame.left + frame.right) / 2 + camera.panX;
const midY = () => (frame.top + frame.bottom) / 2 + camera.panY;

// Pixels of a point (x, y) or (x, y, z), and its depth behind the centre.
function project(place) {
  const u = (place[0] - frame.centre[0]) * frame.unit[0] * camera.zoom;
  const v = (place[1] - frame.centre[1]) * frame.unit[1] * camera.zoom;
  if (state.mode === "matches") return [midX() + u, midY() + v, 0];
  if (state.mode === "2d") return [midX() + u, midY() - v, 0];
  const w = (place[2] - frame.centre[2]) * frame.unit[2] * camera.zoom;
  const [sinYaw, cosYaw] = [Math.sin(camera.yaw), Math.cos(camera.yaw)];
  const [sinPitch, cosPitch] = [Math.sin(camera.pitch), Math.cos(camera.pitch)];
  const right = u * cosYaw - v * sinYaw, away = u * sinYaw + v * cosYaw;
  return [midX() + right, midY() - (w * cosPitch + away * sinPitch), away * cosPitch - w * sinPitch];
}

function projectAll() {
  if (state.mode === "matches") {
    const [x1, y1, x2, y2] = seen.map((each) => each.numbers);
    for (let row = 0; row < size; row++) {
      [screenX[row], screenY[row]] = project([x1[row], y1[row]]);
      [otherX[row], otherY[row]] = project([x2[row] + shift[0], y2[row] + shift[1]]);
    }
    return;
  }
  const values = axisColumns().map((each) => each.numbers);
  for (let row = 0; row < size; row++) {
    [screenX[row], screenY[row], depth[row]] = project(values.map((each) => each[row]));
  }
}

function zoomBy(factor, x = frame.width / 2, y = frame.height / 2) {
  const zoom = Math.min(Math.max(camera.zoom * factor, 0.2), 2000);
  const real = zoom / camera.zoom;
  const fromX = x - (frame.left + frame.right) / 2, fromY = y - (frame.top + frame.bottom) / 2;
  camera.panX = fromX - (fromX - camera.panX) * real;
  camera.panY = fromY - (fromY - camera.panY) * real;
  camera.zoom = zoom;
  changed("camera");
}

function panBy(x, y) {
  camera.panX += x;
  camera.panY += y;
  changed("camera");
}

function turnBy(x, y) {
  camera.yaw += x * 0.008;
  camera.pitch = Math.min(Math.max(camera.pitch + y * 0.008, -Math.PI / 2), Math.PI / 2);
  changed("camera");
}

function resetCamera() {
  Object.assign(camera, HOME);
  changed("camera");
}

// The two images, side by side if the canvas is wide enough, else one below the other.
let shift = [0, 0];
let panels = [];

function imageSizes() {
  if (DATA.images.length) return DATA.images.map((each) => [0, 0, each.width, each.height]);
  return [0, 2].map((at) => {
    const [left, right] = rangeOf(seen[at].numbers), [top, bottom] = rangeOf(seen[at + 1].numbers);
    const margin = 0.03 * Math.max(right - left, bottom - top);
    return [left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin];
  });
}

function placeImages(width) {
  const [first, second] = imageSizes();
  const stacked = width < 620;
  const gap = 0.015 * Math.max(first[2], first[3]);
  shift = stacked
    ? [first[0] - second[0], first[1] + first[3] + gap - second[1]]
    : [first[0] + first[2] + gap - second[0], first[1] - second[1]];
  panels = [first, [second[0] + shift[0], second[1] + shift[1], second[2], second[3]]];
  const right = Math.max(...panels.map((each) => each[0] + each[2]));
  const bottom = Math.max(...panels.map((each) => each[1] + each[3]));
  return [[first[0], right], [first[1], bottom]];
}
