// What a run leaves: files, the command and the Python that repeat it, a project file.

import { element } from "../web/dom.js";
import { get, prepare, text } from "./api.js";
import { keptThreshold, thresholdQuery } from "./current.js";
import { longName } from "./runs.js";
import { card, codeBlock, field, note, say, select, trying } from "./ui.js";

const FILES = {
  "rows.csv": "Every row with its score and verdict, as CSV",
  "rows.parquet": "The same as Parquet",
  "report.html": "A report in one HTML file that opens anywhere",
  "model.pif": "The model, which scores other files: under Score new files, or in Python",
  "picture.svg": "The view as a drawing that scales (SVG)",
  "picture.png": "The view as an image (PNG)",
  "rows.ply": "The points with their scores, as PLY",
  "surfaces.json": "The structures with their parameters and extents",
  "runs.csv": "The anomalous stretches, a row each",
  "defects.csv": "The defects, a row each",
  "scores.npy": "The score of each pixel, as NumPy reads it",
  "pairs.csv": "The pairs of images, a row each",
  "filtered.db": "The database with the kept matches",
  "command.sh": "The command that repeats the run",
  "script.py": "The Python script that repeats the run",
};
const CODE = { "command.sh": "The command", "script.py": "In Python" };

// Rows of windows belong to no structure.
const about = (name, result) => (name === "rows.csv" && result.arrays.some((each) => each.name === "structure")
  ? "Every row with its score, verdict, structure and distance, as CSV" : FILES[name] ?? "");

// A file is made when it is first asked for. What goes wrong then is said here: the browser would
// only show a download that failed.
function fileLink(path, name) {
  const link = element("a", { href: `/api${path}`, download: name }, name);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    trying(async () => {
      say(`Making ${name} …`);
      await prepare(path);
      say("");
      element("a", { href: `/api${path}`, download: name }).click();
    });
  });
  return link;
}

export async function takePage({ page, project, job }) {
  const runs = project.jobs.filter((each) => ["detect", "score"].includes(each.kind) && each.state === "done");
  const chosen = runs.find((each) => each.id === job) ?? runs.at(-1);
  page.append(element("h1", {}, "Take away"));
  if (!chosen) {
    page.append(card("Nothing yet", note("No run has ended.")));
    return;
  }
  if (runs.length > 1) page.append(field("Of", select(runs.map((each) => [each.id, longName(project, each)]), chosen.id, (id) => { location.hash = `#/p/${project.id}/take/${id}`; }, { id: "take-of" })));
  const query = thresholdQuery(chosen.id), result = await get(`/jobs/${chosen.id}/result`);
  const items = result.files.map((name) => element("li", {},
    fileLink(`/jobs/${chosen.id}/files/${name}${query}`, name),
    element("span", { class: "note" }, about(name, result))));
  const kept = keptThreshold(chosen.id);
  page.append(card("Files", note(kept === null ? "At the detector’s threshold." : `At the threshold ${kept}, where the slider stands.`), element("ul", { class: "files downloads-list" }, ...items)));
  page.append(card("The whole project", note("Sources, settings, marks and results in one file. Drop it on the start page to open it again."),
    element("p", {}, element("a", { class: "primary", href: `/api/projects/${project.id}/file`, download: "" }, "Project file"))));
  const names = result.files.filter((name) => CODE[name]);
  const codes = await Promise.all(names.map((name) => text(`/jobs/${chosen.id}/files/${name}${query}`).catch((error) => error.message)));
  page.append(card("To repeat this run", note("Both give the same rows, bit for bit."), ...names.map((name, k) => codeBlock(CODE[name], codes[k].replace("#!/bin/sh\n", ""), `code-${name.split(".")[0]}`))));
}
