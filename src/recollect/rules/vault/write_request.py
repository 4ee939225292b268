"""What asks to be written, before any step of the gate has looked at it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recollect.model.canonical import check_text
from recollect.rules.vault.vocabulary import CANON, MAX_TAGS, MAX_TOPIC


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step's no: a stable code, and a sentence that says what to do next."""

    code: str
    message: str


class Proposal(NamedTuple):
    """What asks to be written. A field that is ``None`` is not stated, or stays as it was."""

    text: str
    scope: str | None = None
    category: str | None = None
    tier: str | None = None
    topic_id: str | None = None
    tags: Sequence[str] | None = None
    source: str | None = None


NEEDED = ("text", "scope", "category")


def propose(fields: Any) -> Proposal | Refusal:
    """What one item of a batch asks for: ``text``, ``scope`` and ``category``, and whatever else ``add_memory`` takes."""
    if not isinstance(fields, Mapping):
        return Refusal("bad_input", "It must be a mapping with text, scope and category.")
    unknown = sorted(str(name) for name in fields if name not in Proposal._fields)
    if unknown:
        return Refusal("bad_input", f"{unknown[0]}: there is no such field. Known: {', '.join(Proposal._fields)}.")
    missing = [name for name in NEEDED if fields.get(name) is None]
    if missing:
        return Refusal("bad_input", f"{missing[0]}: it is missing.")
    return Proposal(**{"tier": CANON, **fields})


def wrong_shape(proposal: Proposal) -> Refusal | None:
    """Before any step: the text is text, and the rest is what it should be."""
    if isinstance(proposal.tags, str) or not isinstance(proposal.tags, Sequence | None):
        return Refusal("bad_input", "tags: must be a list of texts.")
    try:
        _check("text", proposal.text, required=True)
        for name in ("scope", "category", "tier", "topic_id", "source"):
            _check(name, getattr(proposal, name))
        for tag in proposal.tags or ():
            _check("tags", tag, required=True)
    except ValueError as error:
        return Refusal("bad_input", str(error))
    if len(proposal.tags or ()) > MAX_TAGS:
        return Refusal("bad_input", f"tags: there are more than {MAX_TAGS}.")
    if proposal.topic_id is not None and len(proposal.topic_id) > MAX_TOPIC:
        return Refusal("bad_input", f"topic_id: it is longer than {MAX_TOPIC} characters.")
    return None


def _check(name: str, value: Any, *, required: bool = False) -> None:
    if value is None and not required:
        return
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name}: must be text of at least one word.")
    try:
        check_text(value)
    except ValueError as error:
        raise ValueError(f"{name}: it {error}.") from None
