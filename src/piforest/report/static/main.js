// The controls above the view, and what is redrawn when something changes.

const MODES = { matches: "matches", "2d": "two columns", "3d": "three columns" };

function startControls() {
  const mode = $("mode");
  for (const [name, text] of Object.entries(MODES)) {
    if (name !== "matches" || DATA.view.mode === "matches") mode.append(element("option", { value: name }, text));
  }
  mode.value = state.mode;
  mode.addEventListener("change", () => setMode(mode.value));
  [0, 1, 2].forEach((axis) => {
    const select = $(`axis-${axis}`);
    drawable.forEach((each, at) => select.append(element("option", { value: at }, clipped(each.name, 30))));
    select.addEventListener("change", () => {
      state.axes[axis] = Number(select.value);
      resetCamera();
    });
  });
  if (nearest) {
    $("only").append(element("option", { value: "none" }, "kept, no structure"));
    state.structures.forEach((_, k) => $("only").append(element("option", { value: k }, `structure ${k}`)));
  }
  for (const name of ["colour", "lines", "only"]) {
    $(name).value = state[name];
    $(name).addEventListener("change", () => {
      state[name] = $(name).value;
      changed(name);
    });
  }
  $("equal").addEventListener("change", () => {
    state.equal = $("equal").checked;
    resetCamera();
  });
  if (!state.structures.length) $("colour").querySelector("[value=structure]").remove();
}

// Checked if axes are equal, enabled if they can be.
function updateEqual() {
  $("equal").checked = isEqual();
  $("equal").disabled = !canBeEqual();
}

function setMode(mode) {
  state.mode = mode;
  const count = { matches: 0, "2d": 2, "3d": 3 }[mode];
  // The most telling columns, those of the detector, then the others, the score last.
  const order = [...new Set([...(mode === "2d" ? opening.slice(0, 2) : []), ...seen, ...drawable])];
  state.axes = order.slice(0, count).map((each) => drawable.indexOf(each));
  while (state.axes.length < count) state.axes.push(drawable.length - 1);
  [0, 1, 2].forEach((axis) => {
    $(`axis-${axis}`).closest("label").hidden = axis >= count;
    if (axis < count) $(`axis-${axis}`).value = state.axes[axis];
  });
  $("equal").closest("label").hidden = mode === "matches";
  $("lines-label").hidden = mode !== "matches";
  document.body.dataset.mode = mode;
  canvas.setAttribute("aria-label", `${whole(size)} ${DATA.noun}, ${MODES[mode]}`);
  // Images one above the other need a taller canvas than points.
  if (mode === "matches") fitStage();
  else $("stage").style.height = "";
  resetCamera();
}

// The height that the two images need at this width.
function fitStage() {
  const width = $("stage").clientWidth;
  const [[left, right], [top, bottom]] = placeImages(width);
  const height = ((width - 16) * (bottom - top)) / (right - left) + 16;
  $("stage").style.height = `${Math.round(Math.min(height, Math.max(360, window.innerHeight * 0.85)))}px`;
}

function startStructures() {
  for (const tick of document.querySelectorAll("[data-structure]")) {
    tick.checked = state.structures[tick.dataset.structure];
    tick.addEventListener("change", () => {
      state.structures[tick.dataset.structure] = tick.checked;
      changed("structures");
    });
  }
  for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => {
      pinInSight(Number(button.dataset.show));
      canvas.scrollIntoView({ block: "center" });
      canvas.focus({ preventScroll: true });
    });
  }
}

onChange((what) => {
  if (["threshold", "colour", "theme", "structures"].includes(what)) {
    updateStyles();
    updateLegend();
  }
  if (what === "threshold" || what === "theme") {
    updateThreshold();
    drawHistogram();
  }
  if (what === "threshold" || what === "pin") updatePinned();
  if (what === "camera") {
    updateEqual();
    updateLegend();
    forgetHover();
  }
  drawSoon();
});

document.documentElement.classList.remove("no-script");
readColours();
startControls();
setMode(state.mode);
startStructures();
startThreshold();
startHistogram();
startDownload();
startView();
startTheme();
updatePinned();
window.addEventListener("resize", () => state.mode === "matches" && fitStage());
