"""Which real messages would replace each other, if the SAQ parser alone decided?

    python bench/real_messages_keys.py --data DIR [--sentences] [--keyed]

Every turn of LoCoMo (an owner for each conversation and speaker) and every user message of BEAM (an owner for each
chat) goes through the parser. Messages of one owner that share a parser key are printed, so that a person can judge
whether they state the same one-value concept. Chat messages seldom are one plain statement, so ``--sentences`` cuts
them up and treats every sentence as a memory of its own: a harder trial than any caller would set. ``--keyed`` also
prints everything that got a key at all.
"""

import argparse
import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.rules.keys import identity, parsed_key
from recollect.rules.saq import parse

WHERE_FROM = """No measuring data in {folder}. Put there, under these names:
  locomo/*.json         LoCoMo conversations    https://github.com/snap-research/locomo
  beam_100k/*/chat.json or chat.json.gz         https://github.com/mohammadtavakoli78/BEAM"""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

Message = tuple[str, str]
"""Owner and text."""


def locomo_messages(folder: Path) -> Iterator[Message]:
    for file in sorted(folder.glob("locomo/locomo*.json")):
        for sample in json.loads(file.read_text("utf-8")):
            for name, turns in sample["conversation"].items():
                if name.startswith("session_") and isinstance(turns, list):
                    for turn in turns:
                        yield f"locomo/{sample['sample_id']}/{turn['speaker']}", turn["text"]


def beam_messages(folder: Path) -> Iterator[Message]:
    for file in sorted(folder.glob("beam*/*/chat.json*")):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for text in _user_texts(json.loads(content)):
            yield f"beam/{file.parent.name}", text


def _user_texts(node: Any) -> Iterator[str]:
    """Every user message in a chat, however deep its batches and turns are nested."""
    if isinstance(node, dict) and node.get("role") == "user":
        yield node["content"]
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from _user_texts(child)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder with the public sets")
    options.add_argument("--sentences", action="store_true", help="take every sentence as a message")
    options.add_argument("--keyed", action="store_true", help="print everything that got a key")
    asked = options.parse_args()
    messages = [*locomo_messages(asked.data), *beam_messages(asked.data)]
    if not messages:
        print(WHERE_FROM.format(folder=asked.data), file=sys.stderr)
        return 1
    if asked.sentences:
        messages = [(owner, part) for owner, text in messages for part in SENTENCE_END.split(text) if part.strip()]
    report(messages, asked.keyed)
    return 0


def report(messages: list[Message], keyed: bool) -> None:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for owner, text in messages:
        if parsed := parse(text):
            key = identity(parsed_key(parsed.subject, parsed.aspect, parsed.qualifier).text)
            groups[owner, key].append(text)
            if keyed:
                print(f"keyed  {key}  [{parsed.rule}]  {text.strip()!r}")
    pairs = 0
    for (owner, key), texts in groups.items():
        for number, text in enumerate(texts[1:], start=1):
            pairs += number
            print(f"\n{owner}  {key}\n  earlier: {texts[number - 1].strip()}\n  later:   {text.strip()}")
    named = sum(len(texts) for texts in groups.values())
    print(f"\n{len(messages)} texts, {named} with a parser key, {pairs} pairs of one owner share a key")


if __name__ == "__main__":
    sys.exit(main())
