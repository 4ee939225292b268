"""Put right what a person's last message stated, where the next one only says what is wrong about it."""

from recollect.engine.turns.exchange import Exchange
from recollect.engine.turns.taking_back import find_addresses, find_kept_of, lines_of
from recollect.engine.write.drafting import parse_candidate
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Answer, as_spoken, prepare
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.model.vocabulary import Change, EventType, Kind, Layer, Source, Space
from recollect.rules.extraction.said import LeavesOut, corrects_value_of
from recollect.stores.protocol import Stored

_KEPT = ("space", "owner", "scope", "category", "role", "user_id", "actor_id", "run_id", "thread_id")


def correct_last(writing: Writing, exchange: Exchange, correction: str) -> list[Answer]:
    """Return the next versions of what the person's last message in the session stated, with the correction behind it.

    "Pottery moved to Thursdays." and then "No wait, it's Wednesdays." become one statement, since the second says
    nothing without the first. If the message left several statements, none, or one without a value of that sort, nothing
    is corrected.
    """
    stated = _find_stated(writing, exchange)
    if not all(corrects_value_of(correction, (stored.body or {})["content"]) for stored in stated):
        return []
    if len({(stored.body or {})["content"] for stored in stated}) != 1:
        return []
    return as_spoken(
        _prepare_version(writing, stored, correction) for stored in stated if _has_room(stored, correction)
    )


def _find_stated(writing: Writing, exchange: Exchange) -> list[Stored]:
    """Return the statements, without standing rules, that came from the person's last message in the session."""
    homes = [
        (at, stream) for at in find_addresses(writing.engine, exchange) if (stream := writing.writer.stream_at(at))
    ]
    session = next((stream for at, stream in homes if at.space is Space.SESSION), None)
    lines = lines_of(writing, exchange, session, LeavesOut.BEFORE) if session is not None else []
    ids = {stored.state.id for stored in lines}
    found = [stored for _, stream in homes for stored in find_kept_of(writing, stream, ids, lines)] if ids else []
    return [
        stored
        for stored in found
        if stored.body is not None
        and stored.body["kind"] == Kind.SEMANTIC
        and stored.body.get("layer") != Layer.INTENT
        and stored.body["source"] in (Source.USER, Source.PROMOTION)
    ]


def _has_room(stored: Stored, correction: str) -> bool:
    return len(_with_correction((stored.body or {})["content"], correction).encode()) <= MAX_CONTENT_BYTES


def _with_correction(content: str, correction: str) -> str:
    ended = content.rstrip().endswith((".", "!", "?", "…"))
    return f"{content} {correction}" if ended else f"{content}. {correction}"


def _prepare_version(writing: Writing, stored: Stored, correction: str) -> Answer:
    body = stored.body or {}
    fields = {name: body[name] for name in _KEPT if body.get(name) is not None}
    candidate = parse_candidate(
        writing.engine,
        {
            **fields,
            "kind": Kind.SEMANTIC,
            "content": _with_correction(body["content"], correction),
            "event_type": EventType.CORRECTION,
            "change": Change.CORRECTION,
            "source": Source.USER,
            "supersedes": stored.state.id,
        },
    )
    return prepare(writing.engine, candidate, reader=writing.writer)
