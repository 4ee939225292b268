"""What a language model's verdicts do to a memory, what they take, and whether anybody waits for it.

    python bench/upkeep.py --data DIR [--days 3]

The weeks in DIR/assistant are told day by day, and `consolidate` runs every night with `verdicts: apply`, and some nights more.
The judge is scripted: it answers by the labels of the set (`replaces`), so what is measured is which pairs it is asked about.
A fact is outdated and still active if a later one replaces it and nothing took it out of recall.

The hot path: adds and queries on a file while a job waits for a slow model in another thread, beside the same without one.
"""

import argparse
import json
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import recollect
from recollect.embed.static import count_tokens
from recollect.llm import Prompt, Reply, Usage

WEEKS = ("week_aisha", "week_tomas", "project_heron")
PAIR = re.compile(r"Pair (\d+)\nA \([^)]*\): (.*)\nB \([^)]*\): (.*)")
ANSWER_TOKENS = 14
"""What a verdict on one pair takes, with its reason."""
POLICY: dict[str, Any] = {
    "model": {
        "endpoint": "http://localhost/v1",
        "name": "judge",
        "verdicts": "apply",
        "max_run_tokens": None,
        "max_tenant_tokens": None,
        "max_day_tokens": None,
    }
}


class Judge:
    """A model that knows which fact replaces which, and says so of every pair that it is shown."""

    name = "judge"

    def __init__(self, replaced: dict[str, set[str]], wait: Callable[[], object] = lambda: None) -> None:
        self.replaced, self.wait = replaced, wait
        self.tokens = self.pairs = self.updates = 0

    def complete(self, prompt: Prompt[Any]) -> Reply[Any]:
        self.wait()
        shown = PAIR.findall(prompt.messages[-1].content)
        said = [
            {
                "pair": int(number),
                "verdict": "update" if a in self.replaced.get(b, ()) else "different",
                "reason": "label",
            }
            for number, a, b in shown
        ]
        told = sum(count_tokens(message.content) for message in prompt.messages)
        self.tokens += told + ANSWER_TOKENS * len(shown)
        self.pairs += len(shown)
        self.updates += sum(one["verdict"] == "update" for one in said)
        answer = prompt.schema.model_validate({"verdicts": said})
        return Reply(answer, Usage(1, told, ANSWER_TOKENS * len(shown)), self.name)

    def close(self) -> None:
        """Nothing is open."""


def labels(facts: list[dict[str, Any]]) -> dict[str, set[str]]:
    """For each fact, the texts that it replaces, and what those replaced."""
    found: dict[str, set[str]] = {}
    for fact in facts:
        old = fact.get("replaces")
        if old is not None:
            before = facts[old]["text"]
            found[" ".join(fact["text"].split())] = {before, *found.get(before, ())}
    return found


def week(path: Path, nights: int) -> tuple[int, int, int, Judge, int]:
    """Tell one week; returns how many facts were replaced, how many stayed active before and after, the judge, and all facts."""
    data = json.loads(path.read_text("utf-8"))
    facts, start, ticks = data["facts"], datetime(2026, 3, 2, 9, tzinfo=UTC), iter(range(10_000_000))
    outdated = {fact["replaces"] for fact in facts if fact.get("replaces") is not None}
    left = []
    for judge in (None, Judge(labels(facts))):
        day = [0]
        clock = lambda day=day: start + timedelta(days=day[0], milliseconds=next(ticks))  # noqa: E731
        with recollect.open(":memory:", policy=POLICY, clock=clock) as mem:
            ids: list[str] = []
            last = max(fact["day"] for fact in facts)
            for now in range(1, last + nights + 1):
                day[0] = now
                for fact in (one for one in facts if one["day"] == now):
                    receipt = mem.add(fact["text"], owner="u", source="agent")
                    ids.append(receipt.memory.id if receipt.memory else "")
                if judge is not None:
                    mem.upkeep(job="consolidate", owner="u", model=judge)
            active = sum(bool(ids[old]) and mem.get(ids[old]).status == "active" for old in outdated)
        left.append(active)
    assert judge is not None
    return len(outdated), left[0], left[1], judge, len(facts)


def hot_path(folder: str) -> None:
    """Print how long adds and queries take, with and without a slow model behind them, in one process on one file."""
    always = {**POLICY, "upkeep": {"recheck_days": 0, "day_pairs": 1_000_000}}
    with recollect.open(Path(folder) / "memory.db", policy=always) as mem:
        for number in range(100):
            mem.add(f"Ana keeps box {number} with tools of sort {number % 17} in shed {number % 23}", owner="u")
        measured: dict[str, tuple[list[float], list[float]]] = {"alone": ([], []), "slow model": ([], [])}
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                mem.upkeep(job="consolidate", owner="u", model=Judge({}, lambda: stop.wait(1.0)))

        for part in range(6):  # in turns, so that noise hits both alike
            name = ("alone", "slow model")[part % 2]
            stop.clear()
            worker = threading.Thread(target=work) if part % 2 else None
            if worker is not None:
                worker.start()
            for number in range(60):
                text = f"Ben notes item {part}-{number} about garden {number % 29}"
                for times, act in zip(
                    measured[name],
                    (
                        lambda text=text: mem.add(text, owner="ben"),
                        lambda: mem.query("Which box is in shed 3?", owner="u"),
                    ),
                    strict=True,
                ):
                    begin = time.perf_counter()
                    act()
                    times.append((time.perf_counter() - begin) * 1e3)
            stop.set()
            if worker is not None:
                worker.join()
    for what, place in (("add", 0), ("query", 1)):
        alone, behind = (statistics.median(measured[name][place]) for name in ("alone", "slow model"))
        print(f"  {what:6} p50 {alone:6.2f} ms alone, {behind:6.2f} ms with a model that takes 1 s behind it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with the set `assistant`")
    parser.add_argument("--days", type=int, default=3, help="nights more than the week has")
    given = parser.parse_args()
    sums = [0, 0, 0]
    for name in WEEKS:
        replaced, before, after, judge, size = week(given.data / "assistant" / f"{name}.json", given.days)
        sums = [one + more for one, more in zip(sums, (replaced, before, after), strict=True)]
        print(f"  {name:14} outdated and active {before}/{replaced} = {before / replaced:.2f} before, "
              f"{after}/{replaced} = {after / replaced:.2f} after; {judge.pairs} pairs, {judge.updates} updates, "
              f"{judge.tokens / size * 1_000:,.0f} tokens for 1,000 memories")  # fmt: skip
    print(
        f"  all            outdated and active {sums[1] / sums[0]:.2f} before, {sums[2] / sums[0]:.2f} after (goal ≤ 0.15)"
    )
    with tempfile.TemporaryDirectory() as folder:
        hot_path(folder)


if __name__ == "__main__":
    main()
