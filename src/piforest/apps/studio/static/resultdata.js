// The arrays of a result as the data of a view.

import { completed, decoded, textColumn } from "../web/data.js";
import { array } from "./api.js";

// Numbers that a page loads at most, beside those that are drawn first.
const MOST = 2e7;
const STRUCTURES = 24;

async function columnOf(job, name, label = name) {
  const values = await array(job, name);
  return Array.isArray(values) ? textColumn(label, values, false) : { name: label, numbers: Float64Array.from(values), texts: null };
}

// Distances come in sigmas of the nearest structure.
function inUnits(sigmas, nearest, structures) {
  return Float32Array.from(sigmas, (value, row) => (value < 1e29 ? value * structures[nearest[row]].sigma : 1e30));
}

export function thresholdsOf(scores, flagged) {
  const sorted = Float64Array.from(scores).sort(), n = sorted.length;
  const [low, high] = [sorted[0], sorted[n - 1]], wide = high > low ? high - low : Math.abs(high) || 1;
  const scale = 10 ** Math.ceil(Math.log10(1000 / wide));
  const first = Math.floor(low * scale) - 1, last = Math.ceil(high * scale);
  const above = new Int32Array(last - first + 1);
  let at = 0;
  for (let step = first; step <= last; step++) {
    while (at < n && sorted[at] <= step / scale) at++;
    above[step - first] = n - at;
  }
  // Between the score that is still flagged and the next one.
  const rank = n - flagged;
  const initial = flagged <= 0 ? high : rank <= 0 ? low - 1 / scale : (sorted[rank - 1] + sorted[rank]) / 2;
  return { initial, flagged: sorted.reduce((count, value) => count + (value > initial), 0), scale, first, above };
}

async function structureArrays(job, has, structures) {
  if (!has.has("nearest") || !has.has("distance") || !structures.length) return { nearest: null, distances: null };
  const [nearest, sigmas] = await Promise.all([array(job, "nearest"), array(job, "distance")]);
  const distances = inUnits(sigmas, nearest, structures);
  // The view lists the first structures; rows of others have none.
  const listed = nearest.map((k) => Math.min(k, STRUCTURES - 1));
  nearest.forEach((k, row) => { if (k >= STRUCTURES) distances[row] = 1e30; });
  return { nearest: listed, distances };
}

export async function resultData(job, result, project) {
  const has = new Set(result.arrays.map((each) => each.name));
  const view = { equal: false, law: false, opening: result.view.places, ...result.view };
  const needed = new Set([...view.places, ...view.opening, view.time].filter((at) => at < result.columns.length));
  const all = result.shown * result.columns.length <= MOST;
  const kept = result.columns.map((_, at) => at).filter((at) => all || needed.has(at));
  const place = (at) => (at < result.columns.length ? kept.indexOf(at) : kept.length + at - result.columns.length);
  const names = project.structure_names ?? {};
  const structures = (result.structures ?? []).map((each, k) => ({ ...each, outline: each.outline && decoded(each.outline), name: names[k] }));
  const [columns, derived, scores, rowNumbers, nearest] = await Promise.all([
    Promise.all(kept.map((at) => columnOf(job, `column:${result.columns[at]}`, result.columns[at]))),
    Promise.all((result.derived ?? []).map((name) => columnOf(job, `column:${name}`, name))),
    array(job, "scores"), array(job, "rows"), structureArrays(job, has, structures),
  ]);
  const drawable = columns.filter((each) => each.numbers);
  return completed({
    columns, derived, scores, rowNumbers, ...nearest,
    total: result.total, noun: result.noun ?? "rows", stem: project.name, unit: result.unit ?? "", reach: result.reach ?? 3,
    structures: structures.slice(0, STRUCTURES),
    thresholds: { ...result.thresholds, above: decoded(result.thresholds.above) },
    falseAlarms: result.false_alarms ?? null,
    view: {
      ...view, places: view.places.map(place), opening: view.opening.map(place),
      time: view.time === undefined || view.time === null ? undefined : drawable.indexOf(columns[place(view.time)]),
    },
    images: (result.image_sizes ?? []).map(({ width, height }, k) => ({ width, height, uri: `/api/projects/${project.id}/images/${k}` })),
  });
}
