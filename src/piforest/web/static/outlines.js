// The lines of structures: their outlines, the law of a table, hulls around matches, and badges.

import { axisColumns, project, screenOf } from "./camera.js";
import { isShown, structureOf } from "./state.js";

// Each outline as polylines in the columns of the detector.
export function polylines({ structures }) {
  return structures.map(({ outline, corner }) => {
    if (!outline) return null;
    const width = corner.length, lines = [[]];
    for (let at = 0; at < outline.length; at += width) {
      const place = corner.map((start, k) => start + outline[at + k]);
      if (Number.isNaN(place[0])) lines.push([]);
      else lines.at(-1).push(place);
    }
    return { width, lines: lines.filter((line) => line.length > 1) };
  });
}

export function drawOutlines(plot) {
  const { colours, data, outlines, state } = plot;
  const picked = axisColumns(plot).map((each) => data.seen.indexOf(each));
  outlines.forEach((outline, k) => {
    if (!outline || !state.structures[k] || picked.some((at) => at < 0 || at >= outline.width)) return;
    const colour = colours.structures[k % 6];
    const lines = outline.lines.map((line) =>
      line.map((place) => project(plot, picked.map((at) => place[at]))),
    );
    lines.forEach((line) => strokeLine(plot, line, colour, state.mode === "3d" && isClosed(line)));
    if (lines.length) badge(plot, k, lines[0][Math.floor(lines[0].length * 0.8) % lines[0].length], colour);
  });
}

// The law of a table: where the target equals its prediction.
export function lawIsShown(plot) {
  const { data, state } = plot, [x, y] = axisColumns(plot);
  return data.view.law && state.mode === "2d" && x === data.opening[0] && y === data.opening[1];
}

export function drawLaw(plot) {
  if (!lawIsShown(plot)) return;
  const { range } = plot.frame;
  const from = Math.min(...range.map(([low]) => low)), to = Math.max(...range.map(([, high]) => high));
  strokeLine(plot, [project(plot, [from, from]), project(plot, [to, to])], plot.colours.ink, false);
}

function isClosed(line) {
  const [first, last] = [line[0], line.at(-1)];
  return line.length > 3 && line.length < 12 && Math.hypot(first[0] - last[0], first[1] - last[1]) < 1;
}

function strokeLine({ pen }, line, colour, filled) {
  pen.beginPath();
  line.forEach(([x, y]) => pen.lineTo(x, y));
  if (filled) {
    pen.globalAlpha = 0.05;
    pen.fillStyle = colour;
    pen.fill();
  }
  pen.globalAlpha = 0.9;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.globalAlpha = 1;
}

// The number of a structure beside its line, for readers who cannot tell the colours apart.
function badge(plot, k, [x, y], colour) {
  plot.badges.push({ k, x, y, colour });
}

export function drawBadges({ badges, colours, frame, pen }) {
  pen.font = "600 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const { k, x, y, colour } of badges) {
    const at = [Math.min(Math.max(x, frame.left + 12), frame.right - 12),
      Math.min(Math.max(y, frame.top + 12), frame.bottom - 12)];
    if (Math.hypot(at[0] - x, at[1] - y) > 40) continue;
    pen.beginPath();
    pen.arc(at[0], at[1], 9, 0, 2 * Math.PI);
    pen.fillStyle = colours.plot;
    pen.fill();
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.stroke();
    pen.fillStyle = colours.ink;
    pen.fillText(String(k), at[0], at[1] + 0.5);
  }
  badges.length = 0;
}

// A hull around the matches of each structure in both images.
export function drawHulls(plot) {
  const { colours, data, pen, state } = plot, screen = screenOf(plot);
  const members = state.structures.map(() => []);
  for (let row = 0; row < data.size; row++) {
    const own = structureOf(plot, row);
    if (own >= 0 && isShown(plot, row)) members[own].push(row);
  }
  members.forEach((rows, k) => {
    if (rows.length < 3) return;
    const colour = colours.structures[k % 6];
    for (const [xs, ys] of [[screen.x, screen.y], [screen.otherX, screen.otherY]]) {
      const ring = hull(rows.map((row) => [xs[row], ys[row]]));
      pen.setLineDash([5, 3]);
      strokeLine(plot, [...ring, ring[0]], colour, true);
      pen.setLineDash([]);
      badge(plot, k, ring[0], colour);
    }
  });
}

// The convex hull of points, by Andrew's monotone chain.
function hull(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (ordered) => {
    const chain = [];
    for (const place of ordered) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), place) <= 0) chain.pop();
      chain.push(place);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}
