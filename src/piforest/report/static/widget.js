// The view in a notebook, as an anywidget: the threshold and the selection are those of Python.

import { viewCards } from "./cards.js";
import { decodedPayload } from "./data.js";
import { button, element } from "./dom.js";
import { whole } from "./format.js";
import { createFullPlot } from "./full.js";
import { themeChanged } from "./plot.js";
import { selectedRows, setSelected } from "./select.js";
import { resetThreshold, setThreshold } from "./state.js";

// The theme of Jupyter or VS Code; undefined for that of the system.
function notebookTheme() {
  const { body } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "true" ? "light" : "dark";
  if (body.classList.contains("vscode-dark") || body.classList.contains("vscode-high-contrast")) return "dark";
  if (body.classList.contains("vscode-light")) return "light";
  return undefined;
}

function dress(host) {
  const theme = notebookTheme();
  if (theme) host.dataset.theme = theme;
}

// A button that lets a drag select, and how many rows are selected.
function selectionBar(plot) {
  const text = element("span", { class: "note", role: "status" });
  const toggle = button("Select by a rectangle", () => {
    plot.selecting = !plot.selecting;
    toggle.setAttribute("aria-pressed", plot.selecting);
  }, { "aria-pressed": "false", id: "select" });
  const show = () => (text.textContent = `${whole(selectedRows(plot).length)} selected. Ctrl and a click, or S, selects one row.`);
  plot.on((what) => what === "selection" && show());
  show();
  return element("p", { class: "buttons" }, toggle, button("Clear", () => setSelected(plot, []), { id: "clear" }), text);
}

// Sends what the reader does, and shows what Python sets, without an endless exchange of both.
function connect(plot, model) {
  const { rowNumbers, thresholds } = plot.data;
  const rowOf = new Map(Array.from(rowNumbers, (number, row) => [number, row]));
  const send = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const own = () => Array.from(selectedRows(plot), (row) => rowNumbers[row]);
  plot.on((what) => {
    if (what === "threshold" && model.get("threshold") !== plot.state.threshold) send("threshold", plot.state.threshold);
    if (what === "selection" && String(model.get("selection")) !== String(own())) send("selection", own());
  });
  const listeners = {
    "change:threshold": () => {
      const value = model.get("threshold");
      if (value === plot.state.threshold) return;
      if (value === thresholds.initial) resetThreshold(plot);
      else setThreshold(plot, value);
    },
    "change:selection": () => {
      if (String(model.get("selection")) === String(own())) return;
      setSelected(plot, model.get("selection").filter((number) => rowOf.has(number)).map((number) => rowOf.get(number)));
    },
  };
  for (const [name, listener] of Object.entries(listeners)) {
    listener();
    model.on(name, listener);
  }
  return () => Object.entries(listeners).forEach(([name, listener]) => model.off(name, listener));
}

export function render({ model, el }) {
  const host = element("div");
  const root = host.attachShadow({ mode: "open" });
  const data = decodedPayload(JSON.parse(model.get("data")));
  const { view, threshold, row } = viewCards(data);
  const side = element("div", {}, threshold, row);
  const frame = element("div", { class: "notebook" }, element("div", { class: "work" }, view, side));
  root.append(element("style", {}, model.get("style")), frame);
  dress(host);
  el.append(host);
  const plot = createFullPlot(root, data, { host });
  view.append(selectionBar(plot));
  const disconnect = connect(plot, model);
  const watcher = new MutationObserver(() => {
    dress(host);
    themeChanged(plot);
  });
  watcher.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light"] });
  return () => {
    disconnect();
    watcher.disconnect();
    plot.remove();
  };
}
