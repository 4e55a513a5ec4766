// Two runs side by side: which rows one flags and the other does not.

import { button, element } from "../web/dom.js";
import { whole } from "../web/format.js";
import { pinInSight } from "../web/row.js";
import { array, get } from "./api.js";
import { keptThreshold } from "./current.js";
import { longName, runName } from "./runs.js";
import { card, field, note, select, table, trying } from "./ui.js";

// Rows that are listed at most.
const LISTED = 50;

// The scores of a run by the numbers of its rows, and where its slider stands.
async function scoresOf(job) {
  const [result, rows, scores] = await Promise.all([get(`/jobs/${job.id}/result`), array(job.id, "rows"), array(job.id, "scores")]);
  const threshold = keptThreshold(job.id) ?? result.summary.threshold;
  return { threshold, partial: result.shown < result.total, scores: new Map(Array.from(rows, (row, k) => [row, scores[k]])) };
}

export function compared(one, other) {
  const counts = { both: 0, one: 0, other: 0, neither: 0, alone: 0 }, differ = [];
  for (const [row, score] of one.scores) {
    const theirs = other.scores.get(row);
    if (theirs === undefined) {
      counts.alone += 1;
      continue;
    }
    const mine = score > one.threshold, yours = theirs > other.threshold;
    counts[mine ? (yours ? "both" : "one") : yours ? "other" : "neither"] += 1;
    if (mine !== yours) differ.push({ row, mine, score, theirs });
  }
  for (const row of other.scores.keys()) counts.alone += one.scores.has(row) ? 0 : 1;
  return { counts, differ };
}

function countsTable({ counts }, mine, yours) {
  return table("Rows by the verdicts of both runs", ["", `flagged by ${yours}`, `kept by ${yours}`], [
    [element("b", {}, `flagged by ${mine}`), whole(counts.both), whole(counts.one)],
    [element("b", {}, `kept by ${mine}`), whole(counts.other), whole(counts.neither)],
  ], [1, 2]);
}

// A row is pinned in the view of the run that is shown, if it has the row.
function rowsTable({ differ }, mine, yours, studio) {
  const show = (row) => {
    const plot = studio.plot, at = plot ? plot.data.rowNumbers.indexOf(row) : -1;
    if (at < 0) return;
    pinInSight(plot, at);
    plot.canvas.scrollIntoView({ block: "center" });
  };
  const first = differ.sort((a, b) => Math.max(b.score, b.theirs) - Math.max(a.score, a.theirs)).slice(0, LISTED);
  return table("Rows that only one run flags", ["Row", "Flagged by", `Score in ${mine}`, `Score in ${yours}`], first.map((each) => [
    button(String(each.row), () => show(each.row), { class: "small", "aria-label": `Show row ${each.row} in the view` }),
    each.mine ? mine : yours, each.score.toFixed(4), each.theirs.toFixed(4),
  ]), [2, 3]);
}

export function runsCard({ project, studio, isCurrent }, job, others) {
  const place = element("div", { id: "two-runs" });
  const mine = runName(project, job);
  const show = (id) => trying(async () => {
    const other = others.find((each) => each.id === id);
    if (!other) {
      place.replaceChildren();
      return;
    }
    const yours = runName(project, other), [own, theirs] = await Promise.all([scoresOf(job), scoresOf(other)]);
    if (!isCurrent()) return;
    const found = compared(own, theirs), { counts, differ } = found;
    const parts = [countsTable(found, mine, yours)];
    if (counts.alone) parts.push(note(`${whole(counts.alone)} rows have a score in one of the runs only.`));
    if (own.partial || theirs.partial) parts.push(note("Only rows that both pages hold are counted: large files are shown in part."));
    if (differ.length) parts.push(element("h3", {}, differ.length > LISTED ? `The ${LISTED} highest of ${whole(differ.length)} rows that only one run flags` : "Rows that only one run flags"), rowsTable(found, mine, yours, studio));
    else parts.push(note("Both flag the same rows."));
    place.replaceChildren(...parts, note("Each run at its threshold, where its slider stands. Scores of runs with other families or settings have no common scale: compare verdicts, not scores."));
  });
  const control = select([["", "choose a run"], ...others.map((each) => [each.id, longName(project, each)])], "", show, { id: "other-run" });
  return card("Compare with another run", field("Other run", control), place);
}
