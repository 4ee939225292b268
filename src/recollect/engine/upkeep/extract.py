"""Have a model extract facts from a person's messages that the rules do not read; each fact quotes its message."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from recollect.engine.upkeep.proposing import Claimed, Sources, may_be_read, read_sources, settle
from recollect.engine.upkeep.running import Running, day_of, put_proposal, set_outcome
from recollect.llm.protocol import Answer
from recollect.model.record import DEFAULT_CATEGORY
from recollect.model.run import Action, Job, ProposalStatus
from recollect.model.vocabulary import Kind, Status
from recollect.rules.gates.writing import CONSTRAINTS
from recollect.rules.grounding import Quote
from recollect.rules.upkeep import worth_reading
from recollect.stores.protocol import Selection, Stored

MAX_LINES = 200
"""Among how many of a stream's latest lines those are looked for that no model has read."""
MAX_FACTS = 5
CAPPED = "model:write_cap"
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
    of_turns: Counter[int] = Counter()
    for line in _find_unread(running):
        if running.stopped:
            return
        tick = (line.body or {})["tick"]  # the parts of a long message are lines of one turn
        of_turns[tick] += _extract(running, line, running.engine.policy.upkeep.extract_turn_writes - of_turns[tick])


def _find_unread(running: Running) -> list[Stored]:
    """Return the lines of people that are worth a prompt and have had none, oldest first."""
    engine, settings = running.engine, running.engine.policy.upkeep
    with engine.read() as reader:
        lines = reader.select(engine.tenant, select_lines(running.stream.number), MAX_LINES)
        found = [one for one in lines if one.body is not None and worth_reading(one.body["content"], settings)]
        read = {one.number for one in found if reader.was_read_by(engine.tenant, Job.EXTRACT, one.state.id)}
        return [one for one in reversed(found) if one.number not in read and may_be_read(reader, one)]


def select_lines(*streams: int, user: str | None = None) -> Selection:
    """Return a selection of people's own lines, also those that left the window of their conversation."""
    equal = {"kind": str(Kind.SHORT_TERM), "role": "user", "status": [str(Status.ACTIVE), str(Status.SOFT_DELETED)]}
    return Selection(streams=streams or None, equal=equal | ({"user_id": user} if user is not None else {}))


def _extract(running: Running, line: Stored, most: int) -> int:
    """Ask for the facts of one line, and store at most so many; return how many were stored."""
    with running.engine.read() as reader:
        sources = read_sources(running.engine, reader, [line])
    if not sources.memories:
        return 0
    settings = running.engine.policy.categories
    categories = [DEFAULT_CATEGORY, *(one.name for one in (*settings.system, *settings.custom))]
    values = {"message": sources.memories[0].text, "constraints": CONSTRAINTS, "categories": ", ".join(categories)}
    answer = running.ask("extract", values, Facts, [line.state.id])
    if answer is None:
        return 0
    stored, most = 0, min(most, _left_today(running, sources))
    for fact in answer.facts:
        quotes = tuple(Quote(line.state.id, span) for span in fact.quotes)
        category = fact.category if fact.category in categories else DEFAULT_CATEGORY
        fields = {"importance": fact.importance}
        claim = Claimed(Action.FACT, fact.content, quotes, category=category, fields=fields)
        if stored < most:
            stored += settle(running, claim, sources).status == ProposalStatus.APPLIED
        else:
            capped = running.proposal(claim.action, claim.source_ids)
            put_proposal(running.engine, set_outcome(capped, ProposalStatus.REFUSED, CAPPED))
    running.mark_answered()
    return stored


def _left_today(running: Running, sources: Sources) -> int:
    """Return how many more facts may be stored for the person today."""
    engine = running.engine
    with engine.read() as reader:
        home = reader.stream_at(sources.memories[0].address)
        if home is None:
            return engine.policy.upkeep.extract_day_writes
        applied = str(ProposalStatus.APPLIED)
        today = reader.count_proposals(engine.tenant, home.number, Job.EXTRACT, day_of(engine), applied)
    return engine.policy.upkeep.extract_day_writes - today
