// The arrays of a result as the data of a view.

import { completed, decoded, textColumn } from "../web/data.js";
import { array, get } from "./api.js";

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

// Coordinates are pixels of the images as they are; what the server shows may be smaller.
async function imagesOf(project) {
  const { images } = await get(`/projects/${project.id}/columns`);
  return images.map(({ width, height }, k) => ({ width, height, uri: `/api/projects/${project.id}/images/${k}` }));
}

// A map: each pixel that has a score is a row.
async function mapData(job, result, project) {
  const [values, scores] = await Promise.all([array(job, "map:values"), array(job, "map:scores")]);
  const { step, width } = result.view, across = Math.ceil(width / step);
  const known = Array.from(scores.keys()).filter((at) => !Number.isNaN(scores[at]));
  const column = (name, value) => ({ name, numbers: Float64Array.from(known, value), texts: null });
  return completed({
    columns: [column("x", (at) => (at % across) * step), column("y", (at) => Math.floor(at / across) * step), column("value", (at) => values[at])],
    derived: [], scores: Float64Array.from(known, (at) => scores[at]), rowNumbers: Float64Array.from(known, (at) => at + 1),
    nearest: null, distances: null, structures: [], images: [], falseAlarms: null,
    total: result.total, noun: "pixels", stem: project.name, unit: "", reach: 3,
    thresholds: { ...result.thresholds, above: decoded(result.thresholds.above) },
    view: { mode: "map", places: [0, 1, 2], opening: [0, 1], equal: true, law: false },
  });
}

// A series has a column of times and channels, by their names.
function seriesView(result) {
  const { time, channels } = result.view, places = channels.map((name) => result.columns.indexOf(name));
  return { mode: "series", places, opening: [result.columns.indexOf(time), ...places], equal: false, law: false };
}

// `project` has the names of structures and the images.
export async function resultData(job, result, project) {
  if (result.view.mode === "map") return mapData(job, result, project);
  const has = new Set(result.arrays.map((each) => each.name));
  const series = result.view.mode === "series", view = series ? seriesView(result) : result.view;
  const needed = new Set([...view.places, ...view.opening].filter((at) => at < result.columns.length));
  const all = result.shown * result.columns.length <= MOST;
  const kept = result.columns.map((_, at) => at).filter((at) => all || needed.has(at));
  const place = (at) => (at < result.columns.length ? kept.indexOf(at) : kept.length + at - result.columns.length);
  const names = project.structure_names ?? {};
  const structures = (result.structures ?? []).map((each, k) => ({ ...each, outline: each.outline && decoded(each.outline), name: names[k] }));
  const [columns, derived, scores, rowNumbers, nearest] = await Promise.all([
    Promise.all(kept.map((at) => columnOf(job, `column:${result.columns[at]}`, result.columns[at]))),
    Promise.all(series ? [columnOf(job, "time", result.view.time)] : (result.derived ?? []).map((name) => columnOf(job, `column:${name}`, name))),
    array(job, "scores"), array(job, "rows"), structureArrays(job, has, structures),
  ]);
  const images = result.images ? await imagesOf(project) : [];
  return completed({
    columns, derived, scores, rowNumbers, ...nearest,
    total: result.total, noun: result.noun ?? "rows", stem: project.name, unit: result.unit ?? "", reach: result.reach ?? 3,
    structures: structures.slice(0, STRUCTURES),
    thresholds: { ...result.thresholds, above: decoded(result.thresholds.above) },
    // The rate is that of the rows of the fit: it says nothing about another file.
    falseAlarms: result.kind === "score" ? null : result.false_alarms ?? null,
    view: { ...view, places: view.places.map(place), opening: view.opening.map(place) },
    time: series ? { ...derived[0], texts: columns.find((each) => each.name === result.view.time)?.texts ?? null } : null,
    images,
  });
}
