"""Private keys in files of their own, readable by their owner alone. They are never in a database, nor in a backup of one."""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine.context import Engine
from recollect.model.errors import BadInput, NotAllowed, NotFound, WrongState
from recollect.rules.signatures import private_from_pem, private_pem, public_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME_DIGITS = 16
"""So many digits of the public key name its file. A person's name would outlive their erasure there."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def default_file(engine: Engine, key: str) -> Path:
    """Where a key lies unless somebody says otherwise: in a folder beside the store's file."""
    location = Path(engine.store.location)
    if not location.is_absolute():
        raise BadInput("this store is no file that a key could lie beside.", field="key-file", hint="Name a file.")
    return location.with_name(f"{location.name}.keys") / f"{key[:NAME_DIGITS]}.pem"


def write_key(path: Path, private: "Ed25519PrivateKey") -> None:
    """Write a new file that only its owner can read, and be sure that it is on the disk; an existing one is left alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        private_file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise WrongState("a file of that name is there.", field=str(path), hint="Name one that is not.") from None
    with os.fdopen(private_file, "wb") as file:
        file.write(private_pem(private))
        file.flush()
        os.fsync(file.fileno())


def read_key(path: Path) -> "Ed25519PrivateKey":
    """The private key of a file; one that others may read is refused, since it may be theirs by now."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            pem = file.read(10_000)
    except FileNotFoundError:
        raise NotFound("there is no such key file.", field=str(path), hint="Say where it is: --key-file.") from None
    except OSError as error:
        raise BadInput(f"it cannot be read: {error.strerror}.", field=str(path)) from None
    if mode & OTHERS:
        raise NotAllowed("others may read this private key.", field=str(path), hint=f"Run: chmod 600 {path}")
    try:
        return private_from_pem(pem)
    except ValueError as error:
        raise BadInput(f"it is not an Ed25519 private key in PEM form: {error}.", field=str(path)) from None


def key_in_file(engine: Engine, path: Path | None, key: str) -> "Ed25519PrivateKey":
    """The private key that belongs to a public one, from the file named, or from beside the store."""
    file = path or default_file(engine, key)
    found = read_key(file)
    if public_key(found) != key:
        raise BadInput(f"it holds another key than {key[:12]}.", field=str(file), hint="Name that key's own file.")
    return found
