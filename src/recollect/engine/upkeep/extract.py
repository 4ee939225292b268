"""Facts that a person's message states and the rules do not read. One message a prompt; each fact quotes the message."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from recollect.engine.upkeep.proposing import Claimed, Sources, may_be_read, read_sources, settle
from recollect.engine.upkeep.running import Running, day_of, set_outcome
from recollect.llm.protocol import Answer
from recollect.model.record import DEFAULT_CATEGORY
from recollect.model.run import Action, Job, ProposalStatus
from recollect.model.vocabulary import Kind, Status
from recollect.rules.gates.writing import CONSTRAINTS
from recollect.rules.grounding import Quote
from recollect.rules.upkeep import worth_reading
from recollect.stores.protocol import Selection, Stored

MAX_LINES = 200
"""How many of the latest lines of a stream are looked through for such as no model has read."""
MAX_FACTS = 5
CAPPED = "model:write_cap"
_Quote = Annotated[str, Field(min_length=1, max_length=400)]
_Content = Annotated[str, Field(min_length=1, max_length=300)]
"""Little more than a memory may have, so that a model which repeats itself comes to an end within its tokens."""


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
    of_turns: Counter[int] = Counter()
    for line in _unread(running):
        if running.stopped:
            return
        tick = (line.body or {})["tick"]  # the parts of a long message are lines of one turn
        of_turns[tick] += _read(running, line, running.engine.policy.upkeep.extract_turn_writes - of_turns[tick])


def _unread(running: Running) -> list[Stored]:
    """Return the lines of people that are worth a prompt and have had none, oldest first."""
    engine, settings = running.engine, running.engine.policy.upkeep
    with engine.read() as reader:
        lines = reader.select(engine.tenant, said_by_people(running.stream.number), MAX_LINES)
        found = [one for one in lines if one.body is not None and worth_reading(one.body["content"], settings)]
        read = {one.number for one in found if reader.was_read_by(engine.tenant, Job.EXTRACT, one.state.id)}
        return [one for one in reversed(found) if one.number not in read and may_be_read(reader, one)]


def said_by_people(*streams: int, user: str | None = None) -> Selection:
    """Return a selection of people's own lines, also of those that left the window of their conversation."""
    wanted = {"kind": str(Kind.SHORT_TERM), "role": "user", "status": [str(Status.ACTIVE), str(Status.SOFT_DELETED)]}
    return Selection(streams=streams or None, equal=wanted | ({"user_id": user} if user is not None else {}))


def _read(running: Running, line: Stored, most: int) -> int:
    """Ask for the facts of one line, and store at most so many; returns how many were stored."""
    with running.engine.read() as reader:
        sources = read_sources(running.engine, reader, [line])
    if not sources.memories:
        return 0
    values = {"message": sources.memories[0].text, "constraints": CONSTRAINTS, "categories": ", ".join(_known(running))}
    answer = running.ask("extract", values, Facts, [line.state.id])
    if answer is None:
        return 0
    stored, most = 0, min(most, _left_today(running, sources))
    for claim in _claims(running, line, answer.facts):
        if stored < most:
            stored += settle(running, claim, sources).status == ProposalStatus.APPLIED
        else:
            capped = running.proposal(claim.action, claim.source_ids)
            running.note(set_outcome(capped, ProposalStatus.REFUSED, CAPPED))
    running.dealt_with()
    return stored


def _claims(running: Running, line: Stored, facts: Sequence[Fact]) -> Iterator[Claimed]:
    known = _known(running)
    for fact in facts:
        quotes = tuple(Quote(line.state.id, span) for span in fact.quotes)
        category = fact.category if fact.category in known else DEFAULT_CATEGORY
        yield Claimed(Action.FACT, fact.content, quotes, category=category, fields={"importance": fact.importance})


def _known(running: Running) -> list[str]:
    """Return the categories that a model may choose from."""
    settings = running.engine.policy.categories
    return [DEFAULT_CATEGORY, *(one.name for one in (*settings.system, *settings.custom))]


def _left_today(running: Running, sources: Sources) -> int:
    """Return how many facts the day of the person still admits."""
    engine = running.engine
    with engine.read() as reader:
        home = reader.stream_at(sources.memories[0].address)
        if home is None:
            return engine.policy.upkeep.extract_day_writes
        applied = str(ProposalStatus.APPLIED)
        today = reader.count_proposals(engine.tenant, home.number, Job.EXTRACT, day_of(engine), applied)
    return engine.policy.upkeep.extract_day_writes - today
