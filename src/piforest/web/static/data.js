// What a view shows: columns, scores and structures of rows.

import { digitsFor, rangeOf, short } from "./format.js";

const KINDS = {
  u8: Uint8Array, u16: Uint16Array, i16: Int16Array, i32: Int32Array,
  f32: Float32Array, f64: Float64Array,
};

export function decoded({ kind, data, divide = 1 }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const array = new KINDS[kind](bytes.buffer);
  return divide === 1 ? array : Float64Array.from(array, (value) => value / divide);
}

// A column has numbers if it can be drawn, and texts if it was text.
function column(entry) {
  if (!entry.text) return { name: entry.name, numbers: decoded(entry), texts: null };
  return textColumn(entry.name, entry.text, entry.drawn);
}

export function textColumn(name, texts, drawn) {
  const numbers = drawn
    ? Float64Array.from(texts, (text) => (text.trim() === "" ? NaN : Number(text)))
    : null;
  return { name, numbers, texts };
}

// The data of a payload: arrays are base64 in JSON.
export function decodedPayload(payload) {
  return completed({
    ...payload,
    columns: payload.columns.map(column),
    derived: payload.derived.map(column),
    scores: decoded(payload.scores),
    rowNumbers: decoded(payload.rows),
    thresholds: { ...payload.thresholds, above: decoded(payload.thresholds.above) },
    structures: payload.structures.map((each) => ({
      ...each, outline: each.outline && decoded(each.outline),
    })),
    nearest: payload.nearest && decoded(payload.nearest),
    distances: payload.distances && decoded(payload.distances),
  });
}

// Adds what follows from the arrays. `derived`: columns that follow from the others, such as the
// prediction of the target.
export function completed(data) {
  const { columns, derived, scores, view } = data;
  const size = scores.length;
  const scoreColumn = { name: "score", numbers: scores, texts: null };
  return {
    ...data, size, scoreColumn,
    drawable: [...columns.filter((each) => each.numbers), ...derived, scoreColumn],
    // The columns of the detector, in its order, and those that the view opens on.
    seen: view.places.map((place) => columns[place]),
    opening: view.opening.map((at) => [...columns, ...derived][at]),
    byScore: orderOf(scores),
    thresholds: withEnds(data.thresholds),
  };
}

// Rows from the least to the most anomalous, in drawing order.
function orderOf(scores) {
  return Uint32Array.from(scores, (_, row) => row).sort((a, b) => scores[a] - scores[b] || b - a);
}

function withEnds(thresholds) {
  return {
    ...thresholds,
    last: thresholds.first + thresholds.above.length - 1,
    digits: Math.max(0, Math.round(Math.log10(thresholds.scale))),
  };
}

// The range of the values of a column, computed once.
export const rangeOfColumn = (each) => (each.range ??= rangeOf(each.numbers));

// Empty if the value is missing.
export function valueText(each, row) {
  if (each.texts) return each.texts[row];
  if (Number.isNaN(each.numbers[row])) return "";
  each.digits ??= digitsFor(...rangeOfColumn(each));
  return short(each.numbers[row], each.digits);
}
