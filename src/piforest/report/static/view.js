// Pointer, wheel, touch and keyboard input of the view.

const pointers = new Map();
let travelled = 0;

function rowAt(x, y, reach = 12) {
  let best = -1, closest = reach * reach;
  const ends = state.mode === "matches" ? [[screenX, screenY], [otherX, otherY]] : [[screenX, screenY]];
  for (const [xs, ys] of ends) {
    for (const row of byScore) {
      if (!isShown(row)) continue;
      const square = (xs[row] - x) ** 2 + (ys[row] - y) ** 2;
      if (square <= closest) [best, closest] = [row, square];
    }
  }
  return best;
}

const place = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function hover(event) {
  const [x, y] = place(event);
  const row = rowAt(x, y);
  showTip(row, x, y);
  if (row === state.hovered) return;
  state.hovered = row;
  canvas.classList.toggle("over", row >= 0);
  drawSoon();
}

function forgetHover() {
  state.hovered = -1;
  showTip(-1);
}

function pressed(event) {
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  travelled = 0;
}

function moved(event) {
  const before = pointers.get(event.pointerId);
  if (!before) {
    hover(event);
    return;
  }
  const now = place(event);
  const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
  travelled += Math.hypot(dx, dy);
  if (pointers.size === 2) {
    pinch(event.pointerId, before, now);
  } else if (travelled > 4) {
    if (state.mode === "3d" && !event.shiftKey && event.buttons !== 4) turnBy(dx, dy);
    else panBy(dx, dy);
  }
  pointers.set(event.pointerId, now);
}

function pinch(id, before, now) {
  const [, other] = [...pointers].find(([each]) => each !== id);
  const away = (from) => Math.hypot(from[0] - other[0], from[1] - other[1]) || 1;
  zoomBy(away(now) / away(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
}

function released(event) {
  const held = pointers.delete(event.pointerId);
  if (held && event.type === "pointerup" && travelled <= 4) {
    const row = rowAt(...place(event));
    pin(row === state.pinned ? -1 : row);
  }
}

// The wheel scrolls the page until the view has the focus; with Ctrl or a pinch it always zooms.
function wheeled(event) {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 20 : 1;
  zoomBy(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0015)), ...place(event));
}

const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function keyed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  const actions = {
    "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8),
    0: resetCamera, Home: resetCamera, Escape: () => pin(-1),
    n: () => pinNext(-1), p: () => pinNext(1),
  };
  const action = arrow ? () => pushed(arrow, event.shiftKey) : actions[event.key] ?? actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

function pushed([x, y], shifted) {
  if (state.mode === "3d" && !shifted) turnBy(-x * 14, -y * 14);
  else panBy(x * 40, y * 40);
}

function startView() {
  canvas.addEventListener("pointerdown", pressed);
  canvas.addEventListener("pointermove", moved);
  canvas.addEventListener("pointerup", released);
  canvas.addEventListener("pointercancel", released);
  canvas.addEventListener("pointerleave", () => {
    forgetHover();
    drawSoon();
  });
  canvas.addEventListener("wheel", wheeled, { passive: false });
  canvas.addEventListener("keydown", keyed);
  $("zoom-in").addEventListener("click", () => zoomBy(1.4));
  $("zoom-out").addEventListener("click", () => zoomBy(1 / 1.4));
  $("reset-view").addEventListener("click", resetCamera);
  new ResizeObserver(drawSoon).observe(canvas);
}
