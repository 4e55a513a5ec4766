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
  const rows = result.pairs.map((each) => [
    button(`${each.image1} – ${each.image2}`, () => look([each.image1, each.image2]), { class: "link" }),
    whole(each.matches), whole(each.kept), whole(each.motions), each.note ?? "",
  ]);
  return card(result.headline, note("A pair opens as a view of its matches."), table("Image pairs", ["Pair", "Matches", "Kept", "Motions", "Note"], rows, [1, 2, 3]));
}
