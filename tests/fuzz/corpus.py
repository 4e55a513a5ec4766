"""Valid files of every format to begin with."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import cv2
import h5py
import laspy
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import xlsxwriter

from colmap_files import put_colmap, put_real_colmap
from hloc_files import put_hloc, split
from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines, make_plane_pair
from piforest.io.tables import Table, read_table, write_table

from .mutations import PACKERS

MODELS = Path(__file__).parents[1] / "models"
X = make_lines(2, sizes=30, noise=0.01, anomaly_share=0.3, random_state=0).data.round(4)
XYZ = np.random.default_rng(0).uniform(-5, 5, (40, 3)).round(3)


def make_corpus(folder):
    """Name to content of one file of each kind."""
    for put in (_texts, _arrays, _scans, _databases, _images, _models, _matches, _cameras):
        put(folder)
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    stored = {path.name: path.read_bytes() for path in sorted(MODELS.glob("*.pif"))}
    return {**found, **stored}


def _texts(folder):
    rows = [f'r{k},{x:.4f},{y:.4f},"a, {k}"' for k, (x, y) in enumerate(X)]
    text = "\n".join(["id,x,y,note", *rows]) + "\n"
    (folder / "table.csv").write_text(text)
    (folder / "comma.csv").write_text(
        "x;y\n" + "\n".join(f"{x};{y}" for x, y in X).replace(".", ",")
    )
    (folder / "table.tsv").write_text(text.replace(",", "\t"))
    (folder / "table.txt").write_text("# x y\n" + "\n".join(f"{x} {y}" for x, y in X))
    for suffix in PACKERS:  # compressed once they are changed
        (folder / f"packed.csv{suffix}").write_text(text)
    lines = [json.dumps({"id": f"r{k}", "x": x, "y": y}) for k, (x, y) in enumerate(X.tolist())]
    (folder / "lines.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "array.json").write_text("[" + ",\n".join(lines) + "]\n")
    (folder / "cloud.xyz").write_text("\n".join(f"{x} {y} {z}" for x, y, z in XYZ))


def _arrays(folder):
    np.save(folder / "array.npy", X)
    np.save(folder / "fortran.npy", np.asfortranarray(X.astype(">f4")))
    np.save(folder / "records.npy", np.rec.fromarrays([*X.T, np.arange(len(X))], names="x,y,n"))
    np.savez(folder / "plain.npz", X)
    np.savez_compressed(folder / "packed.npz", X)
    scipy.io.savemat(folder / "four.mat", {"X": X}, format="4")
    scipy.io.savemat(folder / "five.mat", {"s": "text", "X": X, "c": {"a": 1.0}})
    scipy.io.savemat(folder / "packed.mat", {"X": X, "n": 3.0}, do_compression=True)


def _scans(folder):
    faces = "element face 2\nproperty list uchar int vertex_indices\nproperty uchar red\n"
    head = f"element vertex {len(XYZ)}\n" + "".join(f"property float {c}\n" for c in "xyz") + faces
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in XYZ)
    (folder / "text.ply").write_text(
        f"ply\nformat ascii 1.0\ncomment by hand\n{head}end_header\n{rows}3 0 1 2 9\n4 0 1 2 3 9\n"
    )
    for name, order in (("little", "<"), ("big", ">")):
        body = XYZ.astype(f"{order}f4").tobytes()
        body += b"\3" + np.arange(3).astype(f"{order}i4").tobytes() + b"\7"
        body += b"\4" + np.arange(4).astype(f"{order}i4").tobytes() + b"\7"
        (folder / f"{name}.ply").write_bytes(
            f"ply\nformat binary_{name}_endian 1.0\n{head}end_header\n".encode() + body
        )
    for name in ("ascii", "binary", "compressed"):
        path = Path(__file__).parents[1] / "io" / "tables" / "files" / f"pcl_{name}.pcd"
        (folder / path.name).write_bytes(path.read_bytes())
    for version, point_format in (("1.2", 3), ("1.4", 6)):
        scan = laspy.LasData(laspy.LasHeader(point_format=point_format, version=version))
        scan.x, scan.y, scan.z = XYZ.T
        scan.add_extra_dim(laspy.ExtraBytesParams("own", "int32"))
        for suffix in ("las", "laz"):
            scan.write(folder / f"v{version[2]}.{suffix}")


def _databases(folder):
    put_colmap(folder / "matches.db")
    columns = {
        "x": pa.array(X[:, 0]),
        "y": pa.array(X[:, 1], pa.float32()),
        "when": pa.array(np.arange(len(X)), pa.timestamp("ms")),
        "kind": pa.array((["a", None] * len(X))[: len(X)]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), folder / "table.parquet", row_group_size=25)
    for name, new, packing in (
        ("file.arrow", pa.ipc.new_file, None),
        ("packed.feather", pa.ipc.new_file, "lz4"),
        ("stream.arrows", pa.ipc.new_stream, "zstd"),
    ):
        options = pa.ipc.IpcWriteOptions(compression=packing, unify_dictionaries=True)
        with new(str(folder / name), pa.table(columns).schema, options=options) as out:
            out.write_table(pa.table(columns), max_chunksize=25)
    table = read_table(folder / "table.parquet")
    write_table(folder / "own.xlsx", table)
    with xlsxwriter.Workbook(folder / "other.xlsx") as book:
        sheet = book.add_worksheet("points")
        for at, row in enumerate([["x", "y", "note"], *([x, y, "a"] for x, y in X.tolist())]):
            sheet.write_row(at, 0, row)
    write_table(folder / "few.parquet", Table(dict(zip("xy", X[:5].T)), "here"))


def _matches(folder):
    """Files of matches; of hloc, `features.h5` has the keypoints of `matches_sparse.h5`."""
    rows = make_plane_pair(1, random_state=0).data[:40].astype(np.float32)
    one, two, index = split(rows)
    index = index[np.argsort(index[:, 0])]
    scores = np.linspace(0.1, 1, len(index)).astype(np.float32)
    to = np.full(len(one), -1)
    to[index[:, 0]] = index[:, 1]
    points = {"keypoints0": one, "keypoints1": two}
    np.savez(folder / "matches_lightglue.npz", **points, matches=index, scores=scores)
    np.savez_compressed(folder / "matches_superglue.npz", **points, matches=to)
    np.savez(folder / "matches_loftr.npz", mkpts0_f=rows[:, :2], mkpts1_f=rows[:, 2:], mconf=scores)
    images, pairs = {"x/a.png": one, "b.png": two}, {("x/a.png", "b.png"): (index, scores)}
    path, _ = put_hloc(folder, images, pairs, lightglue=True)
    path.rename(folder / "matches_sparse.h5")
    with h5py.File(folder / "matches_dense.h5", "w") as file:
        group = file.create_group("a.png/b.png")
        group["keypoints0"], group["keypoints1"], group["scores"] = rows[:, :2], rows[:, 2:], scores
    put_real_colmap(folder / "matches_real.db")


def _cameras(folder):
    K = "500, 0, 320, 0, 510, 240, 0, 0, 1"
    (folder / "camera.yml").write_text(
        f"camera_matrix:\n  rows: 3\n  cols: 3\n  data: [{K}]\n"
        "distortion_coefficients:\n  data: [-0.1, 0.02, 0, 0, 0]\n"
    )
    (folder / "camera.json").write_text('{"fx": 500, "fy": 510, "cx": 320, "cy": 240}')
    (folder / "camera.txt").write_text("# list\n1 OPENCV 640 480 500 510 320 240 -0.1 0.1 0 0\n")


def _models(folder):
    small = {"n_estimators": 4, "max_samples": 16, "random_state": 0}
    frame_names = np.array(["x", "y"], object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, detector in {
            "default": PreferenceIsolationForest("line", n_models=30, **small),
            "several": PreferenceIsolationForest(["line", "circle"], n_models=30, **small),
            "paper": PreferenceIsolationForest.paper("circle", sigma=0.02, n_models=30, **small),
            "dense": VoronoiForest("euclidean", **small),
        }.items():
            detector.fit(X)
            detector.feature_names_in_ = frame_names
            detector.save(folder / f"new_{name}.pif")


def _images(folder):
    image = make_plane_pair(1, random_state=0).images[0][::3, ::3, ::-1]
    for suffix in (".png", ".jpg"):
        (folder / f"image{suffix}").write_bytes(cv2.imencode(suffix, image)[1].tobytes())
