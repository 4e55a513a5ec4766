// One row in words: beside the pointer, and below the view where it is pinned.

function verdictText(row) {
  return `score ${scores[row].toFixed(4)}, ${isFlagged(row) ? "anomaly" : "kept"}`;
}

function nearestText(row) {
  if (!nearest) return "";
  const away = sigmas[row] < 1e29 ? `${short(sigmas[row])} sigmas away` : "on its wrong side";
  return `nearest structure: ${nearest[row]}, ${away}`;
}

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
    element("b", {}, `Row ${rowNumbers[row]}`), ` · ${verdictText(row)}`, values, nearestText(row),
  );
  const room = $("stage").clientWidth - tip.offsetWidth - 4;
  const above = y > tip.offsetHeight + 16;
  tip.style.left = `${Math.max(4, Math.min(x + 12, room))}px`;
  tip.style.top = `${above ? y - tip.offsetHeight - 10 : y + 14}px`;
}

function updatePinned() {
  const panel = $("pinned"), row = state.pinned;
  if (row < 0) {
    panel.replaceChildren();
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
    element("p", {}, element("b", {}, `Row ${rowNumbers[row]}`), ` · ${verdictText(row)}`,
      nearest ? ` · ${nearestText(row)}` : ""),
    values,
    element("p", { class: "buttons" }, button("More anomalous", () => pinNext(1, 0)),
      button("Less anomalous", () => pinNext(-1, 1)), button("Unpin", unpin)),
  );
}

// The next row up or down the scores; from the top where none is pinned. `refocus`: the button
// that was pressed is made anew, and keeps the focus.
function pinNext(by, refocus = -1) {
  const place = byScore.indexOf(state.pinned);
  const next = place < 0 ? size - 1 : Math.min(Math.max(place + by, 0), size - 1);
  pin(byScore[next]);
  if (refocus >= 0) $("pinned").querySelectorAll("button")[refocus].focus();
}

function unpin() {
  pin(-1);
  canvas.focus();
}
