// The data of the page: numbers in base64, decoded once.

const $ = (id) => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);

const KINDS = {
  u8: Uint8Array, u16: Uint16Array, i16: Int16Array, i32: Int32Array,
  f32: Float32Array, f64: Float64Array,
};

function decoded({ kind, data, divide = 1 }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const array = new KINDS[kind](bytes.buffer);
  return divide === 1 ? array : Float64Array.from(array, (value) => value / divide);
}

// A column has numbers if it can be drawn, and texts if it was text.
function column(entry) {
  if (!entry.text) return { name: entry.name, numbers: decoded(entry), texts: null };
  const numbers = entry.drawn
    ? Float64Array.from(entry.text, (text) => (text.trim() === "" ? NaN : Number(text)))
    : null;
  return { name: entry.name, numbers, texts: entry.text };
}

const scores = decoded(DATA.scores);
const rowNumbers = decoded(DATA.rows);
const size = scores.length;
const columns = DATA.columns.map(column);
const scoreColumn = { name: "score", numbers: scores, texts: null };
// Columns that follow from the others, such as the prediction of the target.
const derived = DATA.derived.map(column);
const drawable = [...columns.filter((each) => each.numbers), ...derived, scoreColumn];
// The columns of the detector, in its order, and those that the view opens on.
const seen = DATA.view.places.map((place) => columns[place]);
const opening = DATA.view.opening.map((at) => [...columns, ...derived][at]);
const nearest = DATA.nearest && decoded(DATA.nearest);
const distances = DATA.distances && decoded(DATA.distances);

// Rows from the least to the most anomalous, in drawing order.
const byScore = Uint32Array.from({ length: size }, (_, row) => row).sort(
  (a, b) => scores[a] - scores[b] || b - a,
);

// Significant digits that distinguish values of a range: more if they are far from zero.
function digitsFor(low, high, digits = 5) {
  const far = Math.max(Math.abs(low), Math.abs(high)) / (high - low);
  return Number.isFinite(far) ? Math.min(digits + Math.max(0, Math.ceil(Math.log10(far)) - 1), 15) : digits;
}

function short(value, digits = 5) {
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// Empty if the value is missing.
function valueText(each, row) {
  if (each.texts) return each.texts[row];
  if (Number.isNaN(each.numbers[row])) return "";
  each.digits ??= digitsFor(...rangeOf(each.numbers));
  return short(each.numbers[row], each.digits);
}

const whole = (count) => count.toLocaleString("en");

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
