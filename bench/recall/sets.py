"""The sets as one shape: conversations of texts, and questions with the texts that answer them.

The sets themselves are not part of the project; `bench/README.md` says where they come from. Each conversation, week, scope
or question's haystack becomes one stream: what is asked of it is answered from it alone.
"""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from precision import cases

LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_DIALOGUE_ID = re.compile(r"D:?(\d+):0*(\d+)")
_INDEX_MARK = re.compile(r"\s*->->\s*[\d,.\s-]*$")


@dataclass(frozen=True)
class Turn:
    """One thing that was said or noted: the unit that is remembered and found again."""

    id: str
    text: str
    at: datetime
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else is said of it when it is added to a store."""
    replaces: str = ""
    """The earlier turn that it replaces, if its writer accepts the offer to say so."""


@dataclass(frozen=True)
class Question:
    """What is asked, when, and which turns hold the answer. An update names what is newer and what it replaced."""

    text: str
    kind: str
    gold: frozenset[str]
    asked_at: datetime
    newer: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()
    """What is outdated: a right answer stands above it."""


@dataclass(frozen=True)
class Conversation:
    """A stream of turns in their order, and the questions about it; those without gold can't be answered from it."""

    name: str
    turns: tuple[Turn, ...]
    asked: tuple[Question, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """Those that have an answer."""
        return tuple(question for question in self.asked if question.gold)

    @property
    def unanswerable(self) -> tuple[Question, ...]:
        return tuple(question for question in self.asked if not question.gold)


def load(data: Path, set_name: str) -> list[Conversation]:
    """All conversations of one set, in a fixed order; none if the folder does not hold the set."""
    return list(SETS[set_name](data))


def talk(session: str, speaker: str = "", *, by_assistant: bool = False) -> dict[str, Any]:
    """What is said of a turn of a conversation when it is added."""
    said = {"kind": "episodic", "thread_id": session, "source": "agent" if by_assistant else "user"}
    return {**said, "actor_id": speaker} if speaker else said


# LoCoMo: two people talk over months; the unit is a turn, or an observation that a model made of some.


def locomo(data: Path) -> Iterator[Conversation]:
    """Its turns. The adversarial questions ask one for what the other said, so they have evidence like any other."""
    for row, asked in _locomo_rows(data):
        turns = tuple(_locomo_turns(row["conversation"]))
        known = {turn.id for turn in turns}
        questions = [_locomo_question(qa, evidence & known, turns) for qa, evidence in asked]
        yield Conversation(row["sample_id"], turns, tuple(q for q in questions if q.gold))


def locomo_alone(data: Path) -> Iterator[Conversation]:
    """Its turns, each a note of its own that says who said it: nothing before or after it helps to find it."""
    for conversation in locomo(data):
        turns = [Turn(t.id, f"{t.fields['actor_id']}: {t.text}", t.at, {"source": "agent"}) for t in conversation.turns]
        yield Conversation(conversation.name, tuple(turns), conversation.asked)


def locomo_observations(data: Path) -> Iterator[Conversation]:
    """Its observations, where the file has them: each answers what one of its turns answers."""
    for row, asked in _locomo_rows(data):
        turns = tuple(_locomo_turns(row["conversation"]))
        at = {turn.id: turn.at for turn in turns}
        facts: list[Turn] = []
        of_turn: dict[str, set[str]] = defaultdict(set)
        for said, cited in _observations(row.get("observation", {})):
            evidence = sorted(cited & at.keys())
            for turn in evidence:
                of_turn[turn].add(f"O{len(facts)}")
            facts += [Turn(f"O{len(facts)}", said, at[turn], {"source": "agent"}) for turn in evidence[:1]]
        facts.sort(key=lambda fact: fact.at)
        golds = [(qa, frozenset(f for turn in evidence for f in of_turn[turn])) for qa, evidence in asked]
        questions = tuple(_locomo_question(qa, gold, turns) for qa, gold in golds if gold)
        if facts:
            yield Conversation(row["sample_id"], tuple(facts), questions)


def _observations(sessions: Mapping[str, Mapping[str, Sequence[Any]]]) -> Iterator[tuple[str, frozenset[str]]]:
    for _, of_session in sorted(sessions.items(), key=lambda pair: int(re.sub(r"\D", "", pair[0]) or 0)):
        for said in of_session.values():
            for text, evidence in said:
                yield text, dialogue_ids(evidence if isinstance(evidence, list) else [evidence])


def _locomo_rows(data: Path) -> Iterator[tuple[dict[str, Any], list[tuple[dict[str, Any], frozenset[str]]]]]:
    """Each conversation, and its questions with the turns that they cite."""
    for path in sorted((data / "locomo").glob("locomo*.json")):
        corrected = _locomo_corrections(path.parent)
        for number, row in enumerate(json.loads(path.read_text("utf-8"))):
            asked = [
                (qa, dialogue_ids(corrected.get((number, place), qa["evidence"]))) for place, qa in enumerate(row["qa"])
            ]
            yield row, asked


def _locomo_turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(m[1]) for key in conversation if (m := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        at = _date(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for said in conversation[f"session_{number}"]:
            caption = f" [{said['blip_caption']}]" if said.get("blip_caption") else ""
            yield Turn(said["dia_id"], said["text"] + caption, at, talk(str(number), said["speaker"]))


def _locomo_question(qa: dict[str, Any], gold: frozenset[str], turns: tuple[Turn, ...]) -> Question:
    return Question(qa["question"], LOCOMO_KINDS[qa["category"]], gold, turns[-1].at)


def dialogue_ids(evidence: list[str]) -> frozenset[str]:
    """The turns that a list of citations names, however each was written.

    >>> sorted(dialogue_ids(["D8:6; D9:17", "D:11:26", "D30:05"]))
    ['D11:26', 'D30:5', 'D8:6', 'D9:17']
    """
    return frozenset(f"D{m[1]}:{m[2]}" for text in evidence for m in _DIALOGUE_ID.finditer(text))


def _locomo_corrections(folder: Path) -> dict[tuple[int, int], list[str]]:
    """Audited evidence by the conversation's and the question's place in the set."""
    found = {}
    for path in sorted(folder.glob("corrections*.json")):
        for row in json.loads(path.read_text("utf-8")):
            place = re.fullmatch(r"locomo_(\d+)_qa(\d+)", row["question_id"])
            assert place, f"{path}: a question id reads like locomo_0_qa1, not {row['question_id']}"
            found[int(place[1]), int(place[2])] = row["correct_evidence"]
    return found


# BEAM: one person works with an assistant over months; the unit is a message.


def beam(data: Path) -> Iterator[Conversation]:
    folders = [path.parent for path in (data / "beam_100k").glob("*/chat.json.gz")]
    for folder in sorted(folders, key=lambda path: int(path.name)):
        turns = tuple(_beam_turns(_gzipped(folder / "chat.json.gz")))
        asked = _gzipped(folder / "probing_questions.json.gz")
        questions = [_beam_question(kind, row, turns[-1].at) for kind, rows in asked.items() for row in rows]
        yield Conversation(folder.name, turns, tuple(q for q in questions if q.gold or q.kind == "abstention"))


def _beam_turns(batches: list[dict[str, Any]]) -> Iterator[Turn]:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for batch in batches:
        for message in (message for exchange in batch["turns"] for message in exchange):
            if message.get("time_anchor"):
                at = _date(message["time_anchor"], "%B-%d-%Y")
            text, batch_number = _INDEX_MARK.sub("", message["content"]), str(batch["batch_number"])
            said = talk(batch_number, by_assistant=message["role"] == "assistant")
            yield Turn(str(message["id"]), text, at, said)


def _beam_question(kind: str, row: dict[str, Any], asked_at: datetime) -> Question:
    source = row.get("source_chat_ids") or []
    parts = source if isinstance(source, dict) else {"": source}
    by_part = {part: frozenset(map(str, _flat(ids))) for part, ids in parts.items()}
    gold = frozenset[str]().union(*by_part.values())
    newer, older = by_part.get("updated_info", frozenset()), by_part.get("original_info", frozenset())
    return Question(row["question"], kind, gold, asked_at, newer, older)


def _flat(ids: list[Any]) -> Iterator[int]:
    for item in ids:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


# LongMemEval: one person and an assistant; each question has sessions of its own, and the unit is a session.


def longmemeval(data: Path) -> Iterator[Conversation]:
    for path in sorted((data / "longmemeval_s_head500").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        yield from map(_haystack, rows)


def _haystack(row: dict[str, Any]) -> Conversation:
    said = [(_date(s["date"], "%Y/%m/%d (%a) %H:%M"), s["session_id"], s["text"]) for s in row["sessions"]]
    turns = tuple(Turn(name, text, at, talk(name)) for at, name, text in sorted(said))
    gold = frozenset(() if row["abstention"] else row["gold_session_ids"])
    asked_at = _date(row["question_day"], "%Y-%m-%d")
    newer, older = _first_and_last(row["question_type"], [turn.id for turn in turns if turn.id in gold])
    question = Question(row["question"], row["question_type"], gold, asked_at, newer, older)
    return Conversation(row["question_id"], turns, (question,))


def _first_and_last(kind: str, gold: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Of an update, the session that was last and the one that was first."""
    return (frozenset(gold[-1:]), frozenset(gold[:1])) if kind == "knowledge-update" else (frozenset(), frozenset())


# PrecisionMemBench: what is believed of a user in a scope; the unit is a belief that holds.


def precision(data: Path) -> Iterator[Conversation]:
    """The cases that say which beliefs a question brings up, by what is believed then in the scopes that are asked.

    What was superseded or belongs elsewhere is left out: `bench/precision.py` is about that.
    """
    if not (data / cases.FOLDER).is_dir():
        return
    asked: dict[tuple[Any, ...], list[Question]] = defaultdict(list)
    for case in cases.load(data):
        beliefs = tuple(
            one
            for one in case.beliefs
            if one.is_asked_for and one.user == case.user and one.scope in case.scopes
            if not one.replaced_by and not one.resolved
        )
        gold = (case.relevant.only or frozenset()) & {one.id for one in beliefs}
        if gold and case.text.strip():
            asked[beliefs].append(Question(case.text, case.kind, gold, _NOTED))
    for number, (beliefs, questions) in enumerate(asked.items()):
        yield Conversation(str(number), tuple(map(_belief, beliefs)), tuple(questions))


_NOTED = datetime(2026, 3, 2, 9, tzinfo=UTC)


def _belief(belief: cases.Belief) -> Turn:
    named = {"name": belief.name.replace("_", " "), "aliases": list(belief.aliases)}
    fields = {"title": belief.name, "category": belief.type, "entities": [named], "source": "user"}
    return Turn(belief.id, belief.content, _NOTED, fields)


# Weeks of an assistant's life: facts as a model would note them, or messages as a person says them.


def facts(data: Path) -> Iterator[Conversation]:
    for path, week in _weeks(data):
        yield _week(path.stem, week["facts"], week["questions_facts"], {"source": "agent"})


def facts_accepted(data: Path) -> Iterator[Conversation]:
    for path, week in _weeks(data):
        told = _week(path.stem, week["facts"], week["questions_facts"], {"source": "agent"})
        replaced = [one.get("replaces") for one in week["facts"]]
        turns = (
            turn if old is None else replace(turn, replaces=str(old))
            for turn, old in zip(told.turns, replaced, strict=True)
        )
        yield replace(told, turns=tuple(turns))


def messages(data: Path) -> Iterator[Conversation]:
    for path, week in _weeks(data):
        yield _week(path.stem, week["messages"], week["questions_messages"], {"source": "user", "kind": "semantic"})


def _weeks(data: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted((data / "assistant").glob("*.json")):
        week = json.loads(path.read_text("utf-8"))
        if "questions_facts" in week:
            yield path, week


def _week(
    name: str, said: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]
) -> Conversation:
    days = [_NOTED + timedelta(days=one["day"], seconds=number) for number, one in enumerate(said)]
    turns = tuple(Turn(str(n), one["text"], days[n], fields) for n, one in enumerate(said))

    def with_any(marks: Sequence[str]) -> frozenset[str]:
        return frozenset(turn.id for turn in turns if any(mark.lower() in turn.text.lower() for mark in marks))

    questions = []
    for one in asked:
        gold, older = with_any(one["right"]), with_any(one["stale"])
        kind = "changed" if older else "unchanged" if gold else "unanswerable"
        newer = gold if older else frozenset()
        questions.append(Question(one["q"], kind, gold, days[-1] + timedelta(days=1), newer, older))
    return Conversation(name, turns, tuple(questions))


def _date(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def _gzipped(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


SETS: dict[str, Callable[[Path], Iterator[Conversation]]] = {
    "LoCoMo turns": locomo,
    "LoCoMo turns alone": locomo_alone,
    "LoCoMo observations": locomo_observations,
    "BEAM": beam,
    "LongMemEval": longmemeval,
    "PrecisionMemBench": precision,
    "facts of a week": facts,
    "facts of a week, right offers accepted": facts_accepted,
    "messages of a week": messages,
}
"""Every set by its name in the tables."""
