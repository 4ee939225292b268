"""The reader is part of the rules' version: what it reads does not move unless the version does."""

import hashlib
from pathlib import Path

import yaml

from recollect.model.ledger import RULES_VERSION
from recollect.rules.statements import READER_VERSION, TAGGER_SHA256, read_statement

CASES = Path(__file__).parents[3] / "cases" / "identity"
PINNED = {
    10: (8, "d2000bf1dee9f525"),
}
"""By version of the rules: the reader's version, and a digest of what it and its tagger read in the cases."""


def test_what_is_read_moves_only_with_the_version() -> None:
    rows = [row for name in ("hostile", "changes", "retractions", "same") for row in load(f"dev_{name}")]
    texts = sorted({text for row in [*rows, *load("german")] for text in (row["a"], row["b"])})
    read = [(frame.slot, frame.name, frame.subject_value) for text in texts for frame in read_statement(text)]
    said = repr((sorted(TAGGER_SHA256.items()), read))
    assert PINNED[RULES_VERSION] == (READER_VERSION, hashlib.sha256(said.encode()).hexdigest()[:16])


def load(name: str) -> list[dict[str, str]]:
    return list(yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8")))
