// The choices of the reader, and listeners to their changes.

const THRESHOLDS = { ...DATA.thresholds, above: decoded(DATA.thresholds.above) };
THRESHOLDS.last = THRESHOLDS.first + THRESHOLDS.above.length - 1;
THRESHOLDS.digits = Math.max(0, Math.round(Math.log10(THRESHOLDS.scale)));

const state = {
  threshold: THRESHOLDS.initial,
  flagged: THRESHOLDS.flagged, // of all points
  hovered: -1,
  pinned: -1,
  colour: "label",
  mode: DATA.view.mode,
  axes: [],
  equal: DATA.view.equal,
  lines: size > 3000 ? "none" : size > 600 ? "flagged" : "all",
  structures: DATA.structures.map(() => true),
  only: "all",
};

const listeners = [];
const onChange = (listener) => listeners.push(listener);
const changed = (what) => listeners.forEach((listener) => listener(what));

const isFlagged = (row) => scores[row] > state.threshold;
const thresholdText = (value) => value.toFixed(Math.max(4, THRESHOLDS.digits));

// Thresholds are steps k / scale; the page knows how many of all points lie above each.
function setStep(step) {
  const at = Math.min(Math.max(Math.round(step), THRESHOLDS.first), THRESHOLDS.last);
  state.threshold = at / THRESHOLDS.scale;
  state.flagged = THRESHOLDS.above[at - THRESHOLDS.first];
  changed("threshold");
}

function setThreshold(value) {
  if (Number.isFinite(value)) setStep(value * THRESHOLDS.scale);
}

function resetThreshold() {
  state.threshold = THRESHOLDS.initial;
  state.flagged = THRESHOLDS.flagged;
  changed("threshold");
}

function pin(row) {
  state.pinned = row;
  changed("pin");
}

// The structure of a kept row, if it is within reach; else -1.
function assignedTo(row) {
  if (!nearest || isFlagged(row) || distances[row] > DATA.reach * DATA.structures[nearest[row]].half_width) return -1;
  return nearest[row];
}

// The same, if the structure is checked.
function structureOf(row) {
  const own = assignedTo(row);
  return own >= 0 && state.structures[own] ? own : -1;
}

// Whether the filter lets a row through: all, flagged, kept, none (of no structure), or a structure.
function isShown(row) {
  if (state.only === "all") return true;
  if (state.only === "flagged" || state.only === "kept") return isFlagged(row) === (state.only === "flagged");
  const own = assignedTo(row);
  return state.only === "none" ? own < 0 && !isFlagged(row) : own === Number(state.only);
}
