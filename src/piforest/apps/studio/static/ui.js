// Parts of pages.

import { button, element } from "../web/dom.js";

export const $ = (id) => document.getElementById(id);

let cards = 0;

// A section with a heading.
export function card(title, ...children) {
  const id = `card-${(cards += 1)}`;
  return element("section", { class: "card", "aria-labelledby": id }, element("h2", { id }, title), ...children);
}

export const note = (text) => element("p", { class: "note" }, text);

export function field(text, control, hint) {
  const label = element("label", { class: "field" }, element("span", {}, text), control);
  if (hint) label.append(element("small", {}, hint));
  return label;
}

export function select(options, value, changed, attributes = {}) {
  const made = element("select", attributes);
  for (const [name, text] of options) made.append(element("option", { value: name }, text));
  made.value = value;
  made.addEventListener("change", () => changed(made.value));
  return made;
}

export function input(type, value, changed, attributes = {}) {
  const made = element("input", { type, ...attributes });
  if (type === "checkbox") made.checked = value;
  else made.value = value ?? "";
  made.addEventListener("change", () => changed(type === "checkbox" ? made.checked : made.value));
  return made;
}

// A table that scrolls in a narrow window. heads: texts; rows: lists of texts or elements.
export function table(name, heads, rows, numeric = []) {
  const cell = (content, k) =>
    element("td", { "data-name": heads[k], ...(numeric.includes(k) ? { class: "num" } : {}) }, content);
  const head = heads.map((text, k) => element("th", { scope: "col", ...(numeric.includes(k) ? { class: "num" } : {}) }, text));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))));
}

// What stands in backticks is code.
const withCode = (text) => text.split("`").map((part, k) => (k % 2 ? element("code", {}, part) : part));

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// What to know, each with its way out and, where there is one, a button that takes it. taken: the
// settings that are chosen; a way out that is among them is said to be taken.
export function banner(title, findings, act, taken = {}) {
  const id = `banner-${(cards += 1)}`;
  const items = findings.map((each) => {
    const item = element("li", {}, ...withCode(each.sentence ?? each.text), " ", element("span", {}, ...withCode(each.way_out ?? "")));
    if (!each.action) return item;
    if (Object.entries(each.action.settings).every(([name, value]) => same(taken[name], value))) {
      item.append(" ", element("span", { class: "taken" }, `${each.action.label}: done.`), " ",
        button("Undo", () => act({ label: "Undone", settings: Object.fromEntries(Object.keys(each.action.settings).map((name) => [name, null])) }), { class: "small", "aria-label": `Undo: ${each.action.label}` }));
    } else item.append(" ", button(each.action.label, () => act(each.action), { class: "small" }));
    return item;
  });
  return element("section", { class: "banner", "aria-labelledby": id },
    element("h2", { id }, title), element("ul", {}, ...items));
}

// A message for everybody, screen readers too; an error stays until the next message.
export function say(text, isError = false) {
  const place = $("says");
  place.textContent = text;
  place.classList.toggle("error", isError);
  clearTimeout(say.timer);
  if (!isError) say.timer = setTimeout(() => (place.textContent = ""), 4000);
}

// Runs an action; what goes wrong is said in words.
export async function trying(action) {
  try {
    return await action();
  } catch (error) {
    say(error.message, true);
    return null;
  }
}

// A function that acts once its calls have paused, as those of a slider do.
export function soon(action, pause = 300) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, pause);
  };
}

export function bytes(count) {
  const units = ["bytes", "kB", "MB", "GB"];
  const at = Math.min(Math.floor(Math.log10(Math.max(count, 1)) / 3), 3);
  return `${Number((count / 1000 ** at).toPrecision(3))} ${units[at]}`;
}

export async function copy(text) {
  await navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser does not allow copying; select the text.", true));
}

export function codeBlock(title, text, id) {
  return element("div", { class: "code-block" },
    element("div", { class: "bar" }, element("h3", {}, title), button("Copy", () => copy(text), { class: "small", "aria-label": `Copy ${title.toLowerCase()}` })),
    element("pre", { tabindex: "0", role: "region", "aria-label": title }, element("code", id ? { id } : {}, text)));
}
