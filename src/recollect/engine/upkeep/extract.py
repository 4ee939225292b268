"""Have a model extract facts from a person's messages that the rules do not read; each fact quotes its message."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field

from recollect.engine.context import Engine
from recollect.engine.upkeep.proposing import Claimed, may_be_read, read_sources, settle
from recollect.engine.upkeep.running import Running, day_of
from recollect.llm.protocol import Answer
from recollect.model.ledger import Address
from recollect.model.record import DEFAULT_CATEGORY
from recollect.model.run import Action, Job, ProposalStatus
from recollect.model.vocabulary import Kind, Status
from recollect.rules.gates.writing import CONSTRAINTS
from recollect.rules.grounding.proposal import Quote
from recollect.rules.trust.provenance import MADE_BY
from recollect.rules.upkeep import worth_reading
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stored

MAX_LINES = 200
"""Among how many of a stream's latest lines those are looked for that no model has read."""
MAX_FACTS = 5
_Quote = Annotated[str, Field(min_length=1, max_length=400)]
_Content = Annotated[str, Field(min_length=1, max_length=300)]
"""Little more than a memory may have, so that a model that repeats itself stops within its tokens."""


class Fact(Answer):
    """One fact: the words of the message that say it, and a sentence of its own. A model that quotes first makes up less."""

    quotes: Annotated[list[_Quote], Field(min_length=1, max_length=2)]
    content: _Content
    category: Annotated[str, Field(max_length=64)] = DEFAULT_CATEGORY
    importance: Annotated[int, Field(ge=1, le=5)] = 2


class Facts(Answer):
    """What a model answers: up to five facts, or none."""

    facts: Annotated[list[Fact], Field(max_length=MAX_FACTS)]


def run(running: Running) -> None:
    """Read the lines of a stream that no model has read, oldest first."""
    for line, turn in _find_unread(running):
        if running.stopped:
            return
        _extract(running, line, turn)


def _find_unread(running: Running) -> list[tuple[Stored, list[Stored]]]:
    """Return the lines of people that are worth a prompt and have had none, oldest first, each with all lines of its turn."""
    engine, settings = running.engine, running.engine.policy.upkeep
    with engine.read() as reader:
        lines = reader.select(engine.tenant, select_lines(running.stream.number), MAX_LINES)
        turns: dict[int, list[Stored]] = defaultdict(list)  # the parts of a long message are lines of one turn
        for one in lines:
            turns[(one.body or {}).get("tick", 0)].append(one)
        found = [one for one in lines if one.body is not None and worth_reading(one.body["content"], settings)]
        read = {one.number for one in found if reader.was_read_by(engine.tenant, Job.EXTRACT, one.state.id)}
        unread = [one for one in reversed(found) if one.number not in read and may_be_read(reader, one)]
        return [(one, turns[(one.body or {})["tick"]]) for one in unread]


def select_lines(*streams: int, user: str | None = None) -> Selection:
    """Return a selection of people's own lines, also those that left the window of their conversation."""
    equal = {"kind": str(Kind.SHORT_TERM), "role": "user", "status": [str(Status.ACTIVE), str(Status.SOFT_DELETED)]}
    return Selection(streams=streams or None, equal=equal | ({"user_id": user} if user is not None else {}))


def _extract(running: Running, line: Stored, turn: Sequence[Stored]) -> None:
    """Ask for the facts of one line, and store as many as its turn and the day still admit."""
    with running.engine.read() as reader:
        sources = read_sources(running.engine, reader, [line])
    if not sources.memories:
        return
    settings = running.engine.policy.categories
    categories = [DEFAULT_CATEGORY, *(one.name for one in (*settings.system, *settings.custom))]
    values = {"message": sources.memories[0].text, "constraints": CONSTRAINTS, "categories": ", ".join(categories)}
    answer = running.ask("extract", values, Facts, [line.state.id])
    if answer is None:
        return
    has_room = partial(_has_room, running.engine, turn)
    for fact in answer.facts:
        quotes = tuple(Quote(line.state.id, span) for span in fact.quotes)
        category = fact.category if fact.category in categories else DEFAULT_CATEGORY
        fields = {"importance": fact.importance}
        settle(
            running,
            Claimed(Action.FACT, fact.content, quotes, Kind.SEMANTIC, category, fields, has_room=has_room),
            sources,
        )
    running.mark_answered()


def _has_room(engine: Engine, turn: Sequence[Stored], reader: Reader, home: Address) -> bool:
    """Return whether one more fact may be stored of a turn, and of the day of the person whose home this is."""
    settings, ids = engine.policy.upkeep, {one.state.id for one in turn}
    hashes = list({one.body["content_hash"] for one in turn if one.body is not None})
    facts = Selection(equal={"kind": str(Kind.SEMANTIC)})
    made = (read(engine.tenant, hashes, facts, NO_LIMIT) for read in (reader.built_upon, reader.with_hashes))
    notes = [(one.body or {}).get("meta", {}) for found in made for one in found]
    of_turn = sum(MADE_BY in meta and not ids.isdisjoint(meta["source_turn_ids"]) for meta in notes)
    stream, applied = reader.stream_at(home), str(ProposalStatus.APPLIED)
    if stream is None:
        return True
    today = reader.count_proposals(engine.tenant, stream.number, Job.EXTRACT, day_of(engine), applied)
    return of_turn < settings.extract_turn_writes and today < settings.extract_day_writes
