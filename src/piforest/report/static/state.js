// What the reader has chosen, and who wants to know when it changes.

const CUT = { ...DATA.cut, above: decoded(DATA.cut.above) };
CUT.last = CUT.first + CUT.above.length - 1;
CUT.digits = Math.max(0, Math.round(Math.log10(CUT.scale)));

const state = {
  cut: CUT.threshold,
  flagged: CUT.flagged, // of all points
  hovered: -1,
  pinned: -1,
  colour: "verdict",
  mode: DATA.view.mode,
  axes: [],
  equal: DATA.view.equal,
  lines: size > 600 ? "flagged" : "all",
  structures: DATA.structures.map(() => true),
};

const listeners = [];
const onChange = (listener) => listeners.push(listener);
const changed = (what) => listeners.forEach((listener) => listener(what));

const isFlagged = (row) => scores[row] > state.cut;
const cutText = (cut) => cut.toFixed(Math.max(4, CUT.digits));

// A cut is a step k / scale, for which the page knows how many of all points lie above.
function setStep(step) {
  const at = Math.min(Math.max(Math.round(step), CUT.first), CUT.last);
  state.cut = at / CUT.scale;
  state.flagged = CUT.above[at - CUT.first];
  changed("cut");
}

function setCut(value) {
  if (Number.isFinite(value)) setStep(value * CUT.scale);
}

function resetCut() {
  state.cut = CUT.threshold;
  state.flagged = CUT.flagged;
  changed("cut");
}

function pin(row) {
  state.pinned = row;
  changed("pin");
}

// A structure that is ticked, within reach, for a row that is kept: the row's; or -1.
function structureOf(row) {
  if (!nearest || isFlagged(row) || sigmas[row] > DATA.reach) return -1;
  return state.structures[nearest[row]] ? nearest[row] : -1;
}
