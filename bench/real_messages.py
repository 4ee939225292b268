"""What the rules do to real conversations: every message goes in, and every decision that touched another is printed.

    python bench/real_messages.py --data DIR [--sentences] [--out REPORT] [--quick]

Every turn of LoCoMo (an owner for each conversation and speaker) and every user message of BEAM (an owner for each
chat) is added as a semantic memory under the default policy. The report holds every supersession, contradiction and
reinforcement with the old text, the new text, the key and the rules, for a person to judge: each line that merges two
different facts is a true fact lost. The table counts them. Chat messages seldom are one plain statement, so
``--sentences`` cuts them up and adds every sentence on its own: a harder trial than any caller would set.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import recollect
from figures import OUT, options, print_table
from keys import SENTENCE_END, WHERE_FROM, Message, beam_messages, locomo_messages
from recollect import BadInput, Receipt, Recollect

SHOWN = ("superseded", "contradicted", "reinforced")
QUICK = 1_000


def read(data: Path, sentences: bool) -> list[tuple[str, Message]]:
    """Every message, or every sentence of every message, with the name of its set."""
    sets = (("LoCoMo", locomo_messages(data)), ("BEAM", beam_messages(data)))
    return [
        (name, (owner, part))
        for name, messages in sets
        for owner, text in messages
        for part in (SENTENCE_END.split(text) if sentences else [text])
        if part.strip()
    ]


def ingest(mem: Recollect, messages: Iterable[tuple[str, Message]], report: TextIO) -> Counter[tuple[str, str]]:
    """Add every message, write what the report is for, and count the outcomes by set."""
    outcomes: Counter[tuple[str, str]] = Counter()
    for name, (owner, text) in messages:
        try:
            receipt = mem.add(text, owner=owner, kind="semantic")
        except BadInput as refused:
            outcomes[name, f"refused as bad input ({refused.field})"] += 1
            continue
        outcomes[name, receipt.outcome] += 1
        outcomes[name, "linked to a near-duplicate"] += "near_duplicate:linked" in receipt.reasons
        if receipt.outcome in SHOWN:
            print("\n".join(lines_about(mem, receipt, owner, text)), end="\n\n", file=report)
    return outcomes


def lines_about(mem: Recollect, receipt: Receipt, owner: str, new: str) -> Iterator[str]:
    """One decision, as a person would want to read it."""
    assert receipt.memory is not None, "every outcome that is shown has its memory"
    yield f"{receipt.outcome.upper()}  {owner}  key {receipt.memory.canonical_key}"
    yield f"  rules: {', '.join(receipt.reasons)}"
    yield f"  old:   {_one_line(old_text(mem, receipt))}"
    yield f"  new:   {_one_line(new)}"


def old_text(mem: Recollect, receipt: Receipt) -> str:
    """The text of the memory that the new one met."""
    memory = receipt.memory
    assert memory is not None, "every outcome that is shown has its memory"
    if receipt.outcome == "reinforced":
        return memory.content
    met = memory.supersedes_id if receipt.outcome == "superseded" else memory.conflict_ids[0]
    return mem.get(met).content if met else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def rows_of_figures(outcomes: Counter[tuple[str, str]]) -> list[tuple[str, ...]]:
    names = sorted({name for name, _ in outcomes})
    kinds = dict.fromkeys(outcome for (_, outcome), count in outcomes.most_common() if count)
    return [(kind, *(f"{outcomes[name, kind]:,}" for name in names)) for kind in kinds]


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--sentences", action="store_true", help="add every sentence as a memory of its own")
    parser.add_argument("--out", type=Path, help="where the report goes; without it, to the screen")
    asked = parser.parse_args()
    messages = read(asked.data, asked.sentences) if asked.data else []
    if not messages:
        print(WHERE_FROM.format(folder=asked.data or "--data DIR"), file=sys.stderr)
        return 1
    OUT.mkdir(exist_ok=True)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=OUT))
        report = stack.enter_context(asked.out.open("w", encoding="utf-8")) if asked.out else sys.stdout
        mem = stack.enter_context(recollect.open(Path(folder) / "memory.db"))
        outcomes = ingest(mem, messages[:QUICK] if asked.quick else messages, report)
    header = ("what became of the messages", *sorted({name for name, _ in outcomes}))
    print_table("Real messages under the default policy", header, rows_of_figures(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
