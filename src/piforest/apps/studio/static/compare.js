// Isolation forest and local outlier factor beside the detector, on a switch.

import { element } from "../web/dom.js";
import { array, get, post } from "./api.js";
import { thresholdsOf } from "./resultdata.js";
import { note, select, trying } from "./ui.js";
import { isOver, watched } from "./watch.js";

const METHODS = { piforest: "piforest", isolation_forest: "isolation forest", lof: "local outlier factor" };

// The scores of another method: of an earlier comparison, or of one that runs now.
async function scoresOf(method, { project, job, isCurrent, place }) {
  const known = (await get(`/projects/${project.id}`)).jobs.filter((each) => each.kind === "compare" && each.settings.job === job).at(-1);
  let done = known && known.state !== "failed" && known.state !== "cancelled" ? known : await post(`/projects/${project.id}/jobs`, { kind: "compare", settings: { job } });
  if (!isOver(done)) {
    done = await new Promise((over) => place.replaceChildren(watched(done, { isCurrent, over })));
    place.replaceChildren();
  }
  if (done.state !== "done") throw new Error(done.error ?? "The comparison was cancelled.");
  return array(done.id, `compare:${method}`);
}

// `show` draws the view again with other data; `about`: which method it shows.
export function compareSwitch(context, data, show) {
  const place = element("div"), about = element("div");
  const change = (method) => trying(async () => {
    if (method === "piforest") {
      about.replaceChildren();
      show(data, method);
      return;
    }
    try {
      const scores = await scoresOf(method, { ...context, place });
      const thresholds = thresholdsOf(scores, data.thresholds.flagged);
      about.replaceChildren(note(`Scores of ${METHODS[method]} with scikit-learn’s defaults. Its threshold flags as many rows as piforest’s. It knows no structures, so rows that follow one may be flagged because they are few.`));
      show({ ...data, scores, thresholds, total: data.size, falseAlarms: null }, method);
    } catch (error) {
      control.value = "piforest";
      throw error;
    }
  });
  const control = select(Object.entries(METHODS), "piforest", change, { id: "method" });
  return element("div", { class: "compare" }, element("label", {}, "Scores of ", control), place, about);
}
