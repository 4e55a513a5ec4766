"""Download AdelaideRMF from a given server and verify the SHA-256 of each file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from .._validation import check_choice
from .published import ADELAIDERMF, CITATION, data_folder


def file_hashes() -> dict[str, str]:
    """The SHA-256 of the published files, by file name."""
    text = resources.files("piforest.datasets").joinpath("adelaidermf.sha256").read_text()
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def fetch_adelaidermf(
    base_url: str,
    names: str | Sequence[str] | None = None,
    *,
    folder: str | PathLike[str] | None = None,
    progressbar: bool = False,
) -> Path:
    """Download the files of AdelaideRMF and return their folder.

    There is no default address: `base_url` is a folder on a server with the files under
    their published names (barrsmith.mat, ..., johnsona.csv). The SHA-256 of each file is
    verified. Existing files with the right hash are not downloaded again, and a failed
    download leaves no file behind. Tests use a local server; no public server has been tried.

    Parameters
    ----------
    base_url : str
        The folder on a server.
    names : str, sequence of str or None, default=None
        The sets to download. If None, all 38.
    folder : str, path or None, default=None
        The target folder. If None, the folder that `load_adelaidermf` reads from.
    progressbar : bool, default=False
        Show a progress bar for each file (requires tqdm).

    Returns
    -------
    Path
        The folder with the files.

    Examples
    --------
    >>> from piforest.datasets import fetch_adelaidermf
    >>> fetch_adelaidermf("https://server/folder", "barrsmith")  # doctest: +SKIP
    """
    pooch = _pooch()
    wanted = list(ADELAIDERMF) if names is None else [names] if isinstance(names, str) else names
    for name in wanted:
        check_choice("names", name, list(ADELAIDERMF))
    target = Path(folder) if folder is not None else data_folder() / "adelaidermf"
    hashes = file_hashes()
    files = [file for file in hashes if file.partition(".")[0] in wanted]
    store = pooch.create(path=target, base_url=base_url.rstrip("/") + "/", registry=hashes)
    missing = [file for file in files if not _is_right(pooch, target / file, hashes[file])]
    for file in missing:
        try:
            store.fetch(file, progressbar=progressbar)
        except OSError as error:
            raise OSError(
                f"could not fetch {file} from {base_url}: {error}. Check the address and the "
                "connection; what was fetched before is kept."
            ) from error
    if missing:
        print(f"AdelaideRMF is in {target}. {CITATION}", file=sys.stderr)
    return target


def _is_right(pooch: Any, path: Path, digest: str) -> bool:
    return path.is_file() and pooch.file_hash(str(path)) == digest


def _pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloading needs pooch: pip install 'piforest[data]'") from error
    pooch.get_logger().setLevel("WARNING")
    return pooch
