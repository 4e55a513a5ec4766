// What a run found, as a table: structures, the defects of a map, or the runs of a series.

import { short, whole } from "../web/format.js";
import { structuresCard } from "./structures.js";
import { card, note, table } from "./ui.js";

const text = (value) => {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(text).join(", ");
  if (typeof value === "object") return Object.entries(value).map(([name, each]) => `${name} ${text(each)}`).join(", ");
  return typeof value === "number" ? (Number.isInteger(value) ? whole(value) : short(value, 4)) : String(value);
};

// Records with the same keys, a column for each.
function recordsCard(title, records, empty) {
  if (!records.length) return card(title, note(empty));
  const names = Object.keys(records[0]);
  const numeric = names.map((_, k) => k).filter((k) => records.every((each) => typeof each[names[k]] === "number"));
  const heads = names.map((name) => `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")}`);
  return card(title, table(`${title} with their measures`, heads, records.slice(0, 200).map((each) => names.map((name) => text(each[name]))), numeric));
}

export function foundCard(plot, project, result) {
  if (result.defects) return recordsCard("Defects", result.defects, "Nothing is off the smooth surface.");
  if (result.runs) return recordsCard("Anomalous stretches", result.runs, "No stretch of rows is anomalous.");
  return structuresCard(plot, project);
}
