"""`piforest doctor`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from typing import Any

from ._output import Output

HELP = "check the installation"
DESCRIPTION = (
    "Print the versions of piforest and its dependencies, the installed extras and how to install "
    "the others, cores, the folder of compiled code, the GPU and the data. Exit code 1 if piforest "
    "does not work."
)
_CORE = {"numpy": "numpy", "scipy": "scipy", "scikit-learn": "sklearn", "numba": "numba",
         "joblib": "joblib"}  # fmt: skip
# Package to module, by extra.
_EXTRAS = {
    "plots": {"matplotlib": "matplotlib"},
    "cli": {"pyarrow": "pyarrow", "openpyxl": "openpyxl"},
    "vision": {"opencv-python-headless": "cv2"},
    "cloud": {"laspy": "laspy", "lazrs": "lazrs"},
    "data": {"pooch": "pooch"},
    "sql": {"sqlalchemy": "sqlalchemy"},
    "remote": {"fsspec": "fsspec", "aiohttp": "aiohttp"},
    "serve": {"fastapi": "fastapi", "uvicorn": "uvicorn"},
    "dask": {"dask": "dask", "distributed": "distributed"},
    "gpu": {"torch": "torch"},
}
_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "PIFOREST_DATA")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace, output: Output) -> int:
    core = {package: _core(package, module) for package, module in _CORE.items()}
    complete = all("error" not in each for each in core.values())
    summary: dict[str, Any] = {
        "piforest": _piforest(),
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "system": platform.platform(),
        "core": core,
        "extras": {
            extra: {package: _extra(package, module) for package, module in packages.items()}
            for extra, packages in _EXTRAS.items()
        },
        "threads": _threads(),
        "compile_cache": _compile_cache() if complete else None,
        "gpu": _gpu(),
        "data": _data() if complete else None,
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "works": complete and _works(),
    }
    for line in _lines(summary):
        output.say(line)
    output.result(summary)
    return 0 if summary["works"] is True else 1


def _piforest() -> dict[str, str]:
    from ... import __file__ as place
    from ... import __version__

    return {"version": __version__, "folder": os.path.dirname(place)}


def _core(package: str, module: str) -> dict[str, str]:
    """The version, or the error: the package is imported, since it may be broken."""
    import importlib

    try:
        return {"version": str(importlib.import_module(module).__version__)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}


def _extra(package: str, module: str) -> str | None:
    """The version, or None. The package is not imported, which may take seconds."""
    from importlib import metadata, util

    try:
        if util.find_spec(module) is None:
            return None
    except (ValueError, ImportError):
        return None
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown version"


def _threads() -> dict[str, int | None]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {"cores": os.cpu_count(), "usable": usable}


def _compile_cache() -> dict[str, Any]:
    """The folder of compiled code, and whether it is writable."""
    from ..._kernels import trees

    folder = getattr(getattr(trees.descend, "_cache", None), "cache_path", None)
    return {"folder": folder, "writable": folder is not None and _writable(folder)}


def _writable(folder: str) -> bool:
    """Whether a file can be written to the folder, or to its nearest existing parent.

    A file is written, since permissions do not reveal a full disk.
    """
    import tempfile

    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0")
    except OSError:
        return False
    return True


def _gpu() -> dict[str, Any]:
    if _extra("torch", "torch") is None:
        return {"torch": None, "available": False, "names": []}
    try:
        import torch

        available = bool(torch.cuda.is_available())
        count = torch.cuda.device_count() if available else 0
        names = [torch.cuda.get_device_name(k) for k in range(count)]
        return {"torch": str(torch.__version__), "available": available, "names": names}
    except Exception as error:  # an incompatible driver may raise any error
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return {"torch": None, "available": False, "names": [], "error": message}


def _data() -> dict[str, Any]:
    """The published datasets that are available."""
    from ...datasets.published import ADELAIDERMF, SYNTHETIC2D, data_file, data_folder

    sets = {"synthetic2d": list(SYNTHETIC2D), "adelaidermf": list(ADELAIDERMF)}
    found = {name: [each for each in names if data_file(each).is_file()]
             for name, names in sets.items()}  # fmt: skip
    return {
        "folder": str(data_folder()),
        "found": found,
        "known": {name: len(names) for name, names in sets.items()},
    }


def _works() -> bool | str:
    """Detect one point beside a line; True, or the error."""
    try:
        import numpy as np

        from ...estimators import PreferenceIsolationForest

        X = np.column_stack([np.arange(40.0), np.arange(40.0)])
        X[-1] = 10, 30
        detector = PreferenceIsolationForest("line", n_models=50, n_estimators=10, random_state=0)
        scores = detector.fit(X).scores_
        return bool(np.argmax(scores) == 39) or "the test point was not found"
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _lines(summary: dict[str, Any]) -> list[str]:
    """The result as text."""
    lines = [
        f"piforest      {summary['piforest']['version']} in {summary['piforest']['folder']}",
        f"python        {summary['python']['version']} ({summary['python']['executable']})",
        f"system        {summary['system']}",
        "",
    ]
    for package, found in summary["core"].items():
        lines.append(f"{package:<14}{found.get('version') or 'BROKEN: ' + found['error']}")
    lines.append("")
    lines += [_extra_line(extra, packages) for extra, packages in summary["extras"].items()]
    lines.append("")
    threads, gpu, data = summary["threads"], summary["gpu"], summary["data"]
    lines.append(f"cores         {threads['cores']}, usable {threads['usable'] or 'unknown'}")
    if cache := summary["compile_cache"]:
        slow = "" if cache["writable"] else "; NOT writable: every run compiles again"
        lines.append(f"compile cache {cache['folder'] or 'none'}{slow}")
    lines.append(f"gpu           {_gpu_line(gpu)}")
    if data:
        found = ", ".join(f"{len(names)} of {data['known'][name]} {name}"
                          for name, names in data["found"].items())  # fmt: skip
        lines.append(f"data          {data['folder']}: {found}")
    lines += [f"{name} is {value}" for name, value in summary["environment"].items()]
    lines += ["", "piforest works." if summary["works"] is True else _broken(summary["works"])]
    return lines


def _extra_line(extra: str, packages: dict[str, str | None]) -> str:
    found = [f"{package} {version}" for package, version in packages.items() if version]
    missing = [f"{package} missing" for package, version in packages.items() if not version]
    install = f": pip install 'piforest[{extra}]'" if missing else ""
    return f"[{extra}]".ljust(14) + ", ".join(found + missing) + install


def _gpu_line(gpu: dict[str, Any]) -> str:
    if "error" in gpu:
        return f"torch cannot be used: {gpu['error']}"
    if gpu["torch"] is None:
        return "none: torch is missing"
    return ", ".join(gpu["names"]) or f"none that torch {gpu['torch']} can use"


def _broken(why: bool | str) -> str:
    reason = f": {why}" if isinstance(why, str) else ""
    return f"piforest does NOT work{reason}. Try: pip install --force-reinstall piforest"
