// Rows as CSV: every column, the score and the structure. Spreadsheets run text that begins like a formula when
// they open a file, so an apostrophe is put before it; numbers, with a sign or not, stay.

const isFormula = (text) => /^\s*[=+\-@]/.test(text) && !/^\s*[+-]?[\d.,]*\d[.,]?([eE][+-]?\d+)?\s*$/.test(text);
const harmless = (text) => (isFormula(text) ? `'${text}` : text);

const quoted = (text) => (/[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text);

function cell(each, row) {
  if (each.texts) return quoted(harmless(each.texts[row]));
  const value = each.numbers[row];
  return Number.isNaN(value) ? "" : Object.is(value, -0) ? "-0" : String(value);
}

// The structure of each row, -1 for none, and the distance to the nearest one in its sigmas.
const structureColumn = () => ({ name: "structure", numbers: Int32Array.from(scores, (_, row) => assignedTo(row)) });
const distanceColumn = () => ({
  name: "distance",
  numbers: Float64Array.from(distances, (value, row) => (value < 1e29 ? value / DATA.structures[nearest[row]].sigma : NaN)),
});

function csv(flagged) {
  const taken = new Set(columns.map((each) => each.name));
  const added = [{ ...scoreColumn, texts: null }, ...(nearest ? [structureColumn(), distanceColumn()] : [])];
  for (const each of added) while (taken.has(each.name)) each.name = `anomaly_${each.name}`;
  const written = [...columns, ...added];
  const lines = [written.map((each) => quoted(harmless(each.name))).join(",")];
  for (let row = 0; row < size; row++) {
    if (isFlagged(row) === flagged) lines.push(written.map((each) => cell(each, row)).join(","));
  }
  return `${lines.join("\n")}\n`;
}

function download(flagged) {
  const address = URL.createObjectURL(new Blob([csv(flagged)], { type: "text/csv" }));
  const name = `${DATA.stem}-${flagged ? "rejected" : "kept"}.csv`;
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function startDownload() {
  $("download-kept").addEventListener("click", () => download(false));
  $("download-flagged").addEventListener("click", () => download(true));
}
