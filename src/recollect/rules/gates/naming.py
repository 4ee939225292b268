"""Name a draft: its canonical key and its hashes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.model.caller import short_name
from recollect.model.item import folded_text
from recollect.model.policy import Policy
from recollect.model.record import TITLE, Candidate
from recollect.model.vocabulary import KIND_CLASS, Kind, KindClass, Space
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.identity.keys import CanonicalKey, choose_key, is_cut
from recollect.rules.language.findable import said_terms
from recollect.rules.language.text import fingerprint, sha256_hex
from recollect.rules.statements import ChangeMark, Frame, Tense, read_statement
from recollect.rules.statements.frame import ANY, SELF

_DIGITS = 32
"""How many hex digits of a digest distinguish two slots."""


def naming_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Compute the content's hashes, its terms, and the key of its concept. Never refuses.

    Events are named by their number in the stream, which is assigned when they are stored.
    """
    candidate, policy = draft.candidate, context.policy
    mark = fingerprint(candidate.content, policy.text.synonyms)
    speaker = _speaker(draft, context)
    statement = draft.statement or candidate.content  # without words that only say how long it holds
    frames = frames_of(statement, candidate.kind, speaker, policy)
    past = draft.statement is not None and any(frame.tense is Tense.PAST for frame in frames)
    stay = past and draft.valid_from is not None and not _ENDS.search(candidate.content)
    if stay or (past and draft.valid_until is None):  # "was in Prague in April", "has lived in Porto since 2020"
        frames = frames_of(candidate.content, candidate.kind, speaker, policy)
    frames = tuple(frame if draft.valid_from is not None else read_as_planned(frame, context.now) for frame in frames)
    if draft.valid_until is not None and draft.valid_until <= context.now and not stay:
        frames = tuple(map(read_as_ended, frames))
    elif draft.valid_from is not None:
        frames = tuple(map(read_as_begun, frames))
    key = choose_key(
        kind=candidate.kind,
        canonical_key=candidate.canonical_key,
        title=candidate.title,
        topic_id=candidate.topic_id,
        tier=candidate.tier,
        fact_key=candidate.key,
        sequence_no=0,
        fingerprint=sha256_hex(folded_text(candidate.content)) if policy.keys.fallback == "folded" else mark,
        frames=frames,
        shared_fallback=policy.keys.fallback == "shared",
    )
    named = {"content": candidate.content, "entities": candidate.entities}
    return draft.decide(
        f"key:{key.source}",
        f"{key.text}, by {key.rule}" if key.rule else key.text,
        candidate=_with_title(candidate, key),
        key=key,
        speaker=speaker,
        frames=frames,
        content_hash=sha256_hex(candidate.content),
        fingerprint=mark,
        terms=tuple(said_terms(named, policy.text.synonyms)),
    )


def _with_title(candidate: Candidate, key: CanonicalKey) -> Candidate:
    """Keep a title that does not fit into its key, and the heading of a procedure, which is shown with its steps."""
    if candidate.title is None or not (candidate.kind is Kind.PROCEDURAL or is_cut(key.text, key.digest)):
        return candidate
    return candidate.model_copy(update={"meta": {**candidate.meta, TITLE: candidate.title}})


def frames_of(content: str, kind: Kind, speaker: str, policy: Policy) -> tuple[Frame, ...]:
    """Read a statement, if the policy asks for that. An event states nothing that could change."""
    is_read = policy.keys.parser and KIND_CLASS[kind] is not KindClass.EVENT
    return read_statement(content, speaker) if is_read else ()


def read_as_ended(frame: Frame) -> Frame:
    """Read a statement that no longer holds as an end: "was vegetarian until 2024" ends "is vegetarian"."""
    if frame.tense is not Tense.PAST or frame.negated:
        return frame
    return replace(frame, tense=Tense.NOW, negated=True, single=False, change=ChangeMark.STOP)


_ENDS = re.compile(r"\b(?:until|till|to|through|ended|stopped)\b", re.I)
"""Words of a statement about the past that say that something ended, and not only when it was."""
_YEAR = re.compile(r"\b20\d\d\b")


def read_as_planned(frame: Frame, now: datetime) -> Frame:
    """Read a statement about a later year as contested: "the rent is 950 from May 2030" does not hold yet."""
    later = any(int(year) > now.year for year in _YEAR.findall(" ".join((frame.rest, *frame.scope))))
    return replace(frame, single=False, contested=True) if later and frame.single else frame


def read_as_begun(frame: Frame) -> Frame:
    """Read a statement that says since when it holds as news: "lives in Porto since 2021" replaces another home.

    So does a plan with a date, "will live in Porto from May 2030": the older home holds until then.
    """
    if frame.planned:
        frame = replace(frame, tense=Tense.NOW, single=True)
    return replace(frame, change=ChangeMark.NOW) if frame.change is ChangeMark.NONE else frame


def slots_of(frames: Sequence[Frame]) -> dict[str, str]:
    """Return the digests by which later statements find this one: its slot, and its subject and value."""
    if not frames:
        return {}
    slot = {} if frames[0].attribute == ANY else {"slot": _digest(frames[0].slot)}
    named = next((frame.subject_value for frame in frames if frame.subject_value), None)
    return slot | ({"subject_value": _digest(named)} if named else {})


def _digest(text: str) -> str:
    return sha256_hex(text)[:_DIGITS]


def _speaker(draft: Draft, context: Context) -> str:
    """Return the subject of "I": in a person's own memory that person; where several people write, the author."""
    candidate = draft.candidate
    if candidate.space in (Space.USER, Space.SESSION):
        return SELF
    author = short_name(candidate.author.id) if candidate.author else None
    return author or candidate.user_id or context.caller.name
