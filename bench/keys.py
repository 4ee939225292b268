"""Which public texts the rules read, by which rule, and which rules never fire.

    python bench/keys.py --data DIR                coverage of keys and of extracted facts, rule by rule
    python bench/keys.py --data DIR --shared       also every pair of sentences of one person that share a key

DIR holds LoCoMo (``locomo/*.json``) and BEAM (``beam_100k/*/chat.json`` or ``chat.json.gz``), and may hold LongMemEval
(``longmemeval*/*.jsonl.gz``) and the weeks of an assistant (``assistant/*.json``). Coverage is the share of texts that
get a key other than the fallback. A text is a whole message, and each of its sentences. A rule that is listed as never firing has
no public text that it is there for. Pairs that share a key are for a person to judge: the later would replace the earlier.
"""

import argparse
import gzip
import json
import re
import sys
import timeit
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from recollect.rules.extraction import extract
from recollect.rules.identity.keys import identity, read_key
from recollect.rules.reasons import REASONS
from recollect.rules.statements import read_statement, tables

WHERE_FROM = """No measuring data in {folder}. Put there, under these names:
  locomo/*.json         LoCoMo conversations    https://github.com/snap-research/locomo
  beam_100k/*/chat.json or chat.json.gz         https://github.com/mohammadtavakoli78/BEAM"""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

Message = tuple[str, str]
"""Owner and text."""


def locomo_messages(folder: Path) -> Iterator[Message]:
    """Every turn of LoCoMo; each speaker of a conversation is an owner."""
    for sample in _locomo(folder):
        for name, turns in sample["conversation"].items():
            if name.startswith("session_") and isinstance(turns, list):
                for turn in turns:
                    yield f"locomo/{sample['sample_id']}/{turn['speaker']}", turn["text"]


def locomo_observations(folder: Path) -> Iterator[Message]:
    """Every observation that LoCoMo notes about a speaker."""
    for sample in _locomo(folder):
        for text in _strings(sample.get("observation", {})):
            if " " in text:
                yield f"locomo/{sample['sample_id']}", text


def beam_messages(folder: Path) -> Iterator[Message]:
    """Every user message of BEAM; each chat is an owner."""
    for file in sorted(folder.glob("beam*/*/chat.json*")):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for text in _user_texts(json.loads(content)):
            yield f"beam/{file.parent.name}", re.sub(r"\s*->->.*$", "", text)  # the set's own mark of the turn


def longmemeval_messages(folder: Path) -> Iterator[Message]:
    """Every user turn of LongMemEval; each question's haystack is an owner."""
    for file in sorted(folder.glob("longmemeval*/*.jsonl.gz")):
        for line in gzip.decompress(file.read_bytes()).splitlines():
            row = json.loads(line)
            yield from (
                (f"longmemeval/{row['question_id']}", text) for text in _strings(row["sessions"]) if " " in text
            )


def assistant_facts(folder: Path) -> Iterator[Message]:
    """Every fact and every statement of a pair in the assistant's weeks."""
    for file in sorted(folder.glob("assistant/*.json")):
        data = json.loads(file.read_text("utf-8"))
        for row in (*data.get("facts", ()), *data.get("pairs", ())):
            yield from ((f"assistant/{file.stem}", row[name]) for name in ("text", "a", "b") if name in row)


def _locomo(folder: Path) -> Iterator[Any]:
    for file in sorted(folder.glob("locomo/locomo*.json")):
        yield from json.loads(file.read_text("utf-8"))


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _strings(part)


def _user_texts(node: Any) -> Iterator[str]:
    """Every user message in a chat, however deep its batches and turns are nested."""
    if isinstance(node, dict) and node.get("role") == "user":
        yield node["content"]
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from _user_texts(child)


def sentences(messages: Sequence[Message]) -> list[Message]:
    return [(owner, part) for owner, text in messages for part in SENTENCE_END.split(text) if part.strip()]


def print_keys(name: str, texts: Sequence[str], fired: Counter[str]) -> None:
    """Print how many texts the reader names, by which rules, and how long it takes."""
    rules: Counter[str] = Counter()
    named = single = 0
    seconds = timeit.timeit(lambda: [read_statement(text) for text in texts], number=1)
    for frames in map(read_statement, texts):
        fired.update(frame.rule for frame in frames)
        if read_key(frames) is not None:
            named += 1
            single += frames[0].single
            rules[frames[0].rule] += 1
    count = len(texts)
    print(f"\n{name}: {count} texts; named {named / count:.2%}, one value at a time {single / count:.2%}")
    print(f"  reading {seconds / count * 1e3:.2f} ms a text")
    for rule, times in rules.most_common():
        print(f"  {times / count:8.3%} {times:6} {rule}")


def print_facts(name: str, texts: Sequence[str], fired: Counter[str]) -> None:
    """Print how many facts the messages yield, by which rules."""
    rules = Counter(fact.rule for text in texts for fact in extract(text))
    fired.update(rules)
    print(f"\n{name}: {len(texts)} messages, {sum(rules.values())} facts extracted")
    for rule, times in rules.most_common():
        print(f"  {times:6} {rule}")


def print_shared(messages: Sequence[Message]) -> None:
    """Print the sentences of one person that share a key."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for owner, text in messages:
        if (key := read_key(read_statement(text))) is not None:
            groups[owner, identity(key.text)].append(text.strip())
    for (owner, key_text), texts in groups.items():
        for earlier, later in pairwise(texts):
            print(f"\n{owner}  {key_text}\n  earlier: {earlier}\n  later:   {later}")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder with the public sets")
    options.add_argument("--shared", action="store_true", help="print the sentences of one person that share a key")
    asked = options.parse_args()
    turns, messages = list(locomo_messages(asked.data)), list(beam_messages(asked.data))
    if not turns and not messages:
        print(WHERE_FROM.format(folder=asked.data), file=sys.stderr)
        return 1
    fired: Counter[str] = Counter()
    observations = list(locomo_observations(asked.data))
    chats, facts = list(longmemeval_messages(asked.data)), list(assistant_facts(asked.data))
    for name, told in (
        ("LoCoMo observations", observations), ("LoCoMo turns", turns), ("BEAM user messages", messages),
        ("LongMemEval user turns", chats), ("an assistant's facts", facts),
    ):  # fmt: skip
        if told:
            print_keys(name, [text for _, text in told], fired)
            print_keys(f"{name}, sentences", [text for _, text in sentences(told)], fired)
    print_facts("the messages of all sets", [text for _, text in (*turns, *messages, *chats)], fired)
    known = [f"table:{one.attribute}" for one in tables.predicates().predicates] + [
        code for code in REASONS if code.startswith("extracted:")
    ]
    print(f"\nnever fired: {', '.join(rule for rule in known if not fired[rule]) or 'none'}")
    if asked.shared:
        print_shared(sentences([*turns, *messages]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
