// New files, scored with the model of a run.

import { element } from "../web/dom.js";
import { get, post, upload } from "./api.js";
import { kindOf } from "./columns.js";
import { scoredName } from "./runs.js";
import { folderBrowser } from "./start.js";
import { card, note, say, trying } from "./ui.js";
import { isOver, watched } from "./watch.js";

// Whether a run leaves a model that scores other files.
export const scoresOthers = (project) => project.kind === "model"
  || (["table", "scan", "matches"].includes(kindOf(project)) && !project.settings.local);

export async function scorePage({ page, project, isCurrent }) {
  const runs = project.jobs.filter((each) => each.kind === "detect" && each.state === "done");
  const model = project.kind === "model" ? null : runs.at(-1)?.id;
  const place = element("div");
  page.append(element("h1", {}, "Score new files"));
  if (!scoresOthers(project)) {
    page.append(card("Not for this result", note("Maps, series, pairs of images and results in windows are judged by what lies around each place: they have no model for another file. Open the other file as a project of its own and run it.")));
    return;
  }
  if (project.kind !== "model" && !model) {
    page.append(card("No model yet", note("Run a detection first.")));
    return;
  }
  const over = (job) => {
    if (job.state === "done" && isCurrent()) location.hash = `#/p/${project.id}/result/${job.id}`;
    else place.replaceChildren(element("p", { role: "alert" }, job.error ?? "The scoring was cancelled."));
  };
  const start = (more) => trying(async () => {
    const job = await post(`/projects/${project.id}/jobs`, { kind: "score", settings: { ...more, ...(model ? { job: model } : {}) } });
    place.replaceChildren(isOver(job) ? "" : watched(job, { isCurrent, over }));
    if (isOver(job)) over(job);
  });
  const list = element("div");
  // The list follows the jobs of a folder until all have ended.
  const follow = async () => {
    const now = await get(`/projects/${project.id}`).catch(() => project);
    if (!isCurrent()) return;
    showScored(now, list);
    if (now.jobs.some((each) => !isOver(each))) setTimeout(follow, 1000);
  };
  const startFolder = (folder) => trying(async () => {
    const jobs = await post(`/projects/${project.id}/score-folder`, { folder, settings: model ? { job: model } : {} });
    say(`${jobs.length} files are being scored.`);
    await follow();
  });
  const picker = element("input", { type: "file", id: "score-picker", class: "picker" });
  picker.addEventListener("change", () => trying(async () => start({ source: (await upload(picker.files[0])).id })));
  page.append(
    card("A file", note("Its rows get the scores, structures and verdicts of the model. Its columns must have the names that the model was fitted on."),
      element("p", {}, picker, element("label", { for: "score-picker", class: "primary" }, "Choose a file")), place),
    folderBrowser((path) => trying(async () => start({ source: (await post("/sources/path", { path })).id })),
      "Or a file by its path, or a whole folder, without an upload", startFolder),
    list,
  );
  showScored(project, list);
}

function showScored(project, place) {
  const scored = project.jobs.filter((each) => each.kind === "score");
  if (!scored.length) return;
  place.replaceChildren(card("Scored files", element("ul", { class: "files" }, ...scored.map((each) => element("li", {},
    each.state === "done" ? element("a", { href: `#/p/${project.id}/result/${each.id}` }, scoredName(project, each)) : scoredName(project, each),
    scoredText(each))))));
}

// What a scored file has, asked for once.
const headlines = new Map();

function scoredText(job) {
  const made = element("span", { class: "note" }, job.error ?? headlines.get(job.id) ?? { done: "done", queued: "waiting", running: "running" }[job.state] ?? job.state);
  if (job.state === "done" && !headlines.has(job.id)) {
    get(`/jobs/${job.id}/result`).then(({ headline }) => { headlines.set(job.id, headline); made.textContent = headline; }, () => {});
  }
  return made;
}
