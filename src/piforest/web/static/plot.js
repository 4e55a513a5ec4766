// A view of data: its parts together, and what is drawn again when something changes.

import { initialCamera, initialFrame, initialScreen } from "./camera.js";
import { fitStage, setMode, startControls, updateEqual } from "./controls.js";
import { drawHistogram, startHistogram } from "./histogram.js";
import { forgetHover, startInput } from "./input.js";
import { polylines } from "./outlines.js";
import { loadPictures } from "./panels.js";
import { updatePinned } from "./row.js";
import { drawSoon } from "./scene.js";
import { initialState } from "./state.js";
import { initialStyles, updateLegend, updateStyles } from "./styles.js";
import { readColours } from "./theme.js";
import { startThreshold, updateThreshold } from "./threshold.js";

function update(plot, what) {
  if (["threshold", "colour", "theme", "structures"].includes(what)) {
    if (!plot.gpu || plot.gpu.byClass || plot.scenes[plot.state.mode]) updateStyles(plot);
    updateLegend(plot);
  }
  if (["threshold", "colour", "theme", "structures", "only"].includes(what)) {
    plot.scenes[plot.state.mode]?.forget?.(plot);
  }
  if (what === "threshold" || what === "theme") {
    updateThreshold(plot);
    drawHistogram(plot);
  }
  if (["threshold", "pin", "structures"].includes(what)) updatePinned(plot);
  if (what === "camera") {
    updateEqual(plot);
    updateLegend(plot);
    forgetHover(plot);
  }
  drawSoon(plot);
}

// The view of `data` in the cards that are in `root`: a document or a shadow root. `host`: the
// element whose style has the colours. A page that needs more than the report passes `gpuLayer`,
// the `scenes` of further modes, and `selection`.
export function createPlot(root, data, options = {}) {
  const { host = document.documentElement, gpuLayer = () => null, scenes = {}, selection = null } = options;
  const canvas = root.getElementById("view");
  const plot = {
    root, host, data, canvas, scenes, selection,
    $: (id) => root.getElementById(id),
    pen: canvas.getContext("2d"),
    colours: readColours(host),
    state: initialState(data),
    camera: initialCamera(), frame: initialFrame(), screen: initialScreen(data.size),
    styles: initialStyles(data.size), outlines: polylines(data), gpu: gpuLayer(data),
    badges: [], panels: [], shift: [0, 0], pointers: new Map(), travelled: 0, selecting: false, band: null,
    // Further keys of the view, key to function of the plot.
    keys: {},
    listeners: [],
    on: (listener) => plot.listeners.push(listener),
    changed: (what) => {
      update(plot, what);
      for (const listener of plot.listeners) listener(what);
    },
  };
  plot.pictures = loadPictures(plot);
  startControls(plot);
  setMode(plot, plot.state.mode);
  startThreshold(plot);
  startInput(plot);
  startObservers(plot);
  plot.changed("theme");
  updatePinned(plot);
  return plot;
}

// Draws again what changed its size, until the plot is removed.
function startObservers(plot) {
  const bars = startHistogram(plot), view = new ResizeObserver(() => drawSoon(plot));
  bars.observe(plot.$("histogram"));
  view.observe(plot.canvas);
  const fit = () => fitStage(plot);
  window.addEventListener("resize", fit);
  plot.remove = () => {
    plot.removed = true;
    bars.disconnect();
    view.disconnect();
    window.removeEventListener("resize", fit);
    plot.gpu?.remove();
  };
}

export function themeChanged(plot) {
  plot.colours = readColours(plot.host);
  plot.changed("theme");
}
