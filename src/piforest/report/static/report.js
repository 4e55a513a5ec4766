// The page of a report: its data, its cards, and the text that follows the threshold.

import { downloadsOf, viewCards } from "./cards.js";
import { decodedPayload } from "./data.js";
import { startDownload } from "./download.js";
import { whole } from "./format.js";
import { createPlot, themeChanged } from "./plot.js";
import { pinInSight } from "./row.js";
import { drawNow } from "./scene.js";
import { membersNow, thresholdText } from "./state.js";
import { startTheme } from "./theme.js";

const $ = (id) => document.getElementById(id);

// The command and the code that repeat the run with the current threshold.
const REPEATED = {
  command: (text, value) => `${text.replace(/ --threshold[= ]\S+/, "")} --threshold ${value}`,
  code: (text, value) => `${text.replace(/\.set_threshold\([^)]*\)/, "")}.set_threshold(${value})`,
};

function updateTexts(plot) {
  const { data, state } = plot;
  $("flagged").textContent = whole(state.flagged);
  $("share").textContent = ((100 * state.flagged) / data.total).toFixed(1);
  $("at").textContent = thresholdText(plot, state.threshold);
  membersNow(plot)?.forEach((count, k) => {
    document.querySelector(`[data-structure='${k}']`).closest("tr").querySelector("[data-name=Points]").textContent = whole(count);
  });
  for (const [id, repeated] of Object.entries(REPEATED)) {
    const code = $(id);
    if (!code) continue;
    code.dataset.initial ??= code.textContent;
    const same = state.threshold === data.thresholds.initial;
    code.textContent = same ? code.dataset.initial : repeated(code.dataset.initial, $("box").value);
  }
}

// The check boxes of structures, and the buttons of rows.
function startTables(plot) {
  for (const tick of document.querySelectorAll("[data-structure]")) {
    tick.checked = plot.state.structures[tick.dataset.structure];
    tick.addEventListener("change", () => {
      plot.state.structures[tick.dataset.structure] = tick.checked;
      plot.changed("structures");
    });
  }
  for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      pinInSight(plot, Number(button.dataset.show));
      plot.canvas.scrollIntoView({ block: "center" });
      plot.canvas.focus({ preventScroll: true });
    });
  }
}

// Print is light.
function startPrint(plot, update) {
  const root = document.documentElement;
  let before;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    update();
    drawNow(plot);
  });
  window.addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    update();
  });
}

function startReport() {
  document.documentElement.classList.remove("no-script");
  const data = decodedPayload(JSON.parse($("data").textContent));
  const { view, threshold, row } = viewCards(data);
  threshold.append(downloadsOf(data));
  $("work").append(view, threshold, row);
  const plot = createPlot(document, data);
  plot.on((what) => what === "threshold" && updateTexts(plot));
  startTables(plot);
  startDownload(plot);
  startPrint(plot, startTheme($("theme"), () => themeChanged(plot)));
}

startReport();
