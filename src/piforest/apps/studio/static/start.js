// The first page: drop or choose a file, a file by its path, an example, or an earlier project.

import { button, element } from "../web/dom.js";
import { get, post, remove, upload } from "./api.js";
import { kindOf } from "./columns.js";
import { examplePicture } from "./pictures.js";
import { bytes, card, note, say, trying } from "./ui.js";

const KINDS = {
  table: "a table", scan: "a scan", matches: "matches", map: "a map", series: "a series",
  pairs: "image pairs", model: "a model", image: "an image", colmap: "a COLMAP database", folder: "a folder", project: "a project",
};

const FORMATS = [
  ["Tables and series", "CSV, TSV, Excel, Parquet, Arrow, JSON lines, NumPy, Matlab; also compressed by gzip, bzip2 or xz"],
  ["Scans", "PLY, PCD, LAS, LAZ, XYZ"], ["Two images", "PNG, JPEG, TIFF, WebP, BMP; choose both at once"],
  ["A depth map", "one PNG or TIFF of one channel, or .npy"], ["Matches", "a table with x1, y1, x2, y2; .npz of LightGlue, SuperGlue or LoFTR; .h5 of hloc; a COLMAP .db"],
];

// Opens a project of sources that the server has.
export async function openProject(sources) {
  const project = sources[0].kind === "project"
    ? await post("/projects/open", { source: sources[0].id })
    : await post("/projects", { sources: sources.map((each) => each.id) });
  location.hash = `#/p/${project.id}/${project.kind === "model" ? "score" : "columns"}`;
}

async function openFiles(files, limit) {
  const large = files.find((each) => each.size > limit);
  if (large) throw new Error(`${large.name} has ${bytes(large.size)}; uploads have at most ${bytes(limit)}. Choose it by its path below.`);
  const sources = [];
  for (const file of files) {
    say(`Reading ${file.name} …`);
    sources.push(await upload(file));
  }
  say("");
  await openProject(sources);
}

function dropZone(limit) {
  const picker = element("input", { type: "file", multiple: "", id: "picker", class: "picker" });
  picker.addEventListener("change", () => trying(() => openFiles([...picker.files], limit)));
  const zone = element("section", { class: "drop", "aria-labelledby": "drop-title" },
    element("h1", { id: "drop-title" }, "Drop a file, see what follows no pattern"),
    element("p", {}, "A table, a scan, two images, matches, a depth map, a series, a COLMAP database, a model, or a project of Studio."),
    element("details", {}, element("summary", {}, "Which files?"), ...FORMATS.map(([what, endings]) => element("p", {}, element("b", {}, `${what}: `), endings))),
    element("p", {}, picker, element("label", { for: "picker", class: "primary" }, "Choose files")),
    note(`Up to ${bytes(limit)}. Files stay on this machine.`));
  const over = (event) => {
    event.preventDefault();
    zone.classList.add("over");
  };
  zone.addEventListener("dragover", over);
  zone.addEventListener("dragenter", over);
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    trying(() => openFiles([...event.dataTransfer.files], limit));
  });
  return zone;
}

async function exampleCards() {
  const examples = await get("/examples");
  const open = (name) => trying(async () => openProject(await post("/sources/example", { name })));
  return card("Or look at an example", element("ul", { class: "examples" }, ...examples.map((each) =>
    element("li", {}, button("", () => open(each.name), { class: "example", "data-example": each.name }))).map((item, k) => {
    item.firstChild.append(examplePicture(examples[k]), element("b", {}, examples[k].title), element("span", {}, examples[k].story));
    return item;
  })));
}

// The files of the folders that Studio may read; `chosen` gets the path of a file.
export function folderBrowser(chosen, title = "Or read a large file where it is, without an upload", wholeFolder = null) {
  const list = element("ul", { class: "files" }), where = element("p", { class: "origin" });
  const show = (path) => trying(async () => {
    const found = await get(`/folders?path=${encodeURIComponent(path)}`);
    where.textContent = found.path ?? "Folders that Studio may read";
    const up = found.path ? [{ name: "..", path: found.parent ?? "", kind: "folder" }] : [];
    list.replaceChildren(...[...up, ...found.entries].map((each) => element("li", {},
      button(each.kind === "folder" ? `${each.name}/` : each.name, () => (each.kind === "folder" ? show(each.path) : chosen(each.path)), { class: "link" }),
      element("span", { class: "note" }, each.kind === "folder" ? "" : `${KINDS[each.kind] ?? each.kind}, ${bytes(each.bytes)}`))));
    if (wholeFolder && found.path) list.prepend(element("li", {}, button("Score all files of this folder", () => wholeFolder(found.path), { class: "small" })));
    if (found.more) list.append(element("li", { class: "note" }, `and ${found.more} more`));
  });
  const details = element("details", { class: "card" }, element("summary", {}, title), where, list);
  details.addEventListener("toggle", () => details.open && !list.children.length && show(""));
  return details;
}

// Projects that are listed at once.
const FIRST = 6;

async function recentProjects() {
  const projects = await get("/projects");
  if (!projects.length) return "";
  const items = projects.map((each) => {
    const done = each.jobs.some((job) => job.kind === "detect" && job.state === "done");
    const item = element("li", {},
      element("a", { href: `#/p/${each.id}/${done ? "result" : "columns"}` }, each.name),
      element("span", { class: "note" }, `${KINDS[kindOf(each)] ?? each.kind}, ${stateText(each)}`));
    item.append(button("Remove", () => trying(async () => {
      if (!window.confirm(`Remove the project ${each.name}, its uploads and results?`)) return;
      await remove(`/projects/${each.id}`);
      item.remove();
    }), { class: "quiet small", "aria-label": `Remove ${each.name}` }));
    return item;
  });
  const rest = items.splice(FIRST);
  return card("Your projects", element("ul", { class: "files" }, ...items),
    rest.length ? element("details", {}, element("summary", {}, `${rest.length} more`), element("ul", { class: "files" }, ...rest)) : "");
}

function stateText(project) {
  const runs = project.jobs.filter((job) => job.kind === "detect");
  if (!runs.length) return "not run yet";
  if (runs.some((job) => job.state === "running" || job.state === "queued")) return "running";
  return `${runs.length} run${runs.length > 1 ? "s" : ""}`;
}

export async function startPage({ page, studio }) {
  const { limits, folders } = studio.about;
  page.append(dropZone(limits.max_upload));
  const [examples, projects] = await Promise.all([exampleCards(), recentProjects()]);
  page.append(projects, examples);
  if (folders.length) {
    page.append(folderBrowser((path) => trying(async () => openProject([await post("/sources/path", { path })]))));
  }
  page.append(element("footer", {}, `piforest ${studio.about.version}. Everything stays on this machine.`));
}
