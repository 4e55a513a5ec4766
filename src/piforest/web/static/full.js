// A view with all that Studio and notebooks offer: many points, maps, series, and selected rows.

import { SERIES } from "./lanes.js";
import { MAP } from "./map.js";
import { createPlot } from "./plot.js";
import { gpuLayer } from "./points.js";
import { SELECTION } from "./select.js";

export const createFullPlot = (root, data, options = {}) =>
  createPlot(root, data, { gpuLayer, scenes: { map: MAP, series: SERIES }, selection: SELECTION, ...options });
