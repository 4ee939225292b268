"""Have a model propose a procedure from named memories; it waits for somebody to approve it."""

from typing import Annotated

from pydantic import Field

from recollect.engine.context import find
from recollect.engine.upkeep.insights import label_sources, make_quote
from recollect.engine.upkeep.proposing import Claimed, read_sources, settle
from recollect.engine.upkeep.running import Running
from recollect.llm.protocol import Answer
from recollect.model.run import Action
from recollect.model.vocabulary import Kind
from recollect.rules.gates.procedures import CATEGORY

_Text = Annotated[str, Field(min_length=1, max_length=400)]


class Step(Answer):
    """One instruction, and the words of a note that it comes from."""

    step: _Text
    source: Annotated[str, Field(max_length=8)]
    span: _Text


class Steps(Answer):
    """What a model answers: a title and the steps in order, or none."""

    title: Annotated[str, Field(max_length=80)]
    steps: Annotated[list[Step], Field(max_length=30)]


def run(running: Running) -> None:
    """Propose one procedure for the memories that were named."""
    engine = running.engine
    with engine.read() as reader:
        sources = read_sources(engine, reader, [find(engine, reader, id, "ids") for id in running.ids])
    shown = tuple(one.id for one in sources.memories)
    answer = running.ask("procedures", {"notes": label_sources(sources)}, Steps, shown)
    if answer is None:
        return
    if answer.steps:
        text = "\n".join(f"{number}. {' '.join(one.step.split())}" for number, one in enumerate(answer.steps, start=1))
        quotes = tuple(make_quote(sources, one.source, one.span) for one in answer.steps)
        fields = {"title": answer.title} if answer.title.strip() else {}
        settle(
            running, Claimed(Action.PROCEDURE, text, quotes, Kind.PROCEDURAL, CATEGORY, fields, True, shown), sources
        )
    running.mark_answered()
