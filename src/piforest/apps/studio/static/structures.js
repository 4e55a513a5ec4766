// The structures of a result: shown, hidden, renamed, with their equations.

import { element } from "../web/dom.js";
import { nameStructures } from "../web/controls.js";
import { short, whole } from "../web/format.js";
import { membersNow, structureName } from "../web/state.js";
import { patch } from "./api.js";
import { card, input, note, soon, table, trying } from "./ui.js";

const MANY = 100_000;

function rename(plot, project, k, name) {
  return trying(async () => {
    const names = { ...project.structure_names };
    if (name.trim()) names[k] = name.trim();
    else delete names[k];
    Object.assign(project, await patch(`/projects/${project.id}`, { structure_names: names }));
    plot.data.structures[k].name = names[k];
    nameStructures(plot);
    plot.changed("structures");
  });
}

export function structuresCard(plot, project) {
  const { structures } = plot.data;
  if (!structures.length) return card("Structures", note("No structure stands out from chance, or this run looks for none."));
  const members = structures.map((each) => element("span", {}, whole(each.members ?? 0)));
  const count = () => membersNow(plot)?.forEach((now, k) => { members[k].textContent = whole(now); });
  // Of many rows, when the slider rests.
  const follow = plot.data.size > MANY ? soon(count, 200) : count;
  plot.on((what) => what === "threshold" && follow());
  count();
  const rows = structures.map((each, k) => {
    const box = input("checkbox", true, (on) => {
      plot.state.structures[k] = on;
      plot.changed("structures");
    }, { "data-structure": k, "aria-label": `Draw structure ${k}` });
    const pick = element("label", { class: "pick" }, box, element("span", { class: `swatch s${k % 6}` }, String(k)));
    return [
      pick,
      input("text", each.name ?? "", (name) => rename(plot, project, k, name), { placeholder: structureName(plot, k), "aria-label": `Name of structure ${k}`, maxlength: "200", class: "name" }),
      String(each.family ?? "").replaceAll("_", " "), members[k], short(each.sigma, 3),
      element("span", { class: "code" }, each.equation ?? ""),
    ];
  });
  return card("Structures", table("Structures with their equations", ["Draw", "Name", "Family", "Rows", "Sigma", "Equation"], rows, [3, 4]));
}
