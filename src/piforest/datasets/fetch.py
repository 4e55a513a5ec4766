"""Downloading AdelaideRMF from wherever the user has it, checked against its published hashes."""

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
    """File name to SHA-256, of the files as they were published."""
    text = resources.files("piforest.datasets").joinpath("adelaidermf.sha256").read_text()
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def fetch_adelaidermf(
    base_url: str,
    names: str | Sequence[str] | None = None,
    *,
    folder: str | PathLike[str] | None = None,
    progressbar: bool = False,
) -> Path:
    """Download the files of AdelaideRMF and return the folder that holds them.

    piforest names no address: `base_url` is a folder on a server that holds the
    files under their published names (barrsmith.mat, ..., johnsona.csv). Each file
    is checked against its SHA-256; files that are there already and right are not
    fetched again; a wrong or broken download leaves no file behind. The tests
    download from a server on the same machine: no public one has been tried.

    Parameters
    ----------
    base_url : str
        The folder on a server.
    names : str, sequence of str or None, default=None
        Which sets; all 38 if None.
    folder : str, path or None, default=None
        Where to put them; where `load_adelaidermf` looks for them if None.
    progressbar : bool, default=False
        Show one for each file (needs tqdm).

    Returns
    -------
    Path
        The folder that holds the files.

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
