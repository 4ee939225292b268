"""The public sets as one shape: conversations of turns, and questions with the turns that answer them.

The sets themselves are not part of the project; `bench/README.md` says where they come from. Each conversation, or each
question's haystack, becomes one stream: what is asked of it is answered from it alone.
"""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SET_NAMES = ("locomo", "beam", "longmemeval")

LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_DIALOGUE_ID = re.compile(r"D:?(\d+):0*(\d+)")
_INDEX_MARK = re.compile(r"\s*->->\s*[\d,.\s-]*$")


@dataclass(frozen=True)
class Turn:
    """One thing that was said: the unit that is remembered and found again."""

    id: str
    text: str
    session: str
    at: datetime
    speaker: str = ""
    """A person's name, where the set has names."""
    by_assistant: bool = False


@dataclass(frozen=True)
class Question:
    """What is asked, when, and which turns hold the answer. An update names what is newer and what it replaced."""

    text: str
    kind: str
    gold: frozenset[str]
    asked_at: datetime
    newer: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Conversation:
    """A stream of turns in their order, and the questions about it."""

    set_name: str
    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(data: Path, set_name: str) -> list[Conversation]:
    """All conversations of one set, in a fixed order; none if the folder does not hold the set."""
    readers = {"locomo": locomo, "beam": beam, "longmemeval": longmemeval}
    return list(readers[set_name](data))


# LoCoMo: two people talk over months; the unit is a turn.


def locomo(data: Path) -> Iterator[Conversation]:
    for path in sorted((data / "locomo").glob("locomo*.json")):
        corrected = _locomo_corrections(path.parent)
        for number, row in enumerate(json.loads(path.read_text("utf-8"))):
            turns = tuple(_locomo_turns(row["conversation"]))
            asked = [_locomo_question(qa, corrected.get((number, place)), turns) for place, qa in enumerate(row["qa"])]
            yield Conversation("locomo", row["sample_id"], turns, tuple(q for q in asked if q.gold))


def _locomo_turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(m[1]) for key in conversation if (m := re.fullmatch(r"session_(\d+)", key)))
    for number in numbers:
        at = _date(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for said in conversation[f"session_{number}"]:
            caption = f" [{said['blip_caption']}]" if said.get("blip_caption") else ""
            yield Turn(said["dia_id"], said["text"] + caption, str(number), at, said["speaker"])


def _locomo_question(qa: dict[str, Any], corrected: list[str] | None, turns: tuple[Turn, ...]) -> Question:
    evidence = qa["evidence"] if corrected is None else corrected
    gold = dialogue_ids(evidence) & {turn.id for turn in turns}
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
        yield Conversation("beam", folder.name, turns, tuple(q for q in questions if q.gold))


def _beam_turns(batches: list[dict[str, Any]]) -> Iterator[Turn]:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for batch in batches:
        for message in (message for exchange in batch["turns"] for message in exchange):
            if message.get("time_anchor"):
                at = _date(message["time_anchor"], "%B-%d-%Y")
            text, batch_number = _INDEX_MARK.sub("", message["content"]), str(batch["batch_number"])
            yield Turn(str(message["id"]), text, batch_number, at, by_assistant=message["role"] == "assistant")


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
        yield from (_haystack(row) for row in rows if not row["abstention"])


def _haystack(row: dict[str, Any]) -> Conversation:
    said = [(_date(s["date"], "%Y/%m/%d (%a) %H:%M"), s["session_id"], s["text"]) for s in row["sessions"]]
    turns = tuple(Turn(name, text, name, at) for at, name, text in sorted(said))
    gold = frozenset(row["gold_session_ids"])
    asked_at = _date(row["question_day"], "%Y-%m-%d")
    newer, older = _first_and_last(row["question_type"], [turn.id for turn in turns if turn.id in gold])
    question = Question(row["question"], row["question_type"], gold, asked_at, newer, older)
    return Conversation("longmemeval", row["question_id"], turns, (question,))


def _first_and_last(kind: str, gold: list[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Of an update, the session that was last and the one that was first."""
    return (frozenset(gold[-1:]), frozenset(gold[:1])) if kind == "knowledge-update" else (frozenset(), frozenset())


def _date(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def _gzipped(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)
