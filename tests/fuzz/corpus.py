"""Valid files of every format to begin with."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import cv2
import laspy
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io

from colmap_files import put_colmap
from piforest import PreferenceIsolationForest, VoronoiForest
from piforest.datasets import make_lines, make_plane_pair
from piforest.io.tables import Table, write_table

MODELS = Path(__file__).parents[1] / "models"
X = make_lines(2, sizes=30, noise=0.01, anomaly_share=0.3, random_state=0).data.round(4)
XYZ = np.random.default_rng(0).uniform(-5, 5, (40, 3)).round(3)


def make_corpus(folder):
    """Name to content of one file of each kind."""
    for put in (_texts, _arrays, _scans, _databases, _images, _models):
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
    (folder / "packed.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
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
    write_table(folder / "few.parquet", Table(dict(zip("xy", X[:5].T)), "here"))


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
