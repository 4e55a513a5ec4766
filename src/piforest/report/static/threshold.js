// The controls of the threshold: slider, number, reset, and the counts of all points.

function startThreshold() {
  const slider = $("slider"), box = $("box");
  // About 250 steps, so that the arrow keys move visibly; the number is finer. A whole number
  // of them ends at the last threshold, above which there is no row.
  const step = Math.max(1, Math.round((THRESHOLDS.last - THRESHOLDS.first) / 250));
  const min = THRESHOLDS.last - Math.ceil((THRESHOLDS.last - THRESHOLDS.first) / step) * step;
  Object.assign(slider, { min, max: THRESHOLDS.last, step });
  Object.assign(box, { min: THRESHOLDS.first / THRESHOLDS.scale, max: THRESHOLDS.last / THRESHOLDS.scale, step: 1 / THRESHOLDS.scale });
  slider.addEventListener("input", () => setStep(Number(slider.value)));
  box.addEventListener("change", () => {
    if (box.value === "") updateThreshold();
    else setThreshold(Number(box.value));
  });
  $("back").addEventListener("click", resetThreshold);
}

function updateThreshold() {
  const kept = DATA.total - state.flagged;
  const share = ((100 * state.flagged) / DATA.total).toFixed(1);
  $("flagged").textContent = whole(state.flagged);
  $("share").textContent = share;
  $("at").textContent = thresholdText(state.threshold);
  $("count-flagged").textContent = whole(state.flagged);
  $("count-kept").textContent = whole(kept);
  const slider = $("slider");
  // Its right end is where no row is flagged; a threshold between steps is not rounded to it.
  slider.value = Math.min(state.threshold * THRESHOLDS.scale, state.flagged ? THRESHOLDS.last - Number(slider.step) : THRESHOLDS.last);
  slider.setAttribute("aria-valuetext", `${thresholdText(state.threshold)}, ${whole(state.flagged)} anomalies, ${whole(kept)} kept`);
  $("box").value = state.threshold.toFixed(THRESHOLDS.digits);
  const same = state.threshold === THRESHOLDS.initial;
  $("back").disabled = same;
  for (const [id, repeated] of Object.entries(REPEATED)) {
    const code = $(id);
    if (!code) continue;
    code.dataset.initial ??= code.textContent;
    code.textContent = same ? code.dataset.initial : repeated(code.dataset.initial, $("box").value);
  }
}

// The command and the code that repeat the run with the current threshold.
const REPEATED = {
  command: (text, value) => `${text.replace(/ --threshold[= ]\S+/, "")} --threshold ${value}`,
  code: (text, value) => `${text.replace(/\.set_threshold\([^)]*\)/, "")}.set_threshold(${value})`,
};
