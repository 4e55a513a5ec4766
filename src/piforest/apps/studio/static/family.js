// The family of structures: proposals with their evidence, a choice by hand, code, settings.

import { button, element } from "../web/dom.js";
import { whole } from "../web/format.js";
import { array, get, post, remove } from "./api.js";
import { kindOf, saveSettings, settingsSaved } from "./columns.js";
import { familyPicture, rowsPicture } from "./pictures.js";
import { settingsCard } from "./settings.js";
import { card, field, input, note, say, trying } from "./ui.js";
import { isOver, watched } from "./watch.js";

const spoken = (name) => name.replaceAll("_", " ");

const isChosen = (project, families, options) =>
  JSON.stringify(project.settings.families ?? "auto") === JSON.stringify(families)
  && JSON.stringify(project.settings.options ?? {}) === JSON.stringify(options);

async function choose(project, families, options = {}) {
  await saveSettings(project, { families, options: Object.keys(options).length ? options : null });
  say(families === "auto" ? "The family with the most evidence is used." : `Chosen: ${families.map(spoken).join(" and ")}.`);
}

function proposalList(project, result, pictures, chosen) {
  const most = Math.max(...result.proposals.map((each) => each.evidence), 1);
  const automatic = input("radio", "auto", () => trying(() => choose(project, "auto").then(chosen)), { name: "family" });
  automatic.checked = isChosen(project, "auto", {}) && !project.settings.code;
  const first = element("li", { class: "automatic" }, element("label", { class: "proposal" }, automatic,
    element("span", { class: "words" }, element("b", {}, `The one with the most evidence: ${spoken(result.proposals[0].family)}`), element("small", {}, "Taken unless you choose another one."))));
  return element("ul", { class: "proposals" }, result.found ? first : "", ...result.proposals.map((each, k) => {
    const { families, options } = each.settings;
    const radio = input("radio", each.family, () => trying(() => choose(project, families, options).then(chosen)), { name: "family" });
    radio.checked = isChosen(project, families, options);
    const bar = element("span", { class: "evidence", "aria-hidden": "true" });
    bar.style.width = `${Math.max(1, (100 * each.evidence) / most)}%`;
    return element("li", {}, element("label", { class: "proposal" }, radio, pictures[k] ?? familyPicture(families[0]),
      element("span", { class: "words" }, element("b", {}, spoken(each.family)), element("span", { class: "track" }, bar),
        element("small", {}, `${spoken(each.sentence)} Evidence ${whole(Math.round(each.evidence))}.`))));
  }));
}

// The rows that were compared, by whether each follows a structure of a proposal.
async function proposalPictures(job, result) {
  const has = new Set(result.arrays.map((each) => each.name));
  const count = [0, 1, 2, 3, 4, 5].filter((k) => has.has(`point:${k}`)).length;
  const points = await Promise.all(Array.from({ length: count }, (_, k) => array(job, `point:${k}`)));
  return Promise.all(result.proposals.map(async (_, k) =>
    (has.has(`proposal:${k}`) && count > 1 ? rowsPicture(points, await array(job, `proposal:${k}`), result.view.mode) : null)));
}

// What a comparison depends on.
const COMPARED = ["roles", "missing", "dates", "features", "ratio", "pair", "seed"];
const comparedOf = (settings) => Object.fromEntries(COMPARED.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]]));
const WHAT = { matches: "What the matches suggest", pairs: "What the matches suggest" };

// The comparison of families for the settings that are chosen now; `best` gets the settings of the
// family with the most evidence, and `running` the job while it runs.
function proposalsCard(context, redraw, state) {
  const { project, isCurrent } = context;
  const place = element("div", { id: "proposals" });
  const made = card(WHAT[project.kind] ?? "What the rows suggest", place);
  const same = (job) => job.kind === "suggest" && job.state !== "cancelled"
    && JSON.stringify(comparedOf(job.settings)) === JSON.stringify(comparedOf(project.settings));
  const over = (job) => trying(async () => {
    state.running = null;
    if (job.state !== "done") {
      place.replaceChildren(note(job.state === "cancelled" ? "The comparison was cancelled." : `Families were not compared: ${job.error}`), again());
      return;
    }
    const result = await get(`/jobs/${job.id}/result`);
    const found = result.proposals?.length ? proposalList(project, result, await proposalPictures(job.id, result), redraw) : note(result.reason ?? "No family stands out from chance.");
    state.best = result.found ? result.proposals[0].settings : null;
    place.replaceChildren(note(result.found ? result.reason ?? "" : result.headline), found, note("Evidence says how much better a family describes the rows than chance does, in nats: higher is better. In the pictures, the rows that follow a structure are blue."));
  });
  const start = () => trying(async () => {
    follow(await post(`/projects/${project.id}/jobs`, { kind: "suggest", settings: comparedOf(project.settings) }));
  });
  const follow = (job) => {
    state.running = job;
    place.replaceChildren(watched(job, { isCurrent, over }));
  };
  const again = () => button("Compare families", start);
  const known = project.jobs.filter(same).at(-1);
  if (!known) start();
  else if (isOver(known)) over(known);
  else follow(known);
  return made;
}

// Families that fit rows of this project; `count`: its columns, null if they are not known.
function fitting(project, families, count) {
  const kinds = {
    matches: ["matches"], pairs: ["matches"], map: ["table"], series: ["table", "points"],
  }[kindOf(project)] ?? ["points", "table", "oriented points", "segments", "matches"];
  return families.filter((each) => kinds.includes(each.kind)
    && (count === null || (each.columns === null ? each.least_columns <= count : each.columns === count)));
}

