// Draws the scene once per animation frame.

import { drawBox, drawGrid, tickLabelWidth } from "./axes.js";
import { project, reframe } from "./camera.js";
import { drawMatches, drawPoints, drawRing, drawSegments } from "./draw.js";
import { drawBadges, drawHulls, drawLaw, drawOutlines } from "./outlines.js";
import { drawPanels } from "./panels.js";

export function drawSoon(plot) {
  if (plot.waiting) return;
  plot.waiting = true;
  requestAnimationFrame(() => drawNow(plot));
}

const SCENES = {
  matches: (plot) => [drawPanelsOf, drawMatches, drawHulls].forEach((draw) => draw(plot)),
  segments: (plot) => [drawPanelsOf, drawSegments].forEach((draw) => draw(plot)),
  "2d": drawPlane,
  "3d": drawPlane,
};

const drawPanelsOf = (plot) => drawPanels(plot, project);

function drawPlane(plot) {
  drawOutlines(plot);
  if (plot.gpu) plot.gpu.draw(plot);
  else drawPoints(plot);
  drawLaw(plot);
}

export function drawNow(plot) {
  const { canvas, colours, frame, pen, state } = plot;
  plot.waiting = false;
  if (plot.removed) return;
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  reframe(plot, width, height, tickLabelWidth);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colours.plot;
  pen.fillRect(0, 0, width, height);
  if (state.mode === "3d") drawBox(plot);
  if (state.mode === "2d") drawGrid(plot);
  pen.save();
  pen.beginPath();
  pen.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  pen.clip();
  (plot.scenes[state.mode]?.draw ?? SCENES[state.mode])(plot);
  drawBadges(plot);
  plot.selection?.draw(plot);
  for (const row of new Set([state.hovered, state.pinned])) if (row >= 0) drawRing(plot, row);
  pen.restore();
}
