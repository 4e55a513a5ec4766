"""Maps of surfaces: reading, missing pixels, defects."""

from __future__ import annotations

import numpy as np
import pytest

from piforest.surfaces import found_at, inspect_surface, read_map


def dented(shape=(40, 60), seed=0):
    """A curved map with a dent at x 40 to 52, y 20 to 30."""
    v, u = np.mgrid[: shape[0], : shape[1]]
    values = 20 + 0.1 * u + 0.002 * v**2 + 0.05 * np.random.default_rng(seed).normal(size=shape)
    values[20:30, 40:52] -= 2
    return values


@pytest.fixture(scope="module")
def found():
    return inspect_surface(dented(), random_state=0)


@pytest.mark.slow
def test_a_dent_is_the_largest_defect_with_its_box_and_depth(found):
    first = found.defects[0]
    left, top, right, bottom = first.box
    assert abs(np.array([left - 40, top - 20, right - 52, bottom - 30])).max() <= 2
    assert first.depth == pytest.approx(-2, abs=0.2)
    assert 110 <= first.area <= 140
    assert first.area == found.flagged[top:bottom, left:right].sum()


@pytest.mark.slow
def test_the_unit_of_the_map_does_not_matter(found):
    again = inspect_surface(dented() * 1024, random_state=0)
    assert (again.flagged == found.flagged).all()
    assert again.defects[0].depth == pytest.approx(1024 * found.defects[0].depth)


@pytest.mark.slow
def test_missing_pixels_have_no_score_and_are_not_flagged():
    values = dented()
    values[:5] = np.nan
    values[35, 50] = np.inf
    result = inspect_surface(values, random_state=0)
    assert np.isnan(result.scores[:5]).all()
    assert np.isnan(result.scores[35, 50])
    assert not result.flagged[:5].any()
    assert np.isfinite(np.delete(result.scores[5:], 30, axis=0)).all()


@pytest.mark.slow
def test_a_step_scores_some_pixels_and_finds_the_dent():
    result = inspect_surface(dented((80, 120)), step=2, random_state=0)
    assert result.step == 2
    assert result.scores.shape == (80, 120)
    # A cell of two by two pixels has one score.
    assert (result.scores[::2, ::2] == result.scores[1::2, 1::2]).all()
    left, top, _, _ = result.defects[0].box
    assert abs(left - 40) <= 2
    assert abs(top - 20) <= 2


def test_small_defects_are_told_by_their_scored_pixels():
    scores = np.zeros((40, 40))
    scores[8:12, 8:12] = scores[20:32, 20:32] = 1.0
    options = {"values": np.zeros((40, 40)), "scores": scores, "threshold": 0.5, "step": 4}
    two, one = (found_at(**options, min_area=least) for least in (1, 2))
    assert [each.area for each in two["defects"]] == [144, 16]
    assert [each.area for each in one["defects"]] == [144]
    assert (two["n_smaller"], one["n_smaller"]) == (0, 1)


@pytest.mark.parametrize("zero", ["auto", "missing", "valid"])
def test_zero_is_missing_in_whole_numbers_unless_told_otherwise(tmp_path, zero):
    for dtype in (np.uint8, np.uint16, np.float32):
        path = tmp_path / "map.npy"
        np.save(path, np.array([[0, 1], [2, 3]], dtype))
        missing = zero == "missing" or (zero == "auto" and np.dtype(dtype).kind == "u")
        assert np.isnan(read_map(path, zero=zero)[0, 0]) == missing


@pytest.mark.parametrize(
    ("name", "dtype"), [("a.png", np.uint8), ("b.png", np.uint16), ("c.tif", np.float32)]
)
@pytest.mark.parametrize("by_pillow", [False, True])
def test_pictures_keep_all_bits(tmp_path, monkeypatch, name, dtype, by_pillow):
    cv2 = pytest.importorskip("cv2")
    values = (np.arange(1, 13).reshape(3, 4) * 20.5).astype(dtype)
    assert cv2.imwrite(str(tmp_path / name), values)
    if by_pillow:
        pytest.importorskip("PIL")
        monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    assert (read_map(tmp_path / name) == values).all()


def test_without_a_reader_the_message_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"x")
    for module in ("cv2", "PIL"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ImportError, match=r"need OpenCV or Pillow: pip install 'piforest\[vision"):
        read_map(tmp_path / "a.png")


def test_bad_maps_are_refused_in_words(tmp_path):
    with pytest.raises(ValueError, match="the map has 0 valid pixels on a grid of step 1,"):
        inspect_surface(np.full((9, 9), np.nan))
    with pytest.raises(ValueError, match="0 valid pixels"):
        inspect_surface(np.zeros((9, 9), np.uint16))
    with pytest.raises(ValueError, match="a colour picture holds no depth"):
        inspect_surface(np.zeros((9, 9, 3)))
    with pytest.raises(ValueError, match="step must be an integer of at least 1"):
        inspect_surface(dented(), step=0)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_map(tmp_path / "none.png")
    (tmp_path / "bad.npy").write_bytes(b"no")
    with pytest.raises(ValueError, match="is not an array of numbers"):
        read_map(tmp_path / "bad.npy")
    with pytest.raises(ValueError, match="the 400 valid pixels of the map are all 1"):
        inspect_surface(np.ones((20, 20)))


def test_a_picture_of_three_equal_channels_is_a_map_with_a_word(tmp_path):
    cv2 = pytest.importorskip("cv2")
    grey = np.random.default_rng(0).integers(1, 255, (20, 30), dtype=np.uint8)
    cv2.imwrite(str(tmp_path / "photo.png"), np.repeat(grey[:, :, None], 3, axis=2))
    with pytest.warns(UserWarning, match="first of 3 equal channels is taken; is it no photograph"):
        assert (read_map(tmp_path / "photo.png") == grey).all()
