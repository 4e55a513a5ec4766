// The markup of a view: the same in the report, in Studio and in a notebook.

import { element, fixed } from "./dom.js";
import { whole } from "./format.js";

const VIEW = `<section class="card view" aria-labelledby="view-title">
<div class="bar">
<h2 id="view-title">View</h2>
<label>Show <select id="mode"></select></label>
<label class="axis"><span>x</span> <select id="axis-0"></select></label>
<label class="axis"><span>y</span> <select id="axis-1"></select></label>
<label class="axis"><span>z</span> <select id="axis-2"></select></label>
<label>Lines <select id="lines"><option value="all">all</option><option value="flagged">anomalies</option><option value="none">none</option></select></label>
<label>Rows <select id="only"><option value="all">all</option><option value="flagged">anomalies</option><option value="kept">kept</option></select></label>
<label>Colour <select id="colour"><option value="label">verdict</option><option value="score">score</option><option value="structure">structure</option><option value="distance">distance</option></select></label>
</div>
<div class="stage" id="stage">
<canvas id="view" tabindex="0" role="application" aria-roledescription="interactive plot" aria-describedby="keys"></canvas>
<div id="tip" class="tip" hidden></div>
</div>
<div class="under">
<p class="legend" id="legend"></p>
<label><input type="checkbox" id="equal"> Equal axes</label>
<div class="zoom"><button type="button" id="zoom-in" aria-label="Zoom in">+</button><button type="button" id="zoom-out" aria-label="Zoom out">−</button><button type="button" id="reset-view">Reset view</button></div>
</div>
<p class="note" id="keys">Drag to <span class="when-flat">move</span><span class="when-solid">turn (with Shift to move)</span>, click a point to pin it; after a click the wheel zooms. Keys: arrows, <kbd>+</kbd> <kbd>−</kbd>, <kbd>0</kbd> resets, <kbd>N</kbd> and <kbd>P</kbd> pin the next and previous row by score, <kbd>Esc</kbd> unpins.</p>
</section>`;

const THRESHOLD = `<section class="card threshold" aria-labelledby="threshold-title">
<h2 id="threshold-title">Threshold</h2>
<div class="counts">
<div class="flagged"><b id="count-flagged"></b><span>anomalies</span></div>
<div class="kept"><b id="count-kept"></b><span>kept</span></div>
</div>
<div class="move">
<div class="histogram"><svg id="histogram" role="img" aria-label="Histogram of the scores with the threshold"></svg></div>
<input type="range" id="slider" aria-label="Threshold on the anomaly score">
<div class="exact"><label>Anomalous above <input type="number" id="box" inputmode="decimal"></label><button type="button" id="back">Reset to the detector’s threshold</button></div>
<p class="note" id="expected"></p>
</div>
</section>`;

const ROW = `<section class="card one" aria-labelledby="one-title">
<h2 id="one-title">Row</h2>
<div id="pinned" aria-live="polite"></div>
</section>`;

const DOWNLOADS = `<div class="downloads">
<h3>Download as CSV</h3>
<button type="button" id="download-kept">Kept rows</button>
<button type="button" id="download-flagged">Rejected rows</button>
<p class="note">All columns, the score and the structure with the distance to it in its sigmas, at the current threshold. Text that a spreadsheet would run as a formula begins with an apostrophe.</p>
</div>`;

// The cards of a view, to be put into an element with the class `work`.
export function viewCards(data) {
  const [view, threshold, row] = [VIEW, THRESHOLD, ROW].map((markup) => fixed(markup).firstElementChild);
  if (data.size < data.total) view.append(leftOut(data));
  return { view, threshold, row };
}

export function downloadsOf({ size, total }) {
  const made = fixed(DOWNLOADS).firstElementChild;
  if (size < total) made.querySelector(".note").append(` Only the ${whole(size)} rows that are on this page.`);
  return made;
}

// Which rows the view shows, if not all.
function leftOut({ noun, size, total }) {
  const text = `The view shows ${whole(size)} of ${whole(total)} ${noun}: the most anomalous ` +
    `${whole(Math.floor(size / 2))} and a random sample of the others. Counts and histogram include all ${noun}.`;
  return element("p", { class: "note", id: "left-out" }, text);
}
