// The choices of the reader, and what follows from them for a row.

export function initialState(data) {
  const { size, structures, thresholds, view } = data;
  return {
    threshold: thresholds.initial,
    flagged: thresholds.flagged, // of all points
    hovered: -1,
    pinned: -1,
    colour: "label",
    mode: view.mode,
    axes: [],
    equal: view.equal,
    lines: size > 3000 ? "none" : size > 600 ? "flagged" : "all",
    structures: structures.map(() => true),
    only: "all",
    // 1 for each row that is selected; a host that lets readers select rows uses them.
    selected: new Uint8Array(size),
    // Row to "normal" or "anomalous".
    marks: new Map(),
  };
}

export const thresholdText = ({ data }, value) => value.toFixed(Math.max(4, data.thresholds.digits));

// Thresholds are steps k / scale; the page knows how many of all points lie above each.
export function setStep(plot, step) {
  const { first, last, scale, above } = plot.data.thresholds;
  const at = Math.min(Math.max(Math.round(step), first), last);
  plot.state.threshold = at / scale;
  plot.state.flagged = above[at - first];
  plot.changed("threshold");
}

export function setThreshold(plot, value) {
  if (Number.isFinite(value)) setStep(plot, value * plot.data.thresholds.scale);
}

export function resetThreshold(plot) {
  plot.state.threshold = plot.data.thresholds.initial;
  plot.state.flagged = plot.data.thresholds.flagged;
  plot.changed("threshold");
}

export function pin(plot, row) {
  plot.state.pinned = row;
  plot.changed("pin");
}

export const isFlagged = ({ data, state }, row) => data.scores[row] > state.threshold;

// The nearest structure of a row, if the row is within reach; else -1.
export function withinReach({ nearest, distances, structures, reach }, row) {
  if (!nearest) return -1;
  return distances[row] > reach * structures[nearest[row]].half_width ? -1 : nearest[row];
}

// The structure of a kept row: anomalies belong to none.
export const assignedTo = (plot, row) => (isFlagged(plot, row) ? -1 : withinReach(plot.data, row));

// How many rows belong to each structure at the threshold; null if the page lacks rows.
export function membersNow(plot) {
  if (plot.data.size < plot.data.total || !plot.data.nearest) return null;
  const counts = plot.data.structures.map(() => 0);
  for (let row = 0; row < plot.data.size; row++) {
    const own = assignedTo(plot, row);
    if (own >= 0) counts[own] += 1;
  }
  return counts;
}

// The structure of a kept row, if it is checked.
export function structureOf(plot, row) {
  const own = assignedTo(plot, row);
  return own >= 0 && plot.state.structures[own] ? own : -1;
}

// Whether the filter lets a row through: all, flagged, kept, none (of no structure), or a structure.
export function isShown(plot, row) {
  const { only } = plot.state;
  if (only === "all") return true;
  if (only === "flagged" || only === "kept") return isFlagged(plot, row) === (only === "flagged");
  const own = assignedTo(plot, row);
  return only === "none" ? own < 0 && !isFlagged(plot, row) : own === Number(only);
}

export const structureName = ({ data }, k) => data.structures[k].name || `structure ${k}`;
