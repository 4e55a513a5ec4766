"""The images in the report: two images under their matches."""

from __future__ import annotations

import base64
import io
import json
import re
import sys

import numpy as np
import pytest

from piforest import PreferenceIsolationForest
from piforest.datasets import make_plane_pair
from piforest.report import write_report
from piforest.report.images import MAX_BYTES, image_data, png, validate_image


def noise(shape):
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.slow
def test_images_lie_in_the_page_with_the_size_that_coordinates_refer_to(tmp_path):
    from PIL import Image

    scene = make_plane_pair(2, random_state=0)
    detector = PreferenceIsolationForest("homography", n_models=1000, random_state=0)
    write_report(tmp_path / "a.html", detector.fit(scene.data), scene.data, images=scene.images)
    text = (tmp_path / "a.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    for held, given_ in zip(data["images"], scene.images):
        kind, packed = re.fullmatch(r"data:image/(\w+);base64,(.*)", held["uri"]).groups()
        picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(packed))), float)
        assert kind == "jpeg"
        assert (held["height"], held["width"]) == given_.shape[:2] == picture.shape[:2]
        assert np.abs(picture - given_).mean() < 8


@pytest.mark.slow
def test_large_images_are_shrunk_and_stay_within_their_share():
    held = image_data(noise((3000, 4001, 3)))
    assert (held["width"], held["height"]) == (4001, 3000)
    assert len(held["uri"]) < 1.4 * MAX_BYTES


@pytest.mark.parametrize("absent", [["PIL"], ["PIL", "cv2"]])
def test_images_do_without_pillow_and_without_opencv(absent, monkeypatch):
    from PIL import Image

    for name in list(sys.modules):
        if name.split(".")[0] in absent:
            monkeypatch.setitem(sys.modules, name, None)
    image = np.add.outer(np.arange(60), np.arange(80)).astype(np.uint8)
    uri = image_data(np.dstack([image, image, 255 - image]))["uri"]
    monkeypatch.undo()
    kind, packed = re.fullmatch(r"data:image/(\w+);base64,(.*)", uri).groups()
    assert kind == ("png" if "cv2" in absent else "jpeg")
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(packed))), float)
    assert np.abs(picture[..., 0] - image).mean() < 6
    assert np.abs(picture[..., 2] - (255 - image)).mean() < 6


@pytest.mark.parametrize("shape", [(7, 5), (7, 5, 3)])
def test_a_png_holds_every_pixel(shape):
    from PIL import Image

    image = noise(shape)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png(image)))), image)


def test_images_of_other_kinds_become_bytes():
    ramp = np.linspace(0, 1, 12).reshape(3, 4)
    assert validate_image(ramp, 0).tolist()[2][3] == 255
    assert validate_image((ramp * 65535).astype(np.uint16), 0).tolist()[2][3] == 255
    assert validate_image(ramp > 0.5, 0).tolist()[2][3] == 255
    assert validate_image(np.dstack([ramp] * 4), 0).shape == (3, 4, 3)


def test_an_array_that_is_no_image_raises_an_error():
    with pytest.raises(ValueError, match=re.escape("images[1] must be an array (h, w)")):
        validate_image(np.zeros(3), 1)
    with pytest.raises(ValueError, match=re.escape("images[0] must be numeric, got dtype <U1")):
        validate_image(np.full((2, 2), "a"), 0)
