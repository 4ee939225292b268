"""Have a model draw insights about a person from their latest activity, facts and lines, at most once a day."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from recollect.engine.context import Engine
from recollect.engine.upkeep.extract import select_lines
from recollect.engine.upkeep.proposing import Claimed, Sources, may_be_read, read_sources, settle
from recollect.engine.upkeep.running import Running
from recollect.llm.protocol import Answer
from recollect.model.canonical import format_time
from recollect.model.run import Action, Job
from recollect.model.vocabulary import SHARED, Kind, Status
from recollect.rules.gates.writing import CONSTRAINTS
from recollect.rules.grounding.gate import may_inform
from recollect.rules.grounding.proposal import Quote
from recollect.stores.protocol import Reader, Selection, Stored

MAX_ACTIVITY, MAX_SEMANTIC, MAX_CONVERSATION, MAX_INSIGHTS = 5, 3, 1_000, 3
"""The most that a prompt holds of activity items, semantic items and characters of conversation; and of insights in an answer."""
CATEGORY, IMPORTANCE = "relationship_dynamic", 2
_ACTIVITY = ("activity", "event")
_Text = Annotated[str, Field(min_length=1, max_length=600)]


class Cited(Answer):
    """A note, by its label, and the words of it that show something."""

    source: Annotated[str, Field(max_length=8)]
    span: _Text


class Insight(Answer):
    """One insight, after the notes that show it."""

    quotes: Annotated[list[Cited], Field(min_length=1, max_length=4)]
    summary: _Text
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(max_length=4)] = []
    importance: Annotated[int, Field(ge=1, le=5)] = IMPORTANCE
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.5


class Insights(Answer):
    """What a model answers: up to three insights, or none."""

    insights: Annotated[list[Insight], Field(max_length=MAX_INSIGHTS)]


def run(running: Running) -> None:
    """Ask once what a person's latest memories show, unless that was asked lately or nothing has come since."""
    engine = running.engine
    with engine.read() as reader:
        since = format_time(engine.clock() - timedelta(hours=engine.policy.upkeep.insights_every_h))
        if reader.last_model_call(engine.tenant, running.stream.number, Job.INSIGHTS, since) is not None:
            return
        sources = _read_shared(running, reader)
        shown = tuple(one.id for one in sources.memories)
        if all(reader.was_read_by(engine.tenant, Job.INSIGHTS, id) for id in shown):
            return
    values = {"notes": label_sources(sources), "constraints": CONSTRAINTS}
    answer = running.ask("insights", values, Insights, shown)
    if answer is None:
        return
    for one in answer.insights:
        quotes = tuple(make_quote(sources, quote.source, quote.span) for quote in one.quotes)
        fields = {"importance": IMPORTANCE, "tags": one.tags, "confidence": one.confidence}
        claim = Claimed(Action.INSIGHT, one.summary, quotes, Kind.INSIGHT, CATEGORY, fields, shown=shown)
        settle(running, claim, sources)
    running.mark_answered()


def _read_shared(running: Running, reader: Reader) -> Sources:
    """Return the latest memories that everybody may see who will see the insights: a model may infer from all of them."""
    engine, address = running.engine, running.stream.address
    sources = read_sources(engine, reader, _find_latest(running, reader))
    kept = [one for one in sources.memories if address and may_inform(one, address, CATEGORY, engine.policy)]
    return Sources(sources.stored, tuple(kept))


def _find_latest(running: Running, reader: Reader) -> list[Stored]:
    """Return the latest activity, the latest facts, and the last lines of the person that fit, each newest first."""
    engine, here = running.engine, (running.stream.number,)
    active = {"status": str(Status.ACTIVE)}
    episodes = _select(engine, reader, here, active | {"kind": str(Kind.EPISODIC)}, MAX_ACTIVITY)
    others = _select(engine, reader, here, active | {"category": list(_ACTIVITY)}, MAX_ACTIVITY)
    unsorted = {one.state.id: one for one in (*episodes, *others)}.values()
    activity = sorted(unsorted, key=lambda one: ((one.body or {})["created_at"], one.number), reverse=True)
    facts = _select(engine, reader, here, active | {"kind": str(Kind.SEMANTIC)}, MAX_ACTIVITY + MAX_SEMANTIC)
    chosen = activity[:MAX_ACTIVITY]
    known = {one.state.id for one in chosen}
    chosen += [one for one in facts if one.state.id not in known][:MAX_SEMANTIC]
    return [*chosen, *_read_conversation(running, reader)]


def _select(
    engine: Engine, reader: Reader, streams: tuple[int, ...], equal: Mapping[str, object], most: int
) -> list[Stored]:
    wanted = Selection(streams=streams, scopes=(SHARED,), equal=equal, unexpired_at=engine.now())
    found = reader.select(engine.tenant, wanted, most)
    return [one for one in found if one.body is not None]


def _read_conversation(running: Running, reader: Reader) -> Iterator[Stored]:
    """Yield the person's last lines, as many as fit."""
    address, left = running.stream.address, MAX_CONVERSATION
    lines = reader.select(running.engine.tenant, select_lines(user=address.owner), 20) if address is not None else []
    for line in lines:
        left -= len((line.body or {}).get("content", ""))
        if left < 0:
            return
        if may_be_read(reader, line):
            yield line


def label_sources(sources: Sources) -> str:
    """Return the texts of sources, each on a line with its label and its day."""
    return "\n".join(
        f"N{number} ({one.said_at:%Y-%m-%d}): {' '.join(one.text.split())}"
        for number, one in enumerate(sources.memories, start=1)
    )


def make_quote(sources: Sources, label: str, span: str) -> Quote:
    """Return a quotation of the note with this label. An unknown label stays as it is, and is refused later."""
    ids = {f"N{number}": one.id for number, one in enumerate(sources.memories, start=1)}
    return Quote(ids.get(label.strip(), label), span)
