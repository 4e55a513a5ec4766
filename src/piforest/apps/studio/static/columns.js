// Columns and their roles; for images, the keypoints.

import { button, element } from "../web/dom.js";
import { short, whole } from "../web/format.js";
import { get, patch, remove } from "./api.js";
import { banner, card, field, note, say, select, table, trying } from "./ui.js";

const ROLES = {
  coordinate: "coordinate", target: "target", group: "group", quality: "quality", time: "time", ignore: "ignore",
};
const ROLES_TEXT = "Structures are looked for in the coordinates. A target is predicted from them. Samples are drawn within a group, so that what holds in one group is found; all rows are judged together. "
  + "Rows of high quality are trusted first. A time makes the table a series. Ignored columns stay in the output.";

// Changes settings of the project; what is equal to its default is left out. One change after the
// other: two at once would each write the settings of before.
export function saveSettings(project, change) {
  saving = saving.catch(() => {}).then(() => changed(project, change));
  return saving;
}

let saving = Promise.resolve();
// When all changes are saved.
export const settingsSaved = () => saving.catch(() => {});

async function changed(project, change) {
  const settings = { ...project.settings, ...change };
  for (const [name, value] of Object.entries(settings)) if (value === null || value === "auto") delete settings[name];
  Object.assign(project, await patch(`/projects/${project.id}`, { settings }));
}

// A table with a time is judged as a series.
export const kindOf = (project) =>
  (project.kind === "table" && Object.values(project.settings.roles ?? {}).includes("time") ? "series" : project.kind);

function rangeText(each) {
  return each.low === null ? `${whole(each.distinct)} different` : `${short(each.low)} to ${short(each.high)}`;
}

function rolesTable(project, found, redraw) {
  // A target that is only suggested is not saved: other columns would have to keep it.
  const roles = Object.fromEntries(found.columns.map((each) => [each.name, each.suggested ? "coordinate" : each.role]));
  const change = (name, role) => trying(async () => {
    const before = kindOf(project);
    roles[name] = role;
    // One column is the target, the group, the quality or the time: the last one chosen.
    if (role !== "coordinate" && role !== "ignore") {
      for (const other of Object.keys(roles)) {
        if (other !== name && roles[other] === role) roles[other] = role === "target" ? "coordinate" : "ignore";
      }
    }
    await saveSettings(project, { roles });
    for (const control of document.querySelectorAll("[data-role]")) control.value = roles[control.dataset.role];
    if (kindOf(project) !== before || found.columns.some((each) => each.suggested)) await redraw();
    say(`${name}: ${ROLES[role]}.`);
  });
  const rows = found.columns.map((each) => [
    element("b", {}, each.name),
    select(Object.entries(ROLES), each.role, (role) => change(each.name, role), { "data-role": each.name, "aria-label": `Role of ${each.name}`, title: each.reason }),
    each.type, rangeText(each), each.missing ? whole(each.missing) : "none", each.step ? short(each.step, 3) : "none",
    element("span", { class: "code" }, each.sample.slice(0, 3).join(", ")),
  ]);
  return card("Columns", note(ROLES_TEXT), table("Roles of the columns", ["Column", "Role", "Type", "Values", "Missing", "Rounded to", "First values"], rows, [4, 5]));
}

function previewTable(found) {
  // A large file is not read to its end for a look at it.
  const count = found.rows === null ? `more than ${whole(found.looked_at)}` : whole(found.rows);
  const numeric = found.columns.map((_, k) => k).filter((k) => found.columns[k].type === "number");
  const made = table("First rows", found.columns.map((each) => each.name), found.preview.slice(0, 12), numeric);
  made.classList.add("preview");
  return card(`Preview of ${count} rows`, made);
}

// An image with its keypoints over it.
function imageFigure(project, which, image, keypoints, found) {
  const picture = element("img", { src: `/api/projects/${project.id}/images/${which}`, width: image.width, height: image.height, alt: `Image ${which + 1}: ${project.sources[which]?.name ?? ""}` });
  const canvas = element("canvas", { class: "over-image", "aria-hidden": "true" });
  const figure = element("figure", {}, element("div", { class: "stacked" }, picture, canvas), element("figcaption", {},
    `${project.sources[which]?.name ?? "Image"}: ${whole(image.width)} × ${whole(image.height)} pixels${found === undefined ? "" : `, ${whole(found)} keypoints${keypoints.length < found ? `, ${whole(keypoints.length)} of them drawn` : ""}`}.`));
  picture.addEventListener("load", () => {
    Object.assign(canvas, { width: picture.clientWidth * 2, height: picture.clientHeight * 2 });
    const pen = canvas.getContext("2d");
    pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--flagged");
    pen.lineWidth = 2;
    for (const [x, y] of keypoints ?? []) {
      pen.beginPath();
      pen.arc((x / image.width) * canvas.width, (y / image.height) * canvas.height, 4, 0, 7);
      pen.stroke();
    }
  });
  return figure;
}

function imagesCard(project, found) {
  const figures = found.images.map((image, k) => imageFigure(project, k, image, found.keypoints?.[k], found.found?.[k]));
  const text = found.images.length > 1
    ? "Keypoints of the two images are matched with one another. True matches follow a motion, false ones follow none."
    : "Each pixel is a row: its place and its value. What is off the smooth surface around it is anomalous.";
  return card(found.images.length > 1 ? "Images" : "Map", note(text), element("div", { class: "figures" }, ...figures));
}

const KINDS = { table: "a table of rows", scan: "a scan", series: "a series over time", matches: "matches x1, y1, x2, y2", map: "a depth map", pairs: "image pairs" };

// What the file is, if its name leaves that open.
function kindChoice(project, redraw) {
  if (project.kinds.length < 2 || project.jobs.some((job) => job.kind === "detect")) return "";
  const change = (kind) => trying(async () => {
    if (kind === project.kind) await saveSettings(project, { roles: null }); // without the time
    else await patch(`/projects/${project.id}`, { kind });
    await redraw();
  });
  return field("This file is", select(project.kinds.map((kind) => [kind, KINDS[kind] ?? kind]), kindOf(project), change, { id: "kind" }));
}

// A file that cannot be read keeps no project.
function unreadable(project, error) {
  const drop = () => trying(async () => {
    await remove(`/projects/${project.id}`);
    location.hash = "#/";
  });
  return card("This file cannot be read", element("p", { role: "alert" }, error.message),
    note("Correct the file and open it again, or say above that it is something else."),
    element("p", {}, button("Remove the project", drop, { class: "primary" })));
}

export async function columnsPage(context) {
  const { page, project, redraw } = context;
  page.append(element("h1", {}, project.name), kindChoice(project, redraw), note("Looking at the file …"));
  if (project.kind === "pairs") {
    page.lastChild.replaceWith(card("Image pairs", note("Each pair of images of the database is judged by itself.")), nextButton(project));
    return;
  }
  const found = await get(`/projects/${project.id}/columns`).catch((error) => error);
  page.lastChild.remove();
  if (found instanceof Error) {
    page.append(unreadable(project, found));
    return;
  }
  if (found.findings?.length) {
    page.append(banner("To know before you run it", found.findings, (action) => trying(async () => {
      await saveSettings(project, action.settings);
      await redraw();
      say(`${action.label}: done.`);
    }), project.settings));
  }
  if (found.columns) page.append(rolesTable(project, found, redraw), previewTable(found));
  if (found.images) page.append(imagesCard(project, found));
  page.append(nextButton(project));
}

const nextButton = (project) => element("p", { class: "next" },
  button("Next: family", () => { location.hash = `#/p/${project.id}/family`; }, { class: "primary" }));
