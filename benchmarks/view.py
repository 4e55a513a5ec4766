"""How fast the view of the report, of Studio and of notebooks is in Chromium.

Writes a page with the widget for random rows, and measures in it: the time until the first picture,
the time of a move of the threshold, and frames a second while the points turn. Without a GPU,
Chromium draws WebGL in software, which the output says.

    python benchmarks/view.py --rows 1000000
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from piforest import PreferenceIsolationForest
from piforest.datasets import make_planes

PAGE = """<!doctype html><meta charset="utf-8"><body><div id="here"></div>
<script type="module">{esm}
const values = {values};
window.model = {{ get: (name) => values[name], set: (name, value) => {{ values[name] = value; }},
  save_changes() {{}}, on(name, listener) {{ this[name] = listener; }}, off() {{}} }};
const start = performance.now();
render({{ model: window.model, el: document.getElementById("here") }});
const drawn = () => {{ window.ready = performance.now() - start; }};
requestAnimationFrame(() => requestAnimationFrame(drawn));
</script>"""

# Milliseconds of work from setting the threshold until its picture can be read.
MOVE = """async () => {
  const root = document.getElementById("here").firstChild.shadowRoot, times = [];
  const pen = root.getElementById("view").getContext("2d");
  for (let k = 0; k < 20; k++) {
    const start = performance.now();
    model.set("threshold", 0.3 + 0.02 * k);
    model["change:threshold"]();
    const own = performance.now() - start;
    await new Promise((done) => requestAnimationFrame((frame) => setTimeout(() => {
      pen.getImageData(0, 0, 1, 1);
      done(times.push(own + performance.now() - frame));
    })));
  }
  return times.sort((a, b) => a - b)[10];
}"""

# Frames a second over two seconds of turning by the arrow key.
TURN = """async () => {
  const root = document.getElementById("here").firstChild.shadowRoot;
  const canvas = root.getElementById("view"), start = performance.now();
  let frames = 0;
  while (performance.now() - start < 2000) {
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", cancelable: true }));
    await new Promise((done) => requestAnimationFrame(done));
    const pen = canvas.getContext("2d");
    pen.getImageData(0, 0, 1, 1); // waits until the frame is drawn
    frames += 1;
  }
  return [frames, (performance.now() - start) / 1000];
}"""

RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return "no WebGL 2";
  const more = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
}"""


MOVES = 20


def cpu_seconds() -> float:
    """CPU time of the browser's processes: other than wall time, a loaded machine leaves it."""
    parents, ticks = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(process.name)] = int(fields[1])
        ticks[int(process.name)] = int(fields[11]) + int(fields[12])
    own, found = {os.getpid()}, set()
    while own:
        own = {child for child, parent in parents.items() if parent in own}
        found |= own
    return sum(ticks[each] for each in found) / os.sysconf("SC_CLK_TCK")


def page_of(rows: int, folder: Path) -> Path:
    """A page with the widget of random points around three planes."""
    scene = make_planes(3, random_state=0).data
    detector = PreferenceIsolationForest("plane", random_state=0, n_models=1000).fit(scene)
    rng = np.random.default_rng(0)
    X = scene[rng.integers(len(scene), size=rows)] + rng.normal(0, 0.02, (rows, 3))
    view = detector.view(X, scores=rng.uniform(size=rows), max_rows=rows)
    values = {name: getattr(view, name) for name in ("data", "style", "threshold", "selection")}
    path = folder / "view.html"
    esm = str(view._esm).replace("export default { render };", "")
    path.write_text(PAGE.format(esm=esm, values=json.dumps(values).replace("</", "<\\/")))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--browser", default=shutil.which("chromium"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tool:
        path = page_of(args.rows, Path(folder))
        options = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = tool.chromium.launch(executable_path=args.browser, args=options)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri(), timeout=300_000)
        page.wait_for_function("window.ready", timeout=300_000)
        print(f"load               {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"rows               {args.rows:,}")
        print(f"renderer           {page.evaluate(RENDERER)}")
        print(f"first picture      {page.evaluate('window.ready'):.0f} ms")
        before = cpu_seconds()
        moved = page.evaluate(MOVE)
        cpu = (cpu_seconds() - before) / MOVES
        print(f"move of threshold  {moved:.1f} ms, median; {1000 * cpu:.1f} ms of CPU")
        before = cpu_seconds()
        frames, seconds = page.evaluate(TURN)
        cpu = (cpu_seconds() - before) / frames
        print(
            f"turning            {frames / seconds:.1f} frames a second; {1000 * cpu:.1f} ms of CPU"
        )
        browser.close()


if __name__ == "__main__":
    main()
