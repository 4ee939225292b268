"""Files that checkpoints, proofs, entries and public keys are read from and written to."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from recollect.interfaces.cli.session import write_out
from recollect.model.errors import BadInput, Refused
from recollect.model.proof import Checkpoint, Document, KeyHistory

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Thousands of entries about one memory, at two kilobytes each; what is larger than this is no document of ours."""
PRIVATE = 0o600
"""The mode of new files: read and written by their owner alone."""
_KEY = re.compile(r"[0-9a-f]{64}")


def must_be_new(file: str) -> None:
    """What somebody keeps as evidence is not written over: the old one may be the only proof of what was."""
    if Path(file).exists():
        raise BadInput("is there already.", field=file, hint="Keep it, and name a file that is not there.")


def read_text(file: str) -> str:
    """The text of a file, or of the standard input for ``-``, up to a limit."""
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise BadInput(f"it cannot be read: {error.strerror}.", field=file) from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise BadInput(f"it is larger than {MAX_DOCUMENT_BYTES // 2**20} MB.", field=file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not UTF-8 at byte {error.start}.", field=file) from None


def read_object(file: str) -> dict[str, Any]:
    """The one JSON object that a file holds."""
    try:
        found = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInput(f"it is not JSON: {error}.", field=file) from None
    if not isinstance(found, dict):
        raise BadInput("it does not hold one JSON object.", field=file)
    return found


def read_kept(file: str | None) -> Checkpoint | None:
    """The checkpoint that somebody kept, if they name one."""
    from recollect.rules.ledger.merkle import BadProof
    from recollect.rules.ledger.proofs import read_checkpoint

    if file is None:
        return None
    try:
        return read_checkpoint(read_text(file))
    except BadProof as error:
        raise Refused(f"it is no checkpoint: {error}.", field=file, hint="Name the file that was kept.") from None


def read_history(file: str | None) -> KeyHistory | None:
    """What became of keys, if somebody names a file that tells it."""
    from recollect.rules.ledger.merkle import BadProof
    from recollect.rules.ledger.proofs import read_key_history

    if file is None:
        return None
    try:
        return read_key_history(read_text(file))
    except BadProof as error:
        hint = "`recollect identity history` writes one."
        raise Refused(f"it is no key history: {error}.", field=file, hint=hint) from None


def read_public_key(given: str) -> str:
    """A public key: 64 hex digits, or a file that holds them or a PEM."""
    from recollect.rules.trust.signatures import public_from_pem

    if not _KEY.fullmatch(given) and given != "-" and not Path(given).exists():
        raise BadInput(
            f"{given!r:.80} is neither 64 hex digits nor a file that holds a public key.",
            field="key",
            hint="`recollect identity show NAME` prints a key, with --pem as a PEM.",
        )
    text = given if _KEY.fullmatch(given) else read_text(given).strip()
    if _KEY.fullmatch(text):
        return text
    try:
        return public_from_pem(text.encode("utf-8"))
    except ValueError as error:
        hint = "Give 64 hex digits, or a PEM file: `recollect identity show NAME --pem` prints one."
        raise BadInput(f"it is not an Ed25519 public key: {error}.", field=given, hint=hint) from None


def write_document(document: Document | dict[str, Any], file: str | None) -> None:
    """Write a document to a file, which only its owner reads if it is a new one, or to the standard output."""
    values = document.to_dict() if isinstance(document, Document) else document
    text = json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    if file is None:
        write_out(text)
        return
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
        with os.fdopen(number, "w", encoding="utf-8") as written:
            written.write(text)
    except OSError as error:
        raise BadInput(f"it cannot be written: {error.strerror}.", field=file) from None
