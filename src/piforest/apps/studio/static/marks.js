// Rows that the reader is sure of, and precision and recall on them.

import { button, element } from "../web/dom.js";
import { whole } from "../web/format.js";
import { selectedRows, setSelected } from "../web/select.js";
import { get, put } from "./api.js";
import { thresholdQuery } from "./current.js";
import { card, note, say, soon, trying } from "./ui.js";

const percent = (share) => (share === null || share === undefined ? "not known yet" : `${(100 * share).toFixed(0)} %`);

// The marks of the project, by the numbers of rows; those of rows that are on the page, by row.
function show(plot, marks) {
  plot.byNumber ??= new Map(Array.from(plot.data.rowNumbers, (number, row) => [number, row]));
  plot.state.marks.clear();
  for (const kind of ["normal", "anomalous"]) {
    for (const number of marks[kind]) if (plot.byNumber.has(number)) plot.state.marks.set(plot.byNumber.get(number), kind);
  }
  plot.changed("marks");
}

function summary(marks) {
  const count = marks.normal.length + marks.anomalous.length;
  if (!count) return note("No row is marked yet. Pin a row and say what it is, or select several.");
  const pairs = [
    ["Marked normal", whole(marks.normal.length)], ["Marked anomalous", whole(marks.anomalous.length)],
    ["Precision", percent(marks.precision)], ["Recall", percent(marks.recall)],
  ];
  return element("dl", { class: "pairs", id: "marks-summary" }, ...pairs.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

export function marksCard(plot, project, job) {
  const place = element("div", { "aria-live": "polite" });
  let marks = { normal: [], anomalous: [] };
  const update = () => {
    place.replaceChildren(summary(marks));
    show(plot, marks);
  };
  const load = () => trying(async () => {
    marks = await get(`/projects/${project.id}/marks?job=${job}${thresholdQuery(job, "&")}`);
    update();
  });
  // Another tab may have marked rows: marks are read again before they are changed.
  const mark = (rows, kind) => trying(async () => {
    if (!rows.length) {
      say("Pin or select a row first.", true);
      return;
    }
    const now = await get(`/projects/${project.id}/marks`);
    const numbers = new Set(rows.map((row) => plot.data.rowNumbers[row]));
    const kept = (name) => now[name].filter((number) => !numbers.has(number));
    const next = { normal: kept("normal"), anomalous: kept("anomalous") };
    if (kind) next[kind].push(...numbers);
    await put(`/projects/${project.id}/marks`, next);
    await load();
    say(`${numbers.size === 1 ? `Row ${[...numbers][0]}` : `${whole(numbers.size)} rows`}: ${kind ? `marked as ${kind}` : "mark removed"}.`);
  });
  const chosen = () => {
    const selected = selectedRows(plot);
    return selected.length ? selected : plot.state.pinned >= 0 ? [plot.state.pinned] : [];
  };
  Object.assign(plot.keys, { y: () => mark(chosen(), "normal"), x: () => mark(chosen(), "anomalous") });
  const later = soon(load);
  plot.on((what) => what === "threshold" && later());
  load();
  return card("Correct it", place, element("p", { class: "buttons" },
    button("Surely normal", () => mark(chosen(), "normal"), { id: "mark-normal" }), button("Surely anomalous", () => mark(chosen(), "anomalous"), { id: "mark-anomalous" }),
    button("Remove mark", () => mark(chosen(), null), { class: "quiet" })), selectBar(plot),
  note("Marks are saved with the project, and measured at the current threshold. They do not change the detector. Keys in the view: Y surely normal, X surely anomalous, S selects the pinned row."));
}

// Selecting by a rectangle; the text says how many rows are selected.
function selectBar(plot) {
  const text = element("span", { class: "note", role: "status" });
  const toggle = button("Select by a rectangle", () => {
    plot.selecting = !plot.selecting;
    toggle.setAttribute("aria-pressed", plot.selecting);
    plot.canvas.classList.toggle("selecting", plot.selecting);
  }, { "aria-pressed": "false", class: "quiet" });
  const clear = button("Clear", () => setSelected(plot, []), { class: "quiet" });
  const update = () => {
    const count = plot.state.selected.reduce((sum, on) => sum + on, 0);
    text.textContent = count ? `${whole(count)} selected` : "";
    clear.hidden = !count;
  };
  plot.on((what) => what === "selection" && update());
  update();
  return element("p", { class: "buttons" }, toggle, clear, text);
}
