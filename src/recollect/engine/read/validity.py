"""Track when memories hold: how edits and replacements change it, and which version held at a given time."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from recollect.engine.context import Engine
from recollect.engine.read.matching import rank_unasked
from recollect.engine.read.ranking import Ranked
from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import BadInput
from recollect.model.state import State
from recollect.model.vocabulary import Status
from recollect.rules.gates.draft import Draft
from recollect.rules.ranking.fusion import DIGITS
from recollect.rules.ranking.question import read_question
from recollect.rules.time.times import Span, covers
from recollect.rules.time.validity import read_validity, strip_validity
from recollect.stores.protocol import Reader, Stored

MAX_VERSIONS = 100
"""The most versions of a memory that are read; older ones are found in the ledger."""


def read_stated(draft: Draft) -> dict[str, str]:
    """Return the known bounds of a draft's validity in stored form."""
    known = {"valid_from": draft.valid_from, "valid_until": draft.valid_until}
    return {name: format_time(moment) for name, moment in known.items() if moment is not None}


def close_validity(start: datetime | str | None, content: str, old: Stored) -> dict[str, Any] | None:
    """Return the amendment that ends the validity of a memory replaced by one that holds from ``start`` on.

    Return ``None`` if the start is unknown, if the old memory ended before or began later, or if both say the same and
    the newer one only adds since when: then recorded time alone says which of the two was believed when.
    """
    if start is None or old.body is None:
        return None
    end, state = start if isinstance(start, str) else format_time(start), old.state
    over_before = state.valid_until is not None and state.valid_until <= end
    began_later = state.valid_from is not None and state.valid_from >= end
    if over_before or began_later or _bare(content, end) == _bare(old.body["content"], end):
        return None
    return {"set": {"valid_until": end}}


def _bare(content: str, at: str) -> str:
    """Return a statement without words about its validity, case and punctuation."""
    words = read_validity(content, parse_time(at)).words
    return (strip_validity(words, content) if words else " ".join(content.split())).casefold().rstrip(".! ")


def check_validity(state: State, values: Mapping[str, Any]) -> None:
    """Raise if an edit would make a memory end before it begins."""
    start, end = (values.get(name, getattr(state, name)) for name in ("valid_from", "valid_until"))
    if start is not None and end is not None and end <= start:
        field = "valid_until" if "valid_until" in values else "valid_from"
        other = "be after valid_from" if field == "valid_until" else "be before valid_until"
        raise BadInput(f"must {other}.", field=field, hint=f"It holds from {start[:10]} until {end[:10]} then.")


class _Version(NamedTuple):
    stored: Stored
    start: str | None
    end: str | None
    """When it held: as stated, or else as recorded."""


def find_held_at(engine: Engine, reader: Reader, found: Sequence[Ranked], at: str) -> list[Ranked]:
    """Return the version of each candidate that held at a time, active or superseded."""
    chains = _versions(engine, reader, found)
    held: list[Ranked] = []
    for item in found:
        then = (v for v in chains[item.id] if (v.start is None or v.start <= at) and (v.end is None or at < v.end))
        held += [_put_in_place(item, version.stored) for version in then]
    return held


def with_what_held(engine: Engine, reader: Reader, text: str, found: Sequence[Ranked]) -> list[Ranked]:
    """Return the candidates, each with its older version that held at the time of the question, if it did not itself.

    "Where did I live in 2019?" is answered by a version replaced since. Only a stated validity counts for that. A
    memory known not to have held at a time that the question names is left out, since it would be taken for the answer.
    """
    question = read_question(text, engine.clock(), engine.policy.text.synonyms)
    spans = question.asked_about
    bounded = [item for item in found if item.row.valid_from is not None or item.row.valid_until is not None]
    missed = [item for item in bounded if spans and not _covers(item.row.valid_from, item.row.valid_until, spans)]
    unbounded = [item for item in found if item not in bounded] if question.spans else []
    answers = list(found)
    chains = _versions(engine, reader, [*missed, *unbounded])
    for item in (*missed, *unbounded):
        for version in chains[item.id][1:]:
            state = version.stored.state
            if state.valid_until is not None and _covers(version.start, state.valid_until, spans):
                older = _put_in_place(item, version.stored)
                place = next((n for n, other in enumerate(answers) if other.score < older.score), len(answers))
                answers.insert(min(place, answers.index(item)), older)
                break
    return [item for item in answers if item not in missed] if question.asks_what_held_then else answers


def _covers(start: str | None, end: str | None, spans: Sequence[Span]) -> bool:
    return covers(parse_time(start) if start else None, parse_time(end) if end else None, spans)


def _put_in_place(item: Ranked, stored: Stored) -> Ranked:
    """Return an older version with the rank of the candidate it replaces, and no penalty for its time."""
    if stored.state.id == item.id:
        return item
    features = {name: value for name, value in item.features.items() if name != "not_then"}
    score = round(item.score - item.features.get("not_then", 0.0), DIGITS)
    older = rank_unasked(stored)
    return item._replace(place=older.place, row=older.row, score=score, features=features, relations=None, shadowed=())


def _versions(engine: Engine, reader: Reader, found: Sequence[Ranked]) -> dict[str, list[_Version]]:
    """Return the visible versions of each candidate, newest first."""
    heads = reader.by_places(engine.tenant, [item.place for item in found]) if found else []
    chains = {stored.state.id: [stored] for stored in heads}
    older = {stored.state.id: stored.state.supersedes_id for stored in heads if stored.state.supersedes_id}
    for _ in range(MAX_VERSIONS):
        if not older:
            break
        before = reader.by_ids(engine.tenant, list(older.values()))
        older, previous = {}, older
        for head, id in previous.items():
            stored = before.get(id)
            if stored is None or stored.body is None or stored.state.status is not Status.SUPERSEDED:
                continue
            chains[head].append(stored)
            if stored.state.supersedes_id:
                older[head] = stored.state.supersedes_id
    return {id: _bound_versions(engine, chain) for id, chain in chains.items()}


def _bound_versions(engine: Engine, chain: Sequence[Stored]) -> list[_Version]:
    """Return the versions with their validity: as stated, else from being recorded until the next version began."""
    versions: list[_Version] = []
    next_start: str | None = None
    for stored, before in zip(chain, [*chain[1:], None], strict=True):
        state, body = stored.state, stored.body
        assert body is not None, "a version without content is left out"
        recorded = (before.state.valid_until or body["created_at"]) if before is not None else None
        start = state.valid_from or recorded
        versions.append(_Version(stored, start, state.valid_until or next_start))
        next_start = start
    phase = (chain[0].body or {}).get("phase_id")
    return [version for version in versions if engine.recalls_version(version.stored, phase)]
