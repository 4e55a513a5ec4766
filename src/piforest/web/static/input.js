// Pointer, wheel, touch and keyboard input of the view.

import { panBy, resetCamera, screenOf, turnBy, zoomBy } from "./camera.js";
import { pinNext, showTip } from "./row.js";
import { drawSoon } from "./scene.js";
import { isShown, pin } from "./state.js";

function rowAt(plot, x, y, reach = 12) {
  const { data, state } = plot;
  const own = plot.scenes[state.mode]?.rowAt;
  if (own) return own(plot, x, reach);
  let best = -1, closest = reach * reach;
  const screen = screenOf(plot);
  const ends = [[screen.x, screen.y]];
  if (state.mode === "matches" || state.mode === "segments") ends.push([screen.otherX, screen.otherY]);
  for (const [xs, ys] of ends) {
    for (const row of data.byScore) {
      if (!isShown(plot, row)) continue;
      const square = (xs[row] - x) ** 2 + (ys[row] - y) ** 2;
      if (square <= closest) [best, closest] = [row, square];
    }
  }
  return best;
}

function place({ canvas }, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function hover(plot, event) {
  const { canvas, state } = plot;
  const [x, y] = place(plot, event);
  const row = rowAt(plot, x, y);
  showTip(plot, row, x, y);
  if (row === state.hovered) return;
  state.hovered = row;
  canvas.classList.toggle("over", row >= 0);
  drawSoon(plot);
}

// Once a frame where a search among many points takes as long as one.
function hoverSoon(plot, event) {
  if (!plot.gpu) {
    hover(plot, event);
    return;
  }
  if (!plot.hovering) requestAnimationFrame(() => {
    hover(plot, plot.hovering);
    plot.hovering = null;
  });
  plot.hovering = event;
}

export function forgetHover(plot) {
  plot.state.hovered = -1;
  showTip(plot, -1);
}

function pressed(plot, event) {
  const { canvas, pointers } = plot;
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(plot, event));
  plot.travelled = 0;
  if (plot.selecting && pointers.size === 1) plot.selection.start(plot, place(plot, event));
}

function moved(plot, event) {
  const { pointers, state } = plot;
  const before = pointers.get(event.pointerId);
  if (!before) {
    hoverSoon(plot, event);
    return;
  }
  const now = place(plot, event);
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  plot.travelled += Math.hypot(dx, dy);
  if (pointers.size === 2) {
    pinch(plot, event.pointerId, before, now);
  } else if (plot.travelled > 4) {
    if (plot.band) plot.selection.move(plot, now);
    else if (state.mode === "3d" && !event.shiftKey && event.buttons !== 4) turnBy(plot, dx, dy);
    else panBy(plot, dx, dy);
  }
  pointers.set(event.pointerId, now);
}

function pinch(plot, id, before, now) {
  const [, other] = [...plot.pointers].find(([each]) => each !== id);
  const away = (from) => Math.hypot(from[0] - other[0], from[1] - other[1]) || 1;
  zoomBy(plot, away(now) / away(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
}

function released(plot, event) {
  const held = plot.pointers.delete(event.pointerId), clicked = plot.travelled <= 4;
  if (plot.band) plot.selection.finish(plot, !clicked && event.type === "pointerup", event.shiftKey);
  if (!held || event.type !== "pointerup" || !clicked) return;
  const row = rowAt(plot, ...place(plot, event));
  if (plot.selection && (event.ctrlKey || event.metaKey)) plot.selection.toggle(plot, row);
  else pin(plot, row === plot.state.pinned ? -1 : row);
}

// The wheel scrolls the page until the view has the focus; with Ctrl or a pinch it always zooms.
function wheeled(plot, event) {
  if (!event.ctrlKey && !event.metaKey && plot.root.activeElement !== plot.canvas) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 20 : 1;
  zoomBy(plot, Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)), ...place(plot, event));
}

const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const ACTIONS = {
  "+": (plot) => zoomBy(plot, 1.25), "=": (plot) => zoomBy(plot, 1.25), "-": (plot) => zoomBy(plot, 0.8),
  0: resetCamera, Home: resetCamera, Escape: (plot) => pin(plot, -1),
  n: (plot) => pinNext(plot, -1), p: (plot) => pinNext(plot, 1),
  s: (plot) => plot.selection?.toggle(plot, plot.state.pinned),
};

function keyed(plot, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  const action = arrow
    ? () => pushed(plot, arrow, event.shiftKey)
    : plot.keys[event.key] ?? ACTIONS[event.key] ?? ACTIONS[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action(plot);
}

function pushed(plot, [x, y], shifted) {
  if (plot.state.mode === "3d" && !shifted) turnBy(plot, -x * 14, -y * 14);
  else panBy(plot, x * 40, y * 40);
}

export function startInput(plot) {
  const { canvas } = plot;
  const listen = (name, action, options) => canvas.addEventListener(name, (event) => action(plot, event), options);
  listen("pointerdown", pressed);
  listen("pointermove", moved);
  listen("pointerup", released);
  listen("pointercancel", released);
  listen("pointerleave", () => {
    forgetHover(plot);
    drawSoon(plot);
  });
  listen("wheel", wheeled, { passive: false });
  listen("keydown", keyed);
  plot.$("zoom-in").addEventListener("click", () => zoomBy(plot, 1.4));
  plot.$("zoom-out").addEventListener("click", () => zoomBy(plot, 1 / 1.4));
  plot.$("reset-view").addEventListener("click", () => resetCamera(plot));
}