// How many columns a run would take.
async function columnCount(project) {
  if (!["table", "scan", "series"].includes(project.kind)) return { map: 3, matches: 4, pairs: 4 }[project.kind] ?? null;
  const { columns } = await get(`/projects/${project.id}/columns`);
  return columns.filter((each) => ["coordinate", "target"].includes(each.role)).length;
}

// What a run takes if nothing is chosen and nothing is compared.
const USUAL = {
  map: "Without a choice, a surface is described by polynomials in overlapping windows.",
  series: "Without a choice, the rows of overlapping windows of time follow a linear relation between the channels; a single channel follows straight lines.",
  pairs: "Without a choice, pairs of images are described by fundamental matrices.",
};

function choiceCard(project, families, proposes, open) {
  const made = element("details", { class: "card" }, element("summary", {}, "Choose or combine families by hand"));
  const chosen = new Set(Array.isArray(project.settings.families) ? project.settings.families : []);
  made.open = open || chosen.size > 1;
  const options = { ...project.settings.options };
  const details = element("div", { class: "options" });
  const save = () => trying(() => choose(project, chosen.size ? [...chosen] : "auto", options));
  const showOptions = () => {
    const named = families.filter((each) => chosen.has(each.name)).flatMap((each) => Object.entries(each.options));
    details.replaceChildren(...named.filter(([name]) => name !== "target").map(([name, usual]) =>
      field(spoken(name), typeof usual === "boolean"
        ? input("checkbox", options[name] ?? usual, (value) => { options[name] = value; save(); })
        : input(typeof usual === "number" ? "number" : "text", options[name] ?? usual, (value) => {
          options[name] = typeof usual === "number" ? Number(value) : value;
          save();
        }, { step: "any" }))));
  };
  const boxes = families.map((each) => {
    const box = input("checkbox", chosen.has(each.name), (on) => {
      if (on) chosen.add(each.name);
      else chosen.delete(each.name);
      for (const name of Object.keys(each.options)) if (!on) delete options[name];
      showOptions();
      save();
    }, { "data-family": each.name });
    return element("li", {}, element("label", { class: "proposal" }, box, familyPicture(each.name),
      element("span", { class: "words" }, element("b", {}, spoken(each.name)), element("small", {}, `${each.sentence.replaceAll("`", "")} Rows: ${each.row}.`))));
  });
  showOptions();
  made.append(note(proposes ? "Without a choice, families are compared and the one with the most evidence is used." : USUAL[kindOf(project)] ?? ""), details, element("ul", { class: "proposals small" }, ...boxes));
  return made;
}

const TEMPLATE = `import numpy as np

sample_size = 2  # points that define a structure


def fit(points):
    """The parameters of the structure through sample_size points; None if there is none."""
    (x1, y1), (x2, y2) = points
    if x1 == x2:
        return None
    slope = (y2 - y1) / (x2 - x1)
    return np.array([slope, y1 - slope * x1])


def residuals(X, params):
    """The distance of each row to the structure."""
    slope, intercept = params
    return np.abs(X[:, 1] - slope * X[:, 0] - intercept)
`;

function codeCard(project) {
  const area = element("textarea", { rows: "14", spellcheck: "false", class: "code", "aria-label": "Two functions in Python" });
  area.value = project.settings.code?.source ?? TEMPLATE;
  return element("details", { class: "card" }, element("summary", {}, "Write a family: two functions in Python"),
    note("They run on this machine with your rights."), area,
    element("p", {}, button("Use these functions", () => trying(async () => {
      await saveSettings(project, { code: { source: area.value }, families: null, options: null });
      say("Your functions are used.");
    })), " ", button("Do not use them", () => trying(() => saveSettings(project, { code: null })), { class: "quiet" })));
}

export async function familyPage(context) {
  const { page, project, studio } = context;
  const proposes = ["table", "scan", "matches"].includes(kindOf(project)) || (project.kind === "pairs" && project.settings.pair);
  const known = { best: null, running: null };
  const families = fitting(project, studio.about.families, await columnCount(project));
  const draw = () => {
    const before = page.querySelector(".choice"), choice = choiceCard(project, families, proposes, before ? before.open : !proposes);
    choice.classList.add("choice");
    before?.replaceWith(choice);
    return choice;
  };
  page.append(element("h1", {}, `What should the ${{ matches: "matches", pairs: "matches", map: "pixels" }[project.kind] ?? "rows"} follow?`));
  if (proposes) page.append(proposalsCard(context, draw, known));
  page.append(draw());
  if (studio.about.allow_code && ["table", "scan"].includes(project.kind)) page.append(codeCard(project));
  page.append(settingsCard(project), element("p", { class: "next" }, button("Run", () => trying(async () => {
    await settingsSaved();
    const { settings } = project;
    // What is compared already need not be compared again.
    const free = !settings.families && !settings.code && known.best;
    const job = await post(`/projects/${project.id}/jobs`, { kind: "detect", settings: free ? { ...settings, ...known.best } : settings });
    if (known.running) trying(() => remove(`/jobs/${known.running.id}`));
    location.hash = `#/p/${project.id}/run/${job.id}`;
  }), { class: "primary", id: "run" })));
}
