// The style of each row: its class, and the colour, shape and size of every class.

const SHADES = 11;
let styles = { of: new Uint8Array(size), classes: [] };

const radius = Math.min(Math.max(5.2 - 0.9 * Math.log10(size + 1), 1.7), 4);

function byLabel() {
  for (let row = 0; row < size; row++) styles.of[row] = isFlagged(row) ? 1 : 0;
  styles.classes = [
    { colour: colours.kept, shape: "dot", radius, alpha: 0.8 },
    { colour: colours.flagged, shape: "diamond", radius: radius * 1.3, alpha: 0.95 },
  ];
}

// The range of the middle 96 % of the scores.
function shadeRange() {
  const at = (share) => scores[byScore[Math.round(share * (size - 1))]];
  return [at(0.02), at(0.98)];
}

function shade(share) {
  return share < 0.5
    ? mixed(colours.kept, colours.middle, share * 2)
    : mixed(colours.middle, colours.flagged, share * 2 - 1);
}

function byScoreShade() {
  const [low, high] = shadeRange();
  const wide = high > low ? high - low : 1;
  for (let row = 0; row < size; row++) {
    const share = Math.min(Math.max((scores[row] - low) / wide, 0), 1);
    styles.of[row] = Math.round(share * (SHADES - 1));
  }
  styles.classes = Array.from({ length: SHADES }, (_, k) => ({
    colour: shade(k / (SHADES - 1)), shape: "dot", radius: radius * 1.1, alpha: 0.95,
  }));
}

function byStructure() {
  const count = state.structures.length;
  for (let row = 0; row < size; row++) {
    const structure = structureOf(row);
    styles.of[row] = isFlagged(row) ? count + 1 : structure < 0 ? 0 : structure + 1;
  }
  styles.classes = [
    { colour: colours.dim, shape: "dot", radius: radius * 0.9, alpha: 0.6 },
    ...state.structures.map((_, k) => ({
      colour: colours.structures[k % 6], shape: "dot", radius: radius * 1.1, alpha: 0.95,
    })),
    { colour: colours.flagged, shape: "diamond", radius, alpha: 0.55 },
  ];
}

function updateStyles() {
  ({ label: byLabel, score: byScoreShade, structure: byStructure })[state.colour]();
}

function chip(shape, colour, text) {
  const mark = element("span", { class: `chip ${shape}`, "aria-hidden": "true" });
  mark.style.background = colour;
  return element("span", { class: "entry" }, mark, text);
}

function updateLegend() {
  const entries = [];
  if (state.colour === "score") {
    const bar = element("span", { class: "ramp", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${[0, 0.5, 1].map(shade).join(",")})`;
    const [low, high] = shadeRange();
    entries.push(element("span", { class: "entry" }, `score ${low.toFixed(3)}`, bar, high.toFixed(3)));
  } else if (state.colour === "label") {
    entries.push(chip("dot", colours.kept, "kept"), chip("diamond", colours.flagged, "anomaly"));
  } else {
    state.structures.forEach((on, k) => {
      if (on) entries.push(chip("dot", colours.structures[k % 6], `structure ${k}`));
    });
    entries.push(chip("dot", colours.dim, "kept, no structure"), chip("diamond", colours.flagged, "anomaly"));
  }
  if (lawIsShown()) entries.push(chip("law", colours.ink, "target as predicted by the nearest structure"));
  $("legend").replaceChildren(...entries);
}
