// The text of a row: in a tip beside the pointer, and below the view if it is pinned.

function labelText(row) {
  return `score ${scores[row].toFixed(4)}, ${isFlagged(row) ? "anomaly" : "kept"}`;
}

function nearestText(row) {
  if (!nearest) return "";
  const distance = distances[row], { sigma } = DATA.structures[nearest[row]];
  const unit = DATA.unit && ` ${clipped(DATA.unit, 20)}`;
  const away = `${rounded(distance / sigma)} sigmas (${rounded(distance)}${unit}) away`;
  return `nearest structure: ${nearest[row]}, ${distance < 1e29 ? away : "on its wrong side"}`;
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

const valuePairs = (row, most) =>
  columns.slice(0, most).map((each) => [each.name, clipped(valueText(each, row), 60)]);

function showTip(row, x, y) {
  const tip = $("tip");
  tip.hidden = row < 0;
  if (row < 0) return;
  const values = element("dl");
  for (const [name, value] of valuePairs(row, 8)) {
    values.append(element("dt", {}, clipped(name, 30)), element("dd", {}, value));
  }
  tip.replaceChildren(
    element("b", {}, `Row ${rowNumbers[row]}`), ` · ${labelText(row)}`, values, nearestText(row),
  );
  const most = $("stage").clientWidth - tip.offsetWidth - 4;
  const above = y > tip.offsetHeight + 16;
  tip.style.left = `${Math.max(4, Math.min(x + 12, most))}px`;
  tip.style.top = `${above ? y - tip.offsetHeight - 10 : y + 14}px`;
}

function updatePinned() {
  const panel = $("pinned"), row = state.pinned;
  panel.parentElement.classList.toggle("empty", row < 0);
  if (row < 0) {
    panel.replaceChildren(element("p", { class: "note" }, "Click a point to read its row here, or press N in the view."));
    return;
  }
  const button = (text, action) => {
    const made = element("button", { type: "button", class: "quiet" }, text);
    made.addEventListener("click", action);
    return made;
  };
  const values = element("dl", { class: "pairs" });
  for (const [name, value] of valuePairs(row, columns.length)) {
    values.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  }
  panel.replaceChildren(
    element("p", {}, element("b", { class: "big" }, String(rowNumbers[row])), ` ${labelText(row)}`),
    values,
    nearest ? element("p", { class: "note" }, sentence(nearestText(row))) : "",
    element("p", { class: "buttons" }, button("More anomalous", () => pinNext(1, 0)),
      button("Less anomalous", () => pinNext(-1, 1)), button("Unpin", unpin)),
  );
}

// Pins the next row by score; the highest if none is pinned. `refocus`: the index of the pressed
// button, which is created again and keeps the focus.
function pinNext(by, refocus = -1) {
  const place = byScore.indexOf(state.pinned);
  const next = place < 0 ? size - 1 : Math.min(Math.max(place + by, 0), size - 1);
  pinInSight(byScore[next]);
  if (refocus >= 0) $("pinned").querySelectorAll("button")[refocus].focus();
}

// Pans to the row if it is out of sight.
function pinInSight(row) {
  pin(row);
  const [x, y] = [screenX[row], screenY[row]];
  const inside = x > frame.left && x < frame.right && y > frame.top && y < frame.bottom;
  if (inside || Number.isNaN(x + y)) return;
  panBy((frame.left + frame.right) / 2 - x, (frame.top + frame.bottom) / 2 - y);
}

function unpin() {
  pin(-1);
  canvas.focus();
}
