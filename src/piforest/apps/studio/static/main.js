// The router: one page for each step of a project.

import { element } from "../web/dom.js";
import { startTheme } from "../web/theme.js";
import { themeChanged } from "../web/plot.js";
import { get } from "./api.js";
import { columnsPage } from "./columns.js";
import { familyPage } from "./family.js";
import { resultPage } from "./result.js";
import { runPage } from "./run.js";
import { scorePage } from "./score.js";
import { startPage } from "./start.js";
import { takePage } from "./take.js";
import { $, note, say } from "./ui.js";

const STEPS = [
  ["columns", "Columns", columnsPage], ["family", "Family", familyPage], ["run", "Run", runPage],
  ["result", "Result", resultPage], ["score", "Score new files", scorePage], ["take", "Take away", takePage],
];
const firstStep = ({ kind, sources }) => (kind === "map" ? "Map" : kind === "matches" && sources[0].kind === "image" ? "Images" : "Columns");

// What the page that is shown must undo before another one is.
let leave = () => {};
let shown = 0;
const studio = { about: null, plot: null };

function showSteps(project, current) {
  const nav = $("steps");
  nav.hidden = !project;
  $("project-name").textContent = project ? project.name : "";
  if (!project) return;
  const done = project.jobs.some((each) => each.kind === "detect" && each.state === "done");
  const possible = (name) => {
    if (project.kind === "model") return ["score", "result", "take"].includes(name);
    return done || !["result", "score", "take"].includes(name);
  };
  nav.replaceChildren(element("ol", {}, ...STEPS.map(([name, title], k) => {
    const text = name === "columns" ? firstStep(project) : title;
    const number = element("span", { class: "step", "aria-hidden": "true" }, String(k + 1));
    const item = possible(name)
      ? element("a", { href: `#/p/${project.id}/${name}`, ...(name === current ? { "aria-current": "step" } : {}) }, number, text)
      : element("span", { class: "later", "aria-disabled": "true", title: "After a run." }, number, text);
    return element("li", {}, item);
  })));
}

async function route() {
  leave();
  leave = () => {};
  studio.plot = null;
  const [, where, id, step = "columns", job] = location.hash.slice(1).split("/");
  const turn = (shown += 1);
  const page = element("div", { class: "page" });
  const current = { page, studio, isCurrent: () => turn === shown, onLeave: (action) => { leave = action; } };
  try {
    studio.about ??= await get("/about");
    const project = where === "p" ? await get(`/projects/${id}`) : null;
    if (!current.isCurrent()) return;
    const [name, title, make] = STEPS.find(([each]) => each === step) ?? STEPS[0];
    showSteps(project, name);
    document.title = project ? `${title}: ${project.name} – piforest Studio` : "piforest Studio";
    $("main").replaceChildren(page);
    if (project) await make({ ...current, project, job, redraw });
    else await startPage(current);
  } catch (error) {
    if (current.isCurrent()) showProblem(error);
  }
}

function showProblem(error) {
  $("main").replaceChildren(element("div", { class: "page" }, element("h1", {}, "That did not work"),
    element("p", { role: "alert" }, error.message), element("p", {}, element("a", { href: "#/" }, "Back to the start"))));
}

// The page again, after what it shows has changed.
async function redraw() {
  await route();
  $("main").focus({ preventScroll: true });
}

window.addEventListener("hashchange", async () => {
  say("");
  await redraw();
  window.scrollTo(0, 0);
});
startTheme($("theme"), () => studio.plot && themeChanged(studio.plot), "piforest-theme");
$("main").replaceChildren(note("Loading …"));
route();
