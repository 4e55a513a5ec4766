// Rows as CSV: every column, the score and the structure. Spreadsheets run text that begins like a formula when
// they open a file, so an apostrophe is put before it; numbers, with a sign or not, stay.

import { save } from "./dom.js";
import { assignedTo, isFlagged } from "./state.js";

const isFormula = (text) => /^\s*[=+\-@]/.test(text) && !/^\s*[+-]?[\d.,]*\d[.,]?([eE][+-]?\d+)?\s*$/.test(text);
const harmless = (text) => (isFormula(text) ? `'${text}` : text);

const quoted = (text) => (/[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text);

function cell(each, row) {
  if (each.texts) return quoted(harmless(each.texts[row]));
  const value = each.numbers[row];
  return Number.isNaN(value) ? "" : Object.is(value, -0) ? "-0" : String(value);
}

// The structure of each row, -1 for none, and the distance to the nearest one in its sigmas.
const structureColumn = (plot) => ({
  name: "structure", numbers: Int32Array.from(plot.data.scores, (_, row) => assignedTo(plot, row)),
});
const distanceColumn = ({ data: { distances, nearest, structures } }) => ({
  name: "distance",
  numbers: Float64Array.from(distances, (value, row) => (value < 1e29 ? value / structures[nearest[row]].sigma : NaN)),
});

function csv(plot, flagged) {
  const { columns, nearest, scoreColumn, size } = plot.data;
  const taken = new Set(columns.map((each) => each.name));
  const added = [{ ...scoreColumn }, ...(nearest ? [structureColumn(plot), distanceColumn(plot)] : [])];
  for (const each of added) while (taken.has(each.name)) each.name = `anomaly_${each.name}`;
  const written = [...columns, ...added];
  const lines = [written.map((each) => quoted(harmless(each.name))).join(",")];
  for (let row = 0; row < size; row++) {
    if (isFlagged(plot, row) === flagged) lines.push(written.map((each) => cell(each, row)).join(","));
  }
  return `${lines.join("\n")}\n`;
}

export function startDownload(plot) {
  for (const [id, flagged] of [["download-kept", false], ["download-flagged", true]]) {
    const name = `${plot.data.stem}-${flagged ? "rejected" : "kept"}.csv`;
    plot.$(id).addEventListener("click", () => save(name, csv(plot, flagged), "text/csv"));
  }
}
