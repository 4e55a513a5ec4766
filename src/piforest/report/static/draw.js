// Marks on the canvas: points, lines of matches, outlines of structures.

const canvas = $("view");
const pen = canvas.getContext("2d");

function mark(shape, x, y, r) {
  if (shape === "dot") {
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  } else {
    pen.moveTo(x, y - r);
    pen.lineTo(x + r, y);
    pen.lineTo(x, y + r);
    pen.lineTo(x - r, y);
    pen.closePath();
  }
}

// Rows of one class as one path: filling is the costly part. xs, ys: their pixels.
function drawRows(rows, look, xs, ys, nearness = 1) {
  if (!rows.length) return;
  const r = look.radius * (0.75 + 0.25 * nearness) * Math.min(1.8, Math.max(1, camera.zoom ** 0.25));
  pen.globalAlpha = look.alpha * (0.45 + 0.55 * nearness);
  pen.fillStyle = look.colour;
  pen.beginPath();
  for (const row of rows) mark(look.shape, xs[row], ys[row], r);
  pen.fill();
  pen.globalAlpha = 1;
}

const inView = (x, y) => x > -20 && y > -20 && x < frame.width + 20 && y < frame.height + 20;

// Rows in drawing order: far before near, then class by class, anomalies last.
function drawPoints() {
  const layers = state.mode === "3d" ? 5 : 1;
  const [low, high] = layers > 1 ? rangeOf(depth) : [0, 1];
  const buckets = Array.from({ length: layers }, () => styles.classes.map(() => []));
  for (const row of byScore) {
    if (!isShown(row) || !inView(screenX[row], screenY[row])) continue;
    const near = (high - depth[row]) / (high - low);
    const layer = layers > 1 ? Math.min(layers - 1, Math.floor(near * layers)) : 0;
    buckets[layer][styles.of[row]].push(row);
  }
  buckets.forEach((classes, layer) => {
    const nearness = layers > 1 ? (layer + 0.5) / layers : 1;
    classes.forEach((rows, k) => drawRows(rows, styles.classes[k], screenX, screenY, nearness));
  });
}

function drawMatches() {
  const classes = styles.classes.map(() => []);
  for (const row of byScore) if (isShown(row)) classes[styles.of[row]].push(row);
  const thin = Math.min(1, 14 / Math.sqrt(size));
  classes.forEach((rows, k) => {
    pen.strokeStyle = styles.classes[k].colour;
    pen.globalAlpha = (0.25 + 0.5 * thin) * (styles.classes[k].shape === "dot" ? 0.5 : 1);
    pen.lineWidth = 0.6 + 0.5 * thin;
    pen.beginPath();
    for (const row of rows) {
      if (state.lines === "none" || (state.lines === "flagged" && !isFlagged(row))) continue;
      pen.moveTo(screenX[row], screenY[row]);
      pen.lineTo(otherX[row], otherY[row]);
    }
    pen.stroke();
  });
  classes.forEach((rows, k) => {
    drawRows(rows, styles.classes[k], screenX, screenY);
    drawRows(rows, styles.classes[k], otherX, otherY);
  });
}

// The outline of a structure in the drawn columns.
const outlines = DATA.structures.map(({ outline, corner }) => {
  if (!outline) return null;
  const flat = decoded(outline), width = corner.length, lines = [[]];
  for (let at = 0; at < flat.length; at += width) {
    const place = corner.map((start, k) => start + flat[at + k]);
    if (Number.isNaN(place[0])) lines.push([]);
    else lines.at(-1).push(place);
  }
  return { width, lines: lines.filter((line) => line.length > 1) };
});

function drawOutlines() {
  const picked = axisColumns().map((each) => seen.indexOf(each));
  outlines.forEach((outline, k) => {
    if (!outline || !state.structures[k] || picked.some((at) => at < 0 || at >= outline.width)) return;
    const colour = colours.structures[k % 6];
    const lines = outline.lines.map((line) =>
      line.map((place) => project(picked.map((at) => place[at]))),
    );
    lines.forEach((line) => strokeLine(line, colour, state.mode === "3d" && isClosed(line)));
    if (lines.length) badge(k, lines[0][Math.floor(lines[0].length * 0.8) % lines[0].length], colour);
  });
}

// The law of a table: where the target equals its prediction.
function lawIsShown() {
  const [x, y] = axisColumns();
  return DATA.view.law && state.mode === "2d" && x === opening[0] && y === opening[1];
}

function drawLaw() {
  if (!lawIsShown()) return;
  const from = Math.min(...frame.range.map(([low]) => low));
  const to = Math.max(...frame.range.map(([, high]) => high));
  strokeLine([project([from, from]), project([to, to])], colours.ink, false);
}

function isClosed(line) {
  const [first, last] = [line[0], line.at(-1)];
  return line.length > 3 && line.length < 12 && Math.hypot(first[0] - last[0], first[1] - last[1]) < 1;
}

function strokeLine(line, colour, filled) {
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
const badges = [];
function badge(k, [x, y], colour) {
  badges.push({ k, x, y, colour });
}

function drawBadges() {
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
function drawHulls() {
  const members = state.structures.map(() => []);
  for (let row = 0; row < size; row++) {
    const own = structureOf(row);
    if (own >= 0 && isShown(row)) members[own].push(row);
  }
  members.forEach((rows, k) => {
    if (rows.length < 3) return;
    const colour = colours.structures[k % 6];
    for (const [xs, ys] of [[screenX, screenY], [otherX, otherY]]) {
      const ring = hull(rows.map((row) => [xs[row], ys[row]]));
      pen.setLineDash([5, 3]);
      strokeLine([...ring, ring[0]], colour, true);
      pen.setLineDash([]);
      badge(k, ring[0], colour);
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
