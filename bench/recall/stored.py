"""The same questions asked of a real store: every turn added through the gates, every question through ``query``."""

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import recollect
from recall.measures import Answer
from recall.sets import Conversation, Question

POLICY: dict[str, Any] = {
    "operations": {"keep": False},
    "noise": {"match": "never"},
    "namespaces": {"test_patterns": [], "test_tags": [], "test_categories": []},
}
"""Every turn is to be kept: what is measured is recall, not what a gate thinks of somebody's chat."""
RANKED = 50
LONGEST = 9_000
"""How much of a turn is kept, in characters; a few assistants' answers are longer than a memory may be."""


class _Clock:
    """Shows the time of the turn that is being told, and never runs backwards."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def __call__(self) -> datetime:
        return self.now

    def move_to(self, moment: datetime) -> None:
        self.now = max(self.now, moment)


def answers_from_a_store(conversations: Iterable[Conversation]) -> list[Answer]:
    """Every question of a set, answered from a store that holds its conversation as one session."""
    return [answer for conversation in conversations for answer in _answers(conversation)]


def _answers(conversation: Conversation) -> list[Answer]:
    clock = _Clock(conversation.turns[0].at)
    with recollect.open(":memory:", clock=clock, policy=POLICY) as mem:
        ids = dict(_told(mem, clock, conversation))
        return [_answer(mem, clock, question, ids) for question in conversation.questions]


def _told(mem: recollect.Recollect, clock: _Clock, conversation: Conversation) -> Iterable[tuple[str, str]]:
    for turn in conversation.turns:
        clock.move_to(turn.at)
        receipt = mem.add(
            _clean(turn.text),
            kind="episodic",
            space="session",
            owner="conversation",
            thread_id=turn.session,
            source="agent" if turn.by_assistant else "user",
            **({"actor_id": turn.speaker} if turn.speaker else {}),
        )
        if receipt.memory is not None:
            yield receipt.memory.id, turn.id


def _answer(mem: recollect.Recollect, clock: _Clock, question: Question, ids: dict[str, str]) -> Answer:
    clock.move_to(question.asked_at)
    start = time.perf_counter()
    found = mem.query(_clean(question.text), owner="conversation", space="session", top_k=RANKED)
    seconds = time.perf_counter() - start
    return Answer(question, tuple(ids[item.memory.id] for item in found.items), seconds)


def _clean(text: str) -> str:
    """What a memory may hold of it: a few messages carry control characters, which are refused as bad input."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")[:LONGEST]
