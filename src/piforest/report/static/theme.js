// Light or dark: as the system until the reader chooses. Print is light.

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
let colours = {};

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemDark.matches;
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  colours = {
    ink: read("ink"), dim: read("dim"), line: read("line"), edge: read("edge"), plot: read("plot"),
    kept: read("kept"), flagged: read("flagged"), middle: read("middle"),
    structures: [0, 1, 2, 3, 4, 5].map((k) => read(`s${k}`)),
  };
}

function themeChanged() {
  readColours();
  $("theme").textContent = isDark() ? "Light colours" : "Dark colours";
  changed("theme");
}

function startTheme() {
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    themeChanged();
  });
  systemDark.addEventListener("change", themeChanged);
  let before;
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    themeChanged();
    drawNow();
  });
  window.addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    themeChanged();
  });
  themeChanged();
}

// Mixes two colours of the form #rrggbb.
function mixed(from, to, share) {
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  const channels = [1, 3, 5].map((at) =>
    Math.round(part(from, at) + share * (part(to, at) - part(from, at))),
  );
  return `rgb(${channels.join(",")})`;
}
