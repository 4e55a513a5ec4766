// From the drawn columns to pixels: panned, zoomed and, in 3D, rotated.

import { rangeOfColumn } from "./data.js";
import { isFlat, placeImages } from "./panels.js";

const HOME = { zoom: 1, panX: 0, panY: 0, yaw: -0.55, pitch: 0.42 };

export const initialCamera = () => ({ ...HOME });

// Fits the data into the canvas at zoom 1; set by `reframe`.
export const initialFrame = () => ({
  width: 1, height: 1, left: 0, top: 0, right: 1, bottom: 1,
  centre: [0, 0, 0], unit: [1, 1, 1], range: [[0, 1], [0, 1], [0, 1]],
});

// Pixels of the rows, and of the second ends of matches and segments.
export function initialScreen(size) {
  const array = () => new Float32Array(size);
  return { x: array(), y: array(), depth: array(), otherX: array(), otherY: array(), current: false };
}

export const axisColumns = ({ data, state }) => state.axes.map((at) => data.drawable[at]);

// Equal axes: only if all of them are columns of the detector.
export const canBeEqual = (plot) => axisColumns(plot).every((each) => plot.data.seen.includes(each));
export const isEqual = (plot) => plot.state.equal && canBeEqual(plot);

// `labelWidth`: of the tick labels of the y axis, given its range and height.
export function reframe(plot, width, height, labelWidth) {
  const { frame, state } = plot;
  const flat = state.mode === "2d";
  Object.assign(frame, {
    width, height,
    left: flat ? 52 : 8, right: width - (flat ? 14 : 8),
    top: flat ? 14 : 8, bottom: height - (flat ? 40 : 8),
  });
  if (isFlat(state.mode)) {
    frame.range = placeImages(plot, width);
  } else {
    frame.range = axisColumns(plot).map(rangeOfColumn);
    if (flat) frame.left = labelWidth(plot, frame.range[1], frame.bottom - frame.top);
  }
  frame.centre = frame.range.map(([low, high]) => (low + high) / 2);
  const lengths = frame.range.map(([low, high]) => high - low);
  const across = frame.right - frame.left, up = frame.bottom - frame.top;
  if (state.mode === "3d") {
    const diagonal = isEqual(plot) ? Math.hypot(...lengths) : Math.sqrt(3);
    const scale = (1.02 * Math.min(across, up)) / diagonal;
    frame.unit = lengths.map((length) => scale / (isEqual(plot) ? 1 : length));
  } else {
    const share = isFlat(state.mode) ? 1 : 0.94;
    frame.unit = [(share * across) / lengths[0], (share * up) / lengths[1]];
    if (isFlat(state.mode) || isEqual(plot)) frame.unit.fill(Math.min(...frame.unit));
  }
  plot.screen.current = false;
}

export const midX = ({ frame, camera }) => (frame.left + frame.right) / 2 + camera.panX;
export const midY = ({ frame, camera }) => (frame.top + frame.bottom) / 2 + camera.panY;

// The projection as a function of x, y and z that sets the place [across, down, depth].
export function projection(plot) {
  const { camera, frame, state } = plot;
  const [cx, cy, cz = 0] = frame.centre;
  const [sx, sy, sz = 0] = frame.unit.map((unit) => unit * camera.zoom);
  const mx = midX(plot), my = midY(plot);
  const up = isFlat(state.mode) ? 1 : -1;
  if (state.mode !== "3d") {
    return (x, y, _, place) => {
      place[0] = mx + (x - cx) * sx;
      place[1] = my + up * (y - cy) * sy;
      place[2] = 0;
    };
  }
  const sinYaw = Math.sin(camera.yaw), cosYaw = Math.cos(camera.yaw);
  const sinPitch = Math.sin(camera.pitch), cosPitch = Math.cos(camera.pitch);
  return (x, y, z, place) => {
    const u = (x - cx) * sx, v = (y - cy) * sy, w = (z - cz) * sz;
    const away = u * sinYaw + v * cosYaw;
    place[0] = mx + u * cosYaw - v * sinYaw;
    place[1] = my - (w * cosPitch + away * sinPitch);
    place[2] = away * cosPitch - w * sinPitch;
  };
}

// Pixels of a point (x, y) or (x, y, z), and its depth behind the centre.
export function project(plot, [x, y, z]) {
  const place = [0, 0, 0];
  projection(plot)(x, y, z, place);
  return place;
}

// The pixels of all rows; computed again only if the camera moved.
export function screenOf(plot) {
  const { data, screen, state } = plot;
  if (screen.current) return screen;
  const set = projection(plot), place = [0, 0, 0];
  const drawn = isFlat(state.mode) ? data.seen : axisColumns(plot);
  const [xs, ys, zs] = drawn.map((each) => each.numbers);
  for (let row = 0; row < data.size; row++) {
    set(xs[row], ys[row], state.mode === "3d" ? zs[row] : 0, place);
    [screen.x[row], screen.y[row], screen.depth[row]] = place;
  }
  if (isFlat(state.mode) && data.seen.length > 3) {
    const [x2, y2] = data.seen.slice(2).map((each) => each.numbers);
    for (let row = 0; row < data.size; row++) {
      set(x2[row] + plot.shift[0], y2[row] + plot.shift[1], 0, place);
      [screen.otherX[row], screen.otherY[row]] = place;
    }
  }
  screen.current = true;
  return screen;
}

export function zoomBy(plot, factor, x = plot.frame.width / 2, y = plot.frame.height / 2) {
  const { camera, frame } = plot;
  const zoom = Math.min(Math.max(camera.zoom * factor, 0.2), 2000);
  const real = zoom / camera.zoom;
  const fromX = x - (frame.left + frame.right) / 2, fromY = y - (frame.top + frame.bottom) / 2;
  camera.panX = fromX - (fromX - camera.panX) * real;
  camera.panY = fromY - (fromY - camera.panY) * real;
  camera.zoom = zoom;
  plot.changed("camera");
}

export function panBy(plot, x, y) {
  plot.camera.panX += x;
  plot.camera.panY += y;
  plot.changed("camera");
}

export function turnBy(plot, x, y) {
  const { camera } = plot;
  camera.yaw += x * 0.008;
  camera.pitch = Math.min(Math.max(camera.pitch + y * 0.008, -Math.PI / 2), Math.PI / 2);
  plot.changed("camera");
}

export function resetCamera(plot) {
  Object.assign(plot.camera, HOME);
  plot.changed("camera");
}
