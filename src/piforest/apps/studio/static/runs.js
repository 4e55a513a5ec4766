// The names of runs: one number for a run everywhere, its settings, or the file that was scored.

const spoken = (name) => name.replaceAll("_", " ");
const RULES = { contamination: "share of anomalies", false_alarm_rate: "false alarm rate", threshold: "threshold" };
const PLAIN = {
  sigma: "sigma", models: "models", trees: "trees", seed: "seed", voxel: "cubes of", window: "windows",
  reference: "first rows", features: "features", ratio: "ratio", pair: "pair",
};
const FLAGS = { scale_columns: "scaled columns", connected: "pieces", local: "in windows" };

// The settings of a run that are not the usual ones, in words.
export function settingsText({ settings }) {
  const options = Object.entries(settings.options ?? {}).map(([name, value]) => `${spoken(name)} ${value}`);
  const families = settings.code ? "own functions" : Array.isArray(settings.families) ? settings.families.map(spoken).join(" and ") : "automatic family";
  const rule = Object.entries(settings.threshold_rule ?? {}).filter(([, value]) => value !== null).map(([name, value]) => `${RULES[name]} ${value}`);
  const roles = Object.entries(settings.roles ?? {}).filter(([, role]) => !["coordinate", "ignore"].includes(role)).map(([name, role]) => `${role} ${name}`);
  const more = Object.entries(PLAIN).filter(([name]) => settings[name] && settings[name] !== "auto").map(([name, text]) => `${text} ${settings[name]}`);
  const flags = Object.entries(FLAGS).filter(([name]) => settings[name] === true).map(([, text]) => text);
  return [families, ...options, ...roles, ...rule, ...more, ...flags].join(", ");
}

// The number of a run: failed ones count too.
export const numberOf = (project, job) =>
  project.jobs.filter((each) => each.kind === job.kind).findIndex((each) => each.id === job.id) + 1;

export const scoredName = (project, job) =>
  project.sources.find((each) => each.id === job.settings.source)?.name ?? `Scored file ${numberOf(project, job)}`;

export const runName = (project, job) =>
  (job.kind === "score" ? scoredName(project, job) : `Run ${numberOf(project, job)}`);

export const longName = (project, job) =>
  (job.kind === "score" ? `Scored: ${scoredName(project, job)}` : `${runName(project, job)}: ${settingsText(job)}`);
