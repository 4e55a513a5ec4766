// Draws the scene once per animation frame.

let waiting = false;

function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(drawNow);
}

function drawNow() {
  waiting = false;
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  if (!width || !height) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  reframe(width, height);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = colours.plot;
  pen.fillRect(0, 0, width, height);
  if (state.mode === "3d") drawBox();
  if (state.mode === "2d") drawGrid();
  pen.save();
  pen.beginPath();
  pen.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  pen.clip();
  if (state.mode === "matches") {
    drawPanels();
    drawMatches();
    drawHulls();
  } else {
    drawOutlines();
    drawPoints();
    drawLaw();
  }
  drawBadges();
  for (const row of new Set([state.hovered, state.pinned])) if (row >= 0) drawRing(row);
  pen.restore();
}

// Marks the hovered or pinned row, and its match.
function drawRing(row) {
  const ends = [[screenX[row], screenY[row]]];
  if (state.mode === "matches") ends.push([otherX[row], otherY[row]]);
  const wide = row === state.pinned ? 2.5 : 1.5;
  for (const [colour, extra] of [[colours.plot, 2.5], [colours.ink, 0]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide + extra;
    pen.beginPath();
    ends.forEach(([x, y]) => {
      pen.moveTo(x + radius + 5, y);
      pen.arc(x, y, radius + 5, 0, 2 * Math.PI);
    });
    pen.stroke();
    if (ends.length > 1) strokeBetween(...ends, radius + 5);
  }
}

function strokeBetween(from, to, gap) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const [dx, dy] = [((to[0] - from[0]) / length) * gap, ((to[1] - from[1]) / length) * gap];
  pen.lineWidth *= 0.6;
  pen.beginPath();
  pen.moveTo(from[0] + dx, from[1] + dy);
  pen.lineTo(to[0] - dx, to[1] - dy);
  pen.stroke();
}
