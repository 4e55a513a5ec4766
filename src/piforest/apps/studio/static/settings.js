// Further settings of a run; each has a default that is usually right.

import { element } from "../web/dom.js";
import { saveSettings } from "./columns.js";
import { field, input, note, select, trying } from "./ui.js";

const RULES = { auto: "automatic", contamination: "a share of anomalies", false_alarm_rate: "a rate of false alarms", threshold: "a score" };

// Which settings the command of a project has.
const USED = {
  table: ["sigma", "rule", "scale_columns", "missing", "connected", "models", "trees", "seed"],
  scan: ["sigma", "rule", "local", "voxel", "connected", "models", "trees", "seed"],
  matches: ["sigma", "rule", "features", "ratio", "models", "trees", "seed"],
  pairs: ["sigma", "rule", "models", "trees", "seed"],
  map: ["sigma", "rule", "window", "seed"],
  series: ["sigma", "rule", "missing", "window", "reference", "seed"],
};

const numberOrNull = (text) => (text === "" ? null : Number(text));

function ruleField(project) {
  const rule = Object.entries(project.settings.threshold_rule ?? {}).find(([, value]) => value !== null) ?? ["auto", ""];
  const value = input("number", rule[1], () => save(), { step: "any", min: "0", "aria-label": "Value of the rule" });
  value.hidden = rule[0] === "auto";
  const kind = select(Object.entries(RULES), rule[0], () => {
    value.hidden = kind.value === "auto";
    save();
  }, { "aria-label": "How the threshold is chosen" });
  const save = () => trying(() => saveSettings(project, {
    threshold_rule: kind.value === "auto" || value.value === "" ? null : { [kind.value]: Number(value.value) },
  }));
  return element("div", { class: "field" }, element("span", {}, "Threshold"), kind, value);
}

function fields(project) {
  const { settings } = project;
  const save = (name, parse = (value) => value) => (value) => trying(() => saveSettings(project, { [name]: parse(value) }));
  const number = (name, text, hint, attributes = {}) =>
    field(text, input("number", settings[name] ?? "", save(name, numberOrNull), { min: "0", step: "any", ...attributes }), hint);
  const truth = (value) => ({ auto: "auto", yes: true, no: false })[value];
  const word = (value) => (value === true ? "yes" : value === false ? "no" : "auto");
  const whole = { step: "1", min: "1" };
  return {
    sigma: () => number("sigma", "Noise (sigma)", "empty: estimated"),
    rule: () => ruleField(project),
    scale_columns: () => field("Scale columns", select([["auto", "automatic"], ["yes", "yes"], ["no", "no"]], word(settings.scale_columns), save("scale_columns", truth))),
    missing: () => field("Rows that lack a number", select([["error", "are an error"], ["skip", "are skipped"]], settings.missing ?? "error", save("missing", (value) => (value === "error" ? null : value)))),
    connected: () => field("Connected pieces", input("checkbox", settings.connected ?? false, save("connected", (on) => on || null))),
    local: () => field("Judge in windows", input("checkbox", settings.local ?? false, save("local", (on) => on || null))),
    voxel: () => number("voxel", "Thin to one point per cube of side", "empty: as it is"),
    window: () => field("Windows", input("text", (settings.window ?? []).join(", "), save("window", (text) => {
      const sides = text.split(",").map((each) => Number(each)).filter((each) => each > 0);
      return sides.length ? sides : null;
    })), "sides, separated by commas; empty: chosen"),
    reference: () => number("reference", "First rows that are normal", "empty: none", whole),
    features: () => field("Features", select([["auto", "SIFT"], ["orb", "ORB"], ["akaze", "AKAZE"]], settings.features ?? "auto", save("features", (value) => (value === "auto" ? null : value)))),
    ratio: () => number("ratio", "Ratio to the second match", "empty: the default"),
    models: () => number("models", "Models", "empty: chosen", whole),
    trees: () => number("trees", "Trees", "empty: the default", whole),
    seed: () => number("seed", "Seed", "one seed, one answer", { step: "1" }),
  };
}

export function settingsCard(project) {
  const all = fields(project), timed = Object.values(project.settings.roles ?? {}).includes("time");
  const used = USED[timed ? "series" : project.kind] ?? [];
  return element("details", { class: "card" }, element("summary", {}, "More settings"),
    note("Each is usually best left as it is."), element("div", { class: "options" }, ...used.map((name) => all[name]())));
}
