// The result: the view, the threshold, the reason of a row, structures, marks, the diagnosis.

import { viewCards } from "../web/cards.js";
import { completed } from "../web/data.js";
import { element } from "../web/dom.js";
import { whole } from "../web/format.js";
import { createFullPlot } from "../web/full.js";
import { setThreshold } from "../web/state.js";
import { get, post } from "./api.js";
import { compareSwitch } from "./compare.js";
import { saveSettings } from "./columns.js";
import { keepThreshold, keptThreshold, thresholdQuery } from "./current.js";
import { runsCard } from "./compareruns.js";
import { marksCard } from "./marks.js";
import { pairsCard } from "./pairs.js";
import { longName, scoredName } from "./runs.js";
import { resultData } from "./resultdata.js";
import { foundCard } from "./found.js";
import { banner, card, field, note, select, soon, trying } from "./ui.js";

// Why the pinned row is anomalous, or not; asked when it is pinned.
function startReasons(plot, job) {
  let turn = 0;
  const ask = () => {
    if (plot.state.pinned < 0) return;
    const mine = (turn += 1);
    get(`/jobs/${job}/explain/${plot.data.rowNumbers[plot.state.pinned]}${thresholdQuery(job)}`).then(
      (found) => { if (mine === turn) showReason(plot, found); },
      (error) => { if (mine === turn) showReason(plot, { text: `No reason: ${error.message}` }); },
    );
  };
  plot.on((what) => {
    if (what !== "pin" || plot.state.pinned < 0) return;
    showReason(plot, { text: "Looking for the reason …" });
    ask();
  });
  // The card is written again when the threshold moves; its reason stays until there is another.
  const later = soon(ask);
  plot.on((what) => {
    if (what !== "threshold" || !plot.reason || plot.state.pinned !== plot.reason.row) return;
    showReason(plot, plot.reason.found);
    later();
  });
}

function showReason(plot, found) {
  plot.reason = { row: plot.state.pinned, found };
  const text = found.text ? `${found.text[0].toUpperCase()}${found.text.slice(1)}` : "";
  const place = plot.$("reason") ?? element("p", { class: "reason", id: "reason" });
  place.textContent = text;
  if (!place.isConnected) plot.$("pinned").querySelector("dl")?.before(place);
}

// A way out of a finding: other settings, and a new run.
const takeWayOut = (project) => (action) => trying(async () => {
  await saveSettings(project, action.settings);
  const job = await post(`/projects/${project.id}/jobs`, { kind: "detect", settings: project.settings });
  location.hash = `#/p/${project.id}/run/${job.id}`;
});

// The result in one sentence; that of the run, unless the threshold moved or `own` is false.
function showHeadline(text, result, plot, own) {
  const share = () => ((100 * plot.state.flagged) / plot.data.total).toFixed(1);
  const update = () => {
    const same = own && plot.state.threshold === plot.data.thresholds.initial;
    text.textContent = same && result.headline ? result.headline
      : `${whole(plot.state.flagged)} of ${whole(plot.data.total)} ${plot.data.noun} are flagged (${share()} %) at this threshold.`;
  };
  plot.on((what) => what === "threshold" && update());
  update();
}

// Defects and stretches are found again where the slider stands.
function followThreshold(plot, { job, project, result, isCurrent, text }) {
  let shown = foundCard(plot, project, result);
  if (!result.defects && !result.runs) return shown;
  const replace = (found) => {
    const next = foundCard(plot, project, found);
    shown.replaceWith(next);
    shown = next;
    text.textContent = found.headline;
  };
  const later = soon(() => trying(async () => {
    const at = keptThreshold(job), found = at === null ? result : await get(`/jobs/${job}/found${thresholdQuery(job)}`);
    if (isCurrent() && plot === plot.current() && at === keptThreshold(job)) replace(found);
  }));
  plot.on((what) => what === "threshold" && later());
  if (keptThreshold(job) !== null) later();
  return shown;
}

function runChoice(project, runs, chosen) {
  if (runs.length < 2) return "";
  return field("Result of", select(runs.map((each) => [each.id, longName(project, each)]), chosen.id, (id) => { location.hash = `#/p/${project.id}/result/${id}`; }, { id: "result-of" }));
}

// The parts that belong to one set of scores; made again when another method is shown.
function drawView(context, data, own) {
  const { place, job, project, result, studio, text } = context;
  studio.plot?.remove();
  const { view, threshold, row } = viewCards(data);
  const main = element("div", {}, view), side = element("div", { class: "side" }, threshold, row);
  const work = element("div", { class: `work ${data.view.mode === "3d" || data.view.mode === "2d" ? "" : "wide"}` }, main, side);
  place.replaceChildren(work);
  const plot = createFullPlot(document, data);
  studio.plot = plot;
  plot.current = () => studio.plot;
  if (own) {
    if (result.points || result.runs) startReasons(plot, job);
    const kept = keptThreshold(job);
    if (kept !== null) setThreshold(plot, kept);
    plot.on((what) => what === "threshold" && keepThreshold(job, plot.state.threshold === data.thresholds.initial ? null : plot.state.threshold));
    // Marks are rows of the project's file, not of another file that was scored.
    if (data.view.mode !== "map" && result.kind === "detect") (work.classList.contains("wide") ? side : main).append(marksCard(plot, project, job));
    place.append(followThreshold(plot, context));
  }
  showHeadline(text, result, plot, own);
  return plot;
}

export async function resultPage({ page, project, job, isCurrent, onLeave, studio }) {
  const runs = project.jobs.filter((each) => ["detect", "score"].includes(each.kind) && each.state === "done");
  const chosen = runs.find((each) => each.id === job) ?? runs.filter((each) => each.kind === "detect").at(-1) ?? runs.at(-1);
  page.append(element("h1", {}, chosen?.kind === "score" ? scoredName(project, chosen) : project.name));
  if (chosen?.kind === "score") page.append(note(`Scored by the model of ${project.name}.`));
  if (!chosen) {
    page.append(card("No result yet", note("No run has ended."), element("p", {}, element("a", { href: `#/p/${project.id}/run` }, "To the runs"))));
    return;
  }
  const loading = note("Loading the result …");
  page.append(loading);
  const result = await get(`/jobs/${chosen.id}/result`);
  const choice = runChoice(project, runs, chosen), place = element("div");
  const text = element("p", { class: "headline", id: "headline", "aria-live": "polite" });
  const findings = result.diagnosis?.length ? banner("To know before you use the result", result.diagnosis, takeWayOut(project), chosen.settings) : "";
  if (result.pairs) {
    loading.replaceWith(choice, findings, pairsCard(project, result));
    return;
  }
  const data = await resultData(chosen.id, result, project);
  if (!isCurrent()) return;
  loading.replaceWith(choice, text, findings, place);
  const context = { place, job: chosen.id, project, result, studio, isCurrent, text };
  drawView(context, data, true);
  if (result.points && chosen.kind === "detect") {
    const show = (other, method) => {
      // What to know is about piforest's result, not about that of another method.
      if (findings) findings.hidden = method !== "piforest";
      drawView(context, completed(other), method === "piforest");
    };
    place.before(compareSwitch(context, data, show));
  }
  const others = runs.filter((each) => each.kind === "detect" && each !== chosen);
  if (chosen.kind === "detect" && others.length && data.view.mode !== "map") page.append(runsCard(context, chosen, others));
  onLeave(() => studio.plot?.remove());
}
