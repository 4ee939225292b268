"""The questions asked of a real store: every text added through the gates, every question through ``query``."""

import argparse
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import recollect
from recall import sets
from recall.index import Index
from recall.measures import Answer
from recall.sets import Conversation, Question
from recollect.embed import Embedder
from recollect.engine.context import PolicyInForce
from recollect.policies import load_policy

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


OWNER = "conversation"


class Filled:
    """A store that was told a conversation, to be asked as often as needed, under one policy or another."""

    def __init__(self, conversation: Conversation, embedder: Embedder) -> None:
        self.conversation = conversation
        self._clock = _Clock(conversation.turns[0].at)
        self.mem = recollect.open(":memory:", clock=self._clock, policy=POLICY, embedder=embedder)
        self.ids = dict(self._told())

    def _told(self) -> Iterable[tuple[str, str]]:
        ids: dict[str, str] = {}
        for turn in self.conversation.turns:
            self._clock.move_to(turn.at)
            space = "session" if "thread_id" in turn.fields else "user"
            receipt = self.mem.add(_clean(turn.text), owner=OWNER, space=space, **turn.fields)
            if receipt.memory is not None:
                ids[turn.id] = receipt.memory.id
                if ids.get(turn.replaces) in {similar.id for similar in receipt.similar}:
                    self.mem.supersede(ids[turn.replaces], by=receipt.memory.id)
                yield receipt.memory.id, turn.id

    def under(self, **policy: Mapping[str, Any]) -> recollect.Recollect:
        """The same store with other settings in some sections of the policy."""
        in_force = PolicyInForce(load_policy({**POLICY, **policy}))
        return recollect.Recollect(replace(self.mem.engine, in_force=in_force))

    def answer(self, question: Question, mem: recollect.Recollect | None = None, **narrowing: Any) -> Answer:
        """What ``query`` gives for a question, as the set names it."""
        self._clock.move_to(question.asked_at)
        start = time.perf_counter()
        found = (mem or self.mem).query(_clean(question.text), owner=OWNER, top_k=RANKED, **narrowing)
        seconds = time.perf_counter() - start
        return Answer(question, tuple(self.ids[item.memory.id] for item in found.items), seconds, found.confidence)

    def close(self) -> None:
        self.mem.close()


Told = list[tuple[Conversation, Index, Filled]]
"""A set: its conversations, each as the plain rankings and as a store have it."""


def load(data: Path, embedder: Embedder, only: str = "") -> dict[str, Told]:
    """Every set that is there, each conversation told to a store; what is missing is said to be."""
    loaded = {}
    for name in sets.SETS:
        if only.lower() not in name.lower():
            continue
        conversations = sets.load(data, name)
        if conversations:
            loaded[name] = [(one, Index(one, embedder), Filled(one, embedder)) for one in conversations]
        else:
            print(f"{name}: missing from {data}")
    if not loaded:
        sys.exit(f"{data} holds none of {', '.join(sets.SETS)}. bench/README.md says where they come from.")
    for told in loaded.values():
        for _, index, _ in told:
            assert len(index.codes) == len(index.turns)  # embedded beforehand: questions are timed, not the filling
    return loaded


def options(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sets")
    parser.add_argument("--embedder", default="static", help="static, none or minilm")
    parser.add_argument("--only", default="", help="only the sets with this in their name")
    return parser


def _clean(text: str) -> str:
    """What a memory may hold of it: a few messages carry control characters, which are refused as bad input."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")[:LONGEST]
