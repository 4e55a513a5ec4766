// The cut in numbers: slider, box, the way back, and the counts of all points.

function startThreshold() {
  const slider = $("slider"), box = $("box");
  // About 250 steps, so that the arrow keys get somewhere; the box is finer. A whole number of
  // them ends at the last cut, above which nothing lies.
  const step = Math.max(1, Math.round((CUT.last - CUT.first) / 250));
  const min = CUT.last - Math.ceil((CUT.last - CUT.first) / step) * step;
  Object.assign(slider, { min, max: CUT.last, step });
  Object.assign(box, { min: CUT.first / CUT.scale, max: CUT.last / CUT.scale, step: 1 / CUT.scale });
  slider.addEventListener("input", () => setStep(Number(slider.value)));
  box.addEventListener("change", () => {
    if (box.value === "") updateThreshold();
    else setCut(Number(box.value));
  });
  $("back").addEventListener("click", resetCut);
}

function updateThreshold() {
  const kept = DATA.total - state.flagged;
  const share = ((100 * state.flagged) / DATA.total).toFixed(1);
  $("flagged").textContent = whole(state.flagged);
  $("share").textContent = share;
  $("at").textContent = cutText(state.cut);
  $("count-odd").textContent = whole(state.flagged);
  $("count-kept").textContent = whole(kept);
  const slider = $("slider");
  // Its right end is where nothing is flagged; a cut between steps is not rounded to there.
  slider.value = Math.min(state.cut * CUT.scale, state.flagged ? CUT.last - Number(slider.step) : CUT.last);
  slider.setAttribute("aria-valuetext", `${cutText(state.cut)}, ${whole(state.flagged)} anomalies, ${whole(kept)} kept`);
  $("box").value = state.cut.toFixed(CUT.digits);
  $("back").disabled = state.cut === CUT.threshold;
}
