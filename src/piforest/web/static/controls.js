// The controls above and below the view.

import { canBeEqual, isEqual, resetCamera } from "./camera.js";
import { element } from "./dom.js";
import { clipped, whole } from "./format.js";
import { isFlat, placeImages } from "./panels.js";
import { structureName } from "./state.js";

const MODES = {
  matches: "matches", segments: "segments", map: "map", series: "channels over time",
  "2d": "two columns", "3d": "three columns",
};
const AXES = { "2d": 2, "3d": 3 };

export function startControls(plot) {
  const { data, state } = plot, mode = plot.$("mode");
  for (const [name, text] of Object.entries(MODES)) {
    if (AXES[name] || name === data.view.mode) mode.append(element("option", { value: name }, text));
  }
  mode.value = state.mode;
  mode.addEventListener("change", () => setMode(plot, mode.value));
  [0, 1, 2].forEach((axis) => {
    const select = plot.$(`axis-${axis}`);
    data.drawable.forEach((each, at) => select.append(element("option", { value: at }, clipped(each.name, 30))));
    select.addEventListener("change", () => {
      state.axes[axis] = Number(select.value);
      resetCamera(plot);
    });
  });
  for (const name of ["colour", "lines", "only"]) {
    plot.$(name).addEventListener("change", () => {
      state[name] = plot.$(name).value;
      plot.changed(name);
    });
  }
  plot.$("equal").addEventListener("change", () => {
    state.equal = plot.$("equal").checked;
    resetCamera(plot);
  });
  const colours = { structure: state.structures.length, distance: data.nearest };
  for (const [name, possible] of Object.entries(colours)) {
    if (!possible) plot.$("colour").querySelector(`[value=${name}]`).remove();
  }
  nameStructures(plot);
}

// The filter by structure, again after one was renamed.
export function nameStructures(plot) {
  const { data, state } = plot, only = plot.$("only");
  for (const old of only.querySelectorAll("[data-own]")) old.remove();
  if (data.nearest) {
    only.append(element("option", { value: "none", "data-own": "" }, "kept, no structure"));
    state.structures.forEach((_, k) =>
      only.append(element("option", { value: k, "data-own": "" }, clipped(structureName(plot, k), 30))));
  }
  for (const name of ["colour", "lines", "only"]) plot.$(name).value = state[name];
}

// Checked if axes are equal, enabled if they can be.
export function updateEqual(plot) {
  plot.$("equal").checked = isEqual(plot);
  plot.$("equal").disabled = !canBeEqual(plot);
}

export function setMode(plot, mode) {
  const { data, state } = plot, count = AXES[mode] ?? 0;
  state.mode = mode;
  // The most telling columns, those of the detector, then the others, the score last.
  const first = mode === "2d" ? data.opening.slice(0, 2) : [];
  const order = [...new Set([...first, ...data.seen, ...data.drawable])];
  state.axes = order.slice(0, count).map((each) => data.drawable.indexOf(each));
  while (state.axes.length < count) state.axes.push(data.drawable.length - 1);
  [0, 1, 2].forEach((axis) => {
    const select = plot.$(`axis-${axis}`);
    select.closest("label").hidden = axis >= count;
    if (axis < count) select.value = state.axes[axis];
  });
  plot.$("equal").closest("label").hidden = !count;
  plot.$("lines").closest("label").hidden = mode !== "matches";
  plot.canvas.closest(".view").dataset.mode = mode;
  plot.canvas.setAttribute("aria-label", `${whole(data.size)} ${data.noun}, ${MODES[mode]}`);
  fitStage(plot);
  resetCamera(plot);
}

// Images need the height that fits their width; one above the other more than points.
export function fitStage(plot) {
  const stage = plot.$("stage");
  stage.style.height = "";
  if (!isFlat(plot.state.mode)) return;
  const width = stage.clientWidth;
  const [[left, right], [top, bottom]] = placeImages(plot, width);
  const height = ((width - 16) * (bottom - top)) / (right - left) + 16;
  stage.style.height = `${Math.round(Math.min(height, Math.max(360, window.innerHeight * 0.85)))}px`;
}
