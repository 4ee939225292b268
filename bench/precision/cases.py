"""The set as one shape: beliefs, and cases that say which of them an answer holds.

A case speaks of four parts of a prompt: what is always told of a person (the prelude), what is pinned, what is still
open, and what a question brings up besides. Only the last depends on the question.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = "precisionmembench"
UNIVERSAL = "user:universal"
"""The set's scope for what holds everywhere."""
QUESTION = "open_question"
"""The set's type for what is not decided yet."""
SESSIONS = "Drift within a session"


@dataclass(frozen=True)
class Belief:
    """One thing that is known of a user, in one scope. ``replaced_by`` names the belief that took its place."""

    id: str
    user: str
    scope: str
    type: str
    name: str
    aliases: tuple[str, ...]
    content: str
    pinned: bool
    confidence: float
    resolved: bool
    replaced_by: str | None

    @property
    def is_asked_for(self) -> bool:
        """Whether it comes up only where a question is about it, and is not told anyway."""
        return not self.pinned and self.type != QUESTION and self.scope != UNIVERSAL


@dataclass(frozen=True)
class Part:
    """What one part of the prompt must hold and must not. ``only`` is the whole of it, where the case says so."""

    holds: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def is_met_by(self, told: Sequence[str]) -> bool:
        whole = self.only is None or self.only == set(told)
        return whole and self.holds <= set(told) and self.lacks.isdisjoint(told)


@dataclass(frozen=True)
class Prelude:
    """What is told of a person whatever is asked: whether there is anything, and words in it."""

    is_empty: bool | None = None
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()

    def is_met_by(self, told: Sequence[str]) -> bool:
        text = "\n".join(told).lower()
        said = all(word.lower() in text for word in self.says)
        kept = not any(word.lower() in text for word in self.never_says)
        return said and kept and self.is_empty in (None, not told)


@dataclass(frozen=True)
class Case:
    """A question in its scopes, what is believed when it is asked, and what each part of the answer holds."""

    name: str
    kind: str
    user: str
    scopes: tuple[str, ...]
    text: str
    beliefs: tuple[Belief, ...]
    budget: int | None
    """How many beliefs may be told at most, the pinned ones included."""
    relevant: Part
    pinned: Part
    questions: Part
    prelude: Prelude


def load(data: Path) -> list[Case]:
    """Every case of the set, in its order, those of the sessions last."""
    beliefs = tuple(_belief(one) for one in _read(data, "beliefs.seed.json"))
    single = [_case(one, one["caseId"], one["category"], beliefs) for one in _read(data, "retrieval.cases.json")]
    return [*single, *_sessions(_read(data, "session-retrieval.cases.json"), beliefs)]


def _read(data: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((data / FOLDER / name).read_text(encoding="utf-8"))
    return found


def _belief(raw: Mapping[str, Any]) -> Belief:
    (scope,) = raw["scope"]
    return Belief(
        id=raw["_id"],
        user=raw["user_id"],
        scope=scope,
        type=raw["type"],
        name=raw["canonical_name"],
        aliases=tuple(raw["aliases"]),
        content=raw["content"],
        pinned=raw["pinned"],
        confidence=raw["confidence"],
        resolved=raw["resolved_at"] is not None,
        replaced_by=raw["superseded_by"],
    )


def _case(raw: Mapping[str, Any], name: str, kind: str, beliefs: tuple[Belief, ...]) -> Case:
    expected = raw["expect"]
    prelude = expected.get("personaPrelude", {})
    noise = expected.get("noiseCheck", {}).get("mustNotSurface", ())
    return Case(
        name=name,
        kind=kind,
        user=raw.get("userId", "test-user"),
        scopes=tuple(raw["scope"]),
        text=raw["query"] if "query" in raw else raw["userMessage"],
        beliefs=beliefs,
        budget=raw.get("budget", {}).get("maxBeliefs"),
        relevant=_part(expected.get("relevantBeliefs", {}), noise),
        pinned=_part(expected.get("pinnedFacts", {})),
        questions=_part(expected.get("openQuestions", {})),
        prelude=Prelude(
            is_empty=False if prelude.get("nonEmpty") else prelude.get("isNull"),
            says=tuple(prelude.get("contains", ())),
            never_says=tuple(prelude.get("mustNotContain", ())),
        ),
    )


def _part(raw: Mapping[str, Any], noise: Sequence[str] = ()) -> Part:
    only = raw.get("shouldOnlyInclude")
    return Part(
        holds=frozenset(raw.get("mustInclude", ())),
        lacks=frozenset(raw.get("mustExclude", ())) | frozenset(noise),
        only=None if only is None else frozenset(only),
    )


def _sessions(sessions: Sequence[Mapping[str, Any]], beliefs: tuple[Belief, ...]) -> Iterator[Case]:
    """Every turn asks with its own words. What a turn adds to the beliefs is known from the next one on."""
    for session in sessions:
        for turn in session["turns"]:
            yield _case(turn, f"{session['caseId']}, turn {turn['turnIndex']}", SESSIONS, beliefs)
            beliefs = _after(turn, beliefs)


def _after(turn: Mapping[str, Any], beliefs: tuple[Belief, ...]) -> tuple[Belief, ...]:
    if "createBeliefAtTurn" in turn:
        beliefs = (*beliefs, _belief(turn["createBeliefAtTurn"]))
    told = turn.get("updateBeliefAtTurn", {"beliefId": None, "addAliases": ()})
    return tuple(
        replace(one, aliases=(*one.aliases, *told["addAliases"])) if one.id == told["beliefId"] else one
        for one in beliefs
    )
