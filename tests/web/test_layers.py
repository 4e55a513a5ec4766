"""Many points: what WebGL and splats draw is what the canvas draws, point by point."""

from __future__ import annotations

import pytest

from piforest.web import STATIC, bundled, static

# Points on a coarse grid, so that none hides another; every seventh is anomalous.
PAGE = """<!doctype html><meta charset="utf-8"><style>{style}</style><body><div class="work" id="w">
</div><script type="module">
{script}
const side = {side}, n = side ** 2, at = (f) => Float64Array.from({{ length: n }}, (_, k) => f(k));
const named = (name, numbers) => ({{ name, numbers, texts: null }});
const columns = [named("x", at((k) => k % side)), named("y", at((k) => Math.floor(k / side))),
  named("z", at((k) => (k * 7919) % 97))];
const scores = at((k) => (k % 7 ? 0.2 : 0.8));
const above = new Int32Array(1002).fill(Math.ceil(n / 7)).fill(0, 801);
const data = completed({{
  columns, derived: [], scores, rowNumbers: at((k) => k), nearest: null, distances: null,
  total: n, noun: "points", stem: "a", unit: "", reach: 3, structures: [], images: [],
  thresholds: {{ initial: 0.5, flagged: Math.ceil(n / 7), scale: 1000, first: 0, above }},
  view: {{ mode: "{mode}", places: [0, 1, 2], opening: [0, 1], equal: false, law: false }},
}});
const LAYERS = {{ canvas: () => null, webgl: () => webglLayer(false), splats: splatLayer }};
const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

// The number of blue or of orange pixels, faded or not, and their mean place.
function seen(plot, blue) {{
  const {{ width, height }} = plot.canvas;
  const pixels = plot.pen.getImageData(0, 0, width, height).data;
  let count = 0, x = 0, y = 0;
  for (let k = 0; k < width * height; k++) {{
    const more = pixels[4 * k + 2] - pixels[4 * k];
    if ((blue ? more : -more) < 30) continue;
    [count, x, y] = [count + 1, x + (k % width), y + Math.floor(k / width)];
  }}
  return [count, x / count, y / count];
}}

window.look = async (name, threshold) => {{
  const cards = viewCards(data);
  document.getElementById("w").replaceChildren(cards.view, cards.threshold, cards.row);
  const plot = createPlot(document, data, {{ gpuLayer: LAYERS[name] }});
  if (name !== "canvas" && !plot.gpu) return null;
  setThreshold(plot, threshold);
  await drawn();
  const found = [seen(plot, true), seen(plot, false)];
  plot.remove();
  return found;
}};
window.counted = (t) => [keptCount(data, t), scores.filter((s) => s <= t).length];
</script>"""


@pytest.fixture(scope="module")
def look(browser, tmp_path_factory):
    """Pages by mode and side of the grid."""
    folder, pages, problems = tmp_path_factory.mktemp("layers"), [], []
    entry = folder / "entry.js"
    parts = {"viewCards": "cards", "createFullPlot": "full"}
    entry.write_text("".join(f'import {{ {k} }} from "./{v}.js";\n' for k, v in parts.items()))

    def opened(mode, side=40):
        text = PAGE.format(
            style=static(STATIC / "base.css"), script=bundled(entry), mode=mode,
            side=side,
        )  # fmt: skip
        path = folder / f"{mode}{side}.html"
        path.write_text(text)
        page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert problems == []


@pytest.mark.parametrize("layer", ["webgl", "splats"])
@pytest.mark.parametrize("mode", ["2d", "3d"])
def test_a_layer_draws_as_many_points_at_the_same_places_as_the_canvas(look, mode, layer):
    page = look(mode)
    expected = page.evaluate("look('canvas', 0.5)")
    found = page.evaluate("name => look(name, 0.5)", layer)
    if found is None:
        pytest.skip("this browser has no WebGL 2")
    for (count, x, y), (other, other_x, other_y) in zip(found, expected):
        assert other > 1000
        assert count == pytest.approx(other, rel=0.5)
        assert (x, y) == pytest.approx((other_x, other_y), abs=4)


@pytest.mark.parametrize("layer", ["canvas", "webgl", "splats"])
def test_a_score_at_the_threshold_is_kept_in_every_layer(look, layer):
    page = look("2d")
    for threshold, anomalous in ((0.8, False), (0.799, True)):
        found = page.evaluate("([name, value]) => look(name, value)", [layer, threshold])
        if found is None:
            pytest.skip("this browser has no WebGL 2")
        assert (found[1][0] > 500) == anomalous, threshold


def test_the_number_of_kept_rows_is_found_by_halving_and_by_counting(look):
    page = look("2d")
    for threshold in (-1, 0.2, 0.19999999, 0.5, 0.8, 0.80000001, 2):
        fast, slow = page.evaluate("value => counted(value)", threshold)
        assert fast == slow, threshold
