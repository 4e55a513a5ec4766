// The style of each row: its class, and the colour, shape and size of every class.

import { element } from "./dom.js";
import { rounded } from "./format.js";
import { lawIsShown } from "./outlines.js";
import { isFlagged, structureName, structureOf } from "./state.js";
import { mixed } from "./theme.js";

const SHADES = 11;
// Distances are shaded up to this many half-widths.
export const FAR = 6;

export const initialStyles = (size) => ({ of: new Uint8Array(size), classes: [] });

export const radiusOf = ({ size }) => Math.min(Math.max(5.2 - 0.9 * Math.log10(size + 1), 1.7), 4);

function byLabel(plot) {
  const { colours, data, styles } = plot, radius = radiusOf(data);
  for (let row = 0; row < data.size; row++) styles.of[row] = isFlagged(plot, row) ? 1 : 0;
  styles.classes = [
    { colour: colours.kept, shape: "dot", radius, alpha: 0.8 },
    { colour: colours.flagged, shape: "diamond", radius: radius * 1.3, alpha: 0.95 },
  ];
}

// The range of the middle 96 % of the scores.
export function shadeRange({ data }) {
  const at = (share) => data.scores[data.byScore[Math.round(share * (data.size - 1))]];
  return [at(0.02), at(0.98)];
}

export function shade({ colours }, share) {
  return share < 0.5
    ? mixed(colours.kept, colours.middle, share * 2)
    : mixed(colours.middle, colours.flagged, share * 2 - 1);
}

const unit = (share) => Math.min(Math.max(share, 0), 1);

// From 0 to 1: the score of a row in the range of the shades.
export function scoreShare(plot) {
  const [low, high] = shadeRange(plot), wide = high > low ? high - low : 1;
  return (row) => unit((plot.data.scores[row] - low) / wide);
}

// From 0 to 1: the distance of a row to its nearest structure.
export function distanceShare({ data: { distances, nearest, structures } }) {
  return (row) => unit(distances[row] / (FAR * structures[nearest[row]].half_width));
}

function byShade(plot, share) {
  const { data, styles } = plot, radius = radiusOf(data);
  for (let row = 0; row < data.size; row++) styles.of[row] = Math.round(share(row) * (SHADES - 1));
  styles.classes = Array.from({ length: SHADES }, (_, k) => ({
    colour: shade(plot, k / (SHADES - 1)), shape: "dot", radius: radius * 1.1, alpha: 0.95,
  }));
}

function byStructure(plot) {
  const { colours, data, state, styles } = plot, radius = radiusOf(data);
  const count = state.structures.length;
  for (let row = 0; row < data.size; row++) {
    const structure = structureOf(plot, row);
    styles.of[row] = isFlagged(plot, row) ? count + 1 : structure < 0 ? 0 : structure + 1;
  }
  styles.classes = [
    { colour: colours.dim, shape: "dot", radius: radius * 0.9, alpha: 0.6 },
    ...state.structures.map((_, k) => ({
      colour: colours.structures[k % 6], shape: "dot", radius: radius * 1.1, alpha: 0.95,
    })),
    { colour: colours.flagged, shape: "diamond", radius, alpha: 0.55 },
  ];
}

const BY_COLOUR = {
  label: byLabel,
  score: (plot) => byShade(plot, scoreShare(plot)),
  structure: byStructure,
  distance: (plot) => byShade(plot, distanceShare(plot)),
};

export const updateStyles = (plot) => BY_COLOUR[plot.state.colour](plot);

function chip(shape, colour, text) {
  const mark = element("span", { class: `chip ${shape}`, "aria-hidden": "true" });
  if (colour) mark.style.background = colour;
  return element("span", { class: "entry" }, mark, text);
}

function ramp(plot, from, to) {
  const bar = element("span", { class: "ramp", "aria-hidden": "true" });
  bar.style.background = `linear-gradient(to right, ${[0, 0.5, 1].map((k) => shade(plot, k)).join(",")})`;
  return element("span", { class: "entry" }, from, bar, to);
}

function legendEntries(plot) {
  const { colours, state } = plot;
  const anomaly = chip("diamond", colours.flagged, "anomaly");
  if (state.colour === "score") {
    const [low, high] = shadeRange(plot);
    return [ramp(plot, `score ${low.toFixed(3)}`, high.toFixed(3))];
  }
  if (state.colour === "distance") {
    return [ramp(plot, "on its nearest structure", `${rounded(FAR)} half-widths away or more`)];
  }
  if (state.colour === "label") {
    const kept = state.mode === "map" ? chip("ramp grey", "", "kept, by value") : chip("dot", colours.kept, "kept");
    return [kept, anomaly];
  }
  const shown = state.structures.map((on, k) => on && chip("dot", colours.structures[k % 6], structureName(plot, k)));
  return [...shown.filter(Boolean), chip("dot", colours.dim, "kept, no structure"), anomaly];
}

export function updateLegend(plot) {
  const entries = legendEntries(plot);
  if (lawIsShown(plot)) {
    entries.push(chip("law", plot.colours.ink, "target as predicted by the nearest structure"));
  }
  plot.$("legend").replaceChildren(...entries);
}
