// A run: its progress, and what came of it.

import { button, element } from "../web/dom.js";
import { get, post } from "./api.js";
import { longName, runName, settingsText } from "./runs.js";
import { card, codeBlock, note, trying } from "./ui.js";
import { isOver, watched } from "./watch.js";

const STATES = { done: "done", failed: "failed", cancelled: "cancelled", interrupted: "interrupted", running: "running", queued: "waiting" };

function runsList(project, others) {
  const items = others.map((each) => element("li", {},
    element("a", { href: `#/p/${project.id}/${each.state === "done" ? "result" : "run"}/${each.id}` }, longName(project, each)),
    element("span", { class: "note" }, `${STATES[each.state] ?? each.state}${each.seconds ? `, ${each.seconds.toFixed(1)} s` : ""}`)));
  return card("Other runs", element("ul", { class: "files" }, ...items.reverse()));
}

const start = (project) => trying(async () => {
  const job = await post(`/projects/${project.id}/jobs`, { kind: "detect", settings: project.settings });
  location.hash = `#/p/${project.id}/run/${job.id}`;
});

function ended(project, job) {
  const made = element("div");
  if (job.state === "done") {
    made.append(element("p", {}, `Done in ${job.seconds?.toFixed(1)} s.`),
      element("p", {}, element("a", { class: "primary", href: `#/p/${project.id}/result/${job.id}` }, "See the result")));
    return made;
  }
  const words = { failed: "The run failed.", cancelled: "The run was cancelled. Nothing of it is kept.", interrupted: "Studio ended during this run, and the run with it. The same settings give the same result." };
  made.append(element("p", { role: "alert" }, words[job.state] ?? job.state));
  if (job.error && job.state === "failed") made.append(element("p", { class: "reason" }, job.error));
  made.append(element("p", { class: "buttons" }, button("Run again", () => start(project), { class: "primary" }),
    button("Change the settings", () => { location.hash = `#/p/${project.id}/family`; })));
  return made;
}

export async function runPage({ page, project, job, isCurrent }) {
  const runs = project.jobs.filter((each) => each.kind === "detect");
  const chosen = runs.find((each) => each.id === job) ?? runs.at(-1);
  page.append(element("h1", {}, "Run"));
  if (!chosen) {
    page.append(card("No run yet", note("The settings are those of the pages before."),
      element("p", {}, button("Run", () => start(project), { class: "primary" }))));
    return;
  }
  const place = element("div");
  const over = async (last) => {
    if (last.state === "done" && isCurrent()) location.hash = `#/p/${project.id}/result/${last.id}`;
    else place.replaceChildren(ended(project, last));
  };
  const now = await get(`/jobs/${chosen.id}`);
  place.append(isOver(now) ? ended(project, now) : watched(now, { isCurrent, over }));
  const more = isOver(now) ? "" : note("The run goes on if this page is closed.");
  const others = runs.filter((each) => each !== chosen);
  page.append(card(runName(project, chosen), note(settingsText(chosen)), place, more, codeBlock("The command that runs", now.command ?? "")), others.length ? runsList(project, others) : "");
}
