"""Cameras, against COLMAP and OpenCV; and the files that hold them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from piforest.io.cameras import MODELS
from piforest.vision import Camera, read_calibration

RNG = np.random.default_rng(0)
PIXELS = RNG.uniform([20, 20], [620, 460], (200, 2))
# Parameters with a clear distortion, by COLMAP's name.
PARAMS = {
    "SIMPLE_PINHOLE": [500, 320, 240],
    "PINHOLE": [500, 510, 320, 240],
    "SIMPLE_RADIAL": [500, 320, 240, -0.12],
    "RADIAL": [500, 320, 240, -0.12, 0.03],
    "OPENCV": [500, 510, 320, 240, -0.12, 0.03, 0.002, -0.001],
    "OPENCV_FISHEYE": [500, 510, 320, 240, -0.05, 0.01, 0.002, -0.001],
    "FULL_OPENCV": [500, 510, 320, 240, -0.1, 0.03, 0.002, -0.001, 0.01, 0.02, -0.01, 0.003],
    "SIMPLE_RADIAL_FISHEYE": [500, 320, 240, -0.05],
    "RADIAL_FISHEYE": [500, 320, 240, -0.05, 0.01],
    "SIMPLE_FISHEYE": [500, 320, 240],
    "FISHEYE": [500, 510, 320, 240],
}


@pytest.mark.parametrize(("number", "name"), [(k, name) for k, (name, _) in MODELS.items()])
def test_pixels_become_rays_as_in_colmap(number, name):
    pycolmap = pytest.importorskip("pycolmap")
    other = pycolmap.Camera(model=name, width=640, height=480, params=PARAMS[name])
    assert int(other.model) == number
    ours = Camera.of_colmap(number, PARAMS[name])
    assert ours == Camera.of_colmap(name, PARAMS[name])
    rays = ours.normalise(PIXELS)
    assert np.allclose(rays, other.cam_from_img(PIXELS), atol=1e-6)
    assert np.allclose(ours.distort(rays) * [ours.fx, ours.fy] + [ours.cx, ours.cy], PIXELS)


def test_distortion_is_that_of_opencv():
    cv2 = pytest.importorskip("cv2")
    *focal, k1, k2, p1, p2 = PARAMS["OPENCV"]
    ours = Camera.of_colmap("OPENCV", PARAMS["OPENCV"])
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 100, 1e-12)
    given = PIXELS[:, None], Camera.of(focal).K, np.array([k1, k2, p1, p2])
    if hasattr(cv2, "undistortPointsIter"):  # OpenCV 4
        other = cv2.undistortPointsIter(*given, None, None, criteria)
    else:
        other = cv2.undistortPoints(*given, criteria=criteria)
    assert np.allclose(ours.normalise(PIXELS), other[:, 0], atol=1e-6)


def test_a_matrix_four_numbers_and_a_camera_are_the_same():
    camera = Camera(500, 510, 320, 240)
    assert camera == Camera.of(camera) == Camera.of(camera.K) == Camera.of([500, 510, 320, 240])
    assert camera.focal == 505


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Camera.of(np.eye(2)), r"K must be a matrix \(3, 3\) or fx, fy, cx, cy, .*\(2, 2"),
        (lambda: Camera.of([[1, 2, 3], [0, 1, 4], [0, 0, 1]]), "without skew"),
        (lambda: Camera(0, 1, 2, 3), "focal lengths above 0, got 0, 1, 2, 3"),
        (lambda: Camera(1, float("nan"), 2, 3), "finite numbers"),
        (lambda: Camera.of_colmap(7, [1] * 5), "camera model 'number 7' is not supported"),
        (lambda: Camera.of_colmap("FOV", [1] * 5), "'FOV' is not supported; .*Undistort the image"),
        (lambda: Camera.of_colmap("RADIAL", [1] * 4), "RADIAL has 5 parameters, got 4"),
        (lambda: Camera(1, 1, 0, 0, "OPENCV", (1.0,)), "4 distortion parameters, got 1"),
        (
            lambda: Camera.of_colmap("SIMPLE_RADIAL", [500, 0, 0, -1.0]).normalise([[9e4, 9e4]]),
            r"1 of 1 points lie where the camera, .* sees nothing, the first at \[90000.0, 90000",
        ),
    ],
)
def test_cameras_that_cannot_be_raise_an_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_calibrations_are_read_in_every_format(tmp_path):
    K = Camera(500, 510, 320, 240)
    texts = {
        "K.txt": "# mine\n500 0 320\n0 510 240\n0 0 1\n",
        "K.csv": "500,510,320,240\n",
        "K.json": json.dumps({"camera_matrix": K.K.tolist(), "dist_coeffs": [[0, 0, 0, 0, 0]]}),
        "names.json": json.dumps({"fx": 500, "fy": 510, "cx": 320, "cy": 240}),
        "cameras.txt": "# Camera list\n1 PINHOLE 640 480 500 510 320 240\n",
        "ros.yaml": "image_width: 640\ncamera_matrix:\n  rows: 3\n  cols: 3\n  data: [500, 0, 320, "
        "0, 510, 240, 0, 0, 1]\ndistortion_coefficients:\n  data: [0, 0, 0, 0, 0]\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert read_calibration(tmp_path / name) == [K], name


def test_the_file_of_opencv_is_read(tmp_path):
    cv2 = pytest.importorskip("cv2")
    path = tmp_path / "camera.yml"
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    storage.write("image_width", 640)
    storage.write("camera_matrix", Camera(500, 510, 320, 240).K)
    storage.write("distortion_coefficients", np.array([[-0.1, 0.02, 0.001, -0.002, 0.003]]))
    storage.release()
    expected = (-0.1, 0.02, 0.001, -0.002, 0.003, 0, 0, 0)
    assert read_calibration(path) == [Camera(500, 510, 320, 240, "FULL_OPENCV", expected)]


def test_the_cameras_that_colmap_writes_are_read(tmp_path):
    pycolmap = pytest.importorskip("pycolmap")
    model = pycolmap.Reconstruction()
    for number, name in enumerate(("SIMPLE_RADIAL", "OPENCV"), 1):
        model.add_camera(
            pycolmap.Camera(
                camera_id=number, model=name, width=640, height=480, params=PARAMS[name]
            )
        )
    model.write_text(str(tmp_path))
    expected = [Camera.of_colmap(name, PARAMS[name]) for name in ("SIMPLE_RADIAL", "OPENCV")]
    assert read_calibration(tmp_path / "cameras.txt") == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "a.txt holds no camera"),
        ("a.txt", b"1 2 3", "3 numbers, needed are 9 of K or 4"),
        ("a.txt", b"\xff\xfe\x00", "holds no calibration that can be read"),
        ("a.txt", b"1 FOV 640 480 1 1 1 1 1", "camera 1: camera model 'FOV' is not supported"),
        ("a.txt", b"1 PINHOLE 640 480 500 510 320", "camera 1: .*PINHOLE has 4 parameters, got 3"),
        ("a.txt", b"1 PINHOLE 640 480 5 5 3 2\n2 PINHOLE", "camera 2 needs CAMERA_ID MODEL WIDTH"),
        ("a.json", b"[1, 2]", "JSON needs an object"),
        ("a.json", b"{" * 9000, "holds no calibration that can be read"),
        ("a.json", b'{"fx": 1}', "no K, camera_matrix, or fx, fy, cx and cy"),
        ("a.json", b'{"K": [[1, 2], [3]]}', "holds no calibration that can be read"),
        ("a.yml", b"camera_matrix:\n", "no camera_matrix"),
        ("a.yml", b"camera_matrix:\n  data: [1, 2]\n", "camera_matrix has 2 numbers"),
        ("a.yml", b"camera_matrix:\n  data: [1, x]\n", "could not convert"),
        ("a.txt", b"1 " * 2**20, "too large for a calibration file"),
    ],
)
def test_files_without_a_calibration_are_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_calibration(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_absent_calibration_raises_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no\.txt: there is no such file"):
        read_calibration(tmp_path / "no.txt")
    with pytest.raises(ValueError, match="is no regular file"):
        read_calibration(tmp_path)
