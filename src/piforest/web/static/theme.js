// Light or dark: as the system until the reader chooses.

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark(host = document.documentElement) {
  const chosen = host.dataset.theme;
  return chosen ? chosen === "dark" : systemDark.matches;
}

export function readColours(host = document.documentElement) {
  const style = getComputedStyle(host);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: read("ink"), dim: read("dim"), line: read("line"), edge: read("edge"), plot: read("plot"),
    kept: read("kept"), flagged: read("flagged"), middle: read("middle"),
    structures: [0, 1, 2, 3, 4, 5].map((k) => read(`s${k}`)),
  };
}

// Where the choice is kept: a page that may keep nothing forgets it.
const stored = (key, value) => {
  try {
    if (value) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

// `themeChanged` is called after each change. `key`: the name under which the browser keeps the
// choice for the next visit; without it, the page forgets it.
export function startTheme(button, themeChanged, key = "") {
  const before = key && stored(key);
  if (["dark", "light"].includes(before)) document.documentElement.dataset.theme = before;
  const update = () => {
    button.textContent = isDark() ? "Light colours" : "Dark colours";
    themeChanged();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    if (key) stored(key, document.documentElement.dataset.theme);
    update();
  });
  systemDark.addEventListener("change", update);
  update();
  return update;
}

// The channels of #rrggbb, from 0 to 255.
export const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

// Mixes two colours of the form #rrggbb.
export function mixed(from, to, share) {
  const other = channels(to);
  const parts = channels(from).map((part, k) => Math.round(part + share * (other[k] - part)));
  return `rgb(${parts.join(",")})`;
}
