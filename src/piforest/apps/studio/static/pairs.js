// The pairs of a COLMAP database: how many matches of each are kept.

import { button } from "../web/dom.js";
import { whole } from "../web/format.js";
import { post } from "./api.js";
import { saveSettings } from "./columns.js";
import { card, note, table, trying } from "./ui.js";

export function pairsCard(project, result) {
  const look = (pair) => trying(async () => {
    await saveSettings(project, { pair });
    const job = await post(`/projects/${project.id}/jobs`, { kind: "detect", settings: project.settings });
    location.hash = `#/p/${project.id}/run/${job.id}`;
  });
  const rows = result.pairs.map((each) => {
    const names = [each.first ?? each.images?.[0], each.second ?? each.images?.[1]];
    return [
      button(names.join(" – "), () => look(names), { class: "link" }), whole(each.matches ?? 0), whole(each.anomalies ?? 0),
    ];
  });
  return card("Image pairs", note("A pair opens as a view of its matches."), table("Image pairs", ["Pair", "Matches", "Anomalies"], rows, [1, 2]));
}
