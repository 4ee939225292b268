"""What the vault promises, as situations and their outcomes; see the files in ``vault/``.

A scenario may begin with a ``file`` that is there already, a ``profile`` or a ``policy``, and with ``profiles`` of agents, as
whom steps are taken ``by``. A step is a method of the vault; ``as`` names the memory that it made, for later steps.

- writes have ``becomes`` (fields of the receipt or of its memory), ``says`` and ``hides`` (in the message)
- ``lines`` are the fields that the lines of the file have, and ``untouched`` says that the first ones are still the same bytes
- ``$1200`` is so many characters, ``$id`` an id, ``$time`` a moment, ``$same`` and ``$later`` compare with the line before
"""

import itertools
import json
import random
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
import yaml

import recollect
from recollect.vault import MemoryVault, VaultReceipt, build_memory_block, build_snapshot_block
from support.determinism import SeededRandomness, SteppingClock

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?")
ID = re.compile(r"[0-9a-f]{12}")
COUNTED = re.compile(r"\$(\d{4})(é?)")
ADDED = ("scope", "category", "tier", "topic_id", "tags", "source")
CLOCK = SteppingClock(datetime(2026, 1, 1, tzinfo=UTC))


def scenarios() -> list[Any]:
    files = sorted((Path(__file__).parent / "vault").glob("*.yaml"))
    found = [(file.stem, one) for file in files for one in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return [pytest.param(one, id=f"{stem}: {one['scenario']}") for stem, one in found]


def spelt_out(text: str) -> str:
    """A text in which ``$1200`` stands for so many letters, of which a final é makes each two bytes."""
    found = COUNTED.search(text)
    if found is None:
        return text
    letters = ("é" if found[2] else "tide ") * int(found[1])
    return text.replace(found[0], letters[: int(found[1]) - 1] + "s")


class VaultStage:
    """One scenario under way, in a folder of its own."""

    def __init__(self, scenario: Mapping[str, Any], folder: Path, opened: ExitStack) -> None:
        self.scenario, self.opened = scenario, opened
        self.path = folder / "vault.jsonl" if "path" not in scenario else None
        self.names: dict[str, str] = {}
        self.seeds = itertools.count()
        given = [one if isinstance(one, str) else json.dumps(one) for one in scenario.get("file", ())]
        self.given = "".join(f"{line}\n" for line in given).encode()
        if self.given:
            (folder / "vault.jsonl").write_bytes(self.given)
        self.everyone = self.open(scenario.get("profile", {}))
        self.agents = {name: self.open(profile) for name, profile in scenario.get("profiles", {}).items()}

    def open(self, profile: Mapping[str, Any]) -> MemoryVault:
        where = [] if self.path is None else [self.path]
        seed = SeededRandomness(next(self.seeds))
        given = {"profile": {"memory": profile}, "policy": self.scenario.get("policy", "vault")}
        return self.opened.enter_context(MemoryVault(*where, **given, clock=CLOCK, randomness=seed))

    def take(self, step: dict[str, Any]) -> None:
        verb = next(iter(step))
        vault = self.agents[step["by"]] if "by" in step else self.everyone
        try:
            getattr(self, f"step_{verb}")(vault, step[verb], step)
        except recollect.RecollectError as error:
            assert error.code == step.get("refused"), error
        else:
            assert "refused" not in step

    def id_of(self, name: str) -> str:
        return self.names.get(name, name)

    def answered(self, receipt: VaultReceipt, wanted: Mapping[str, Any], step: Mapping[str, Any]) -> None:
        if receipt.memory is not None and "as" in step:
            self.names[step["as"]] = receipt.memory.id
        memory = receipt.memory.to_dict() if receipt.memory else {}
        self.expect(wanted, {**memory, "outcome": receipt.outcome, "code": receipt.code})
        assert receipt.ok or "becomes" in step, receipt.message
        assert step.get("says", "") in receipt.message, receipt.message
        assert "hides" not in step or step["hides"] not in repr(receipt)

    def step_add(self, vault: MemoryVault, text: str, step: dict[str, Any]) -> None:
        fields = {"scope": "shared", "category": "fact", **{name: step[name] for name in ADDED if name in step}}
        self.answered(vault.add_memory(spelt_out(text), **fields), step.get("becomes", {}), step)

    def step_topic(self, vault: MemoryVault, topic: str, step: dict[str, Any]) -> None:
        fields = {name: step[name] for name in ("category", "tags", "source") if name in step}
        receipt = vault.update_by_topic(topic, step.get("scope", "shared"), step["text"], **fields)
        self.answered(receipt, step.get("becomes", {}), step)

    def step_bulk_add(self, vault: MemoryVault, items: Sequence[Any], step: dict[str, Any]) -> None:
        items = [{**one, "text": spelt_out(one["text"])} if "text" in one else one for one in items]
        for receipt, wanted in zip(vault.bulk_add(items), step["becomes"], strict=True):
            self.answered(receipt, wanted, step)

    def step_fill(self, vault: MemoryVault, count: int, step: dict[str, Any]) -> None:
        """So many memories that have nothing in common."""
        dice = random.Random(count)
        texts = (" ".join("".join(dice.choices("bdfgklmnprst", k=6)) for _ in range(6)) for _ in range(count))
        assert all(one.ok for one in vault.bulk_add({"text": t, "scope": "shared", "category": "fact"} for t in texts))

    def step_update(self, vault: MemoryVault, name: str, step: dict[str, Any]) -> None:
        self.answered(vault.update(self.id_of(name), **step["with"]), step.get("becomes", {}), step)

    def step_delete(self, vault: MemoryVault, name: str, step: dict[str, Any]) -> None:
        self.answered(vault.delete(self.id_of(name)), step.get("becomes", {}), step)

    def step_bulk_delete(self, vault: MemoryVault, names: Sequence[str], step: dict[str, Any]) -> None:
        for receipt, wanted in zip(vault.bulk_delete(map(self.id_of, names)), step["becomes"], strict=True):
            self.answered(receipt, wanted, step)

    def step_promote(self, vault: MemoryVault, name: str, step: dict[str, Any]) -> None:
        self.answered(vault.promote_to_canon(self.id_of(name), spelt_out(step["to"])), step["becomes"], step)

    def step_compact(self, vault: MemoryVault, lines: Sequence[int], step: dict[str, Any]) -> None:
        assert list(vault.compact()) == lines

    def step_open_with(self, vault: MemoryVault, profile: Mapping[str, Any], step: dict[str, Any]) -> None:
        self.open(profile)

    def shown(self, memories: Sequence[Any], wanted: Sequence[str]) -> None:
        back = {id: name for name, id in self.names.items()}
        texts = [memory.text for memory in memories]
        assert wanted in ([back.get(memory.id, memory.text) for memory in memories], texts), texts

    def step_get(self, vault: MemoryVault, name: str, step: dict[str, Any]) -> None:
        found = vault.get(self.id_of(name))
        assert (found is None) == (step["is"] is None), found
        self.expect(step["is"] or {}, found.to_dict() if found else {})

    def step_recall(self, vault: MemoryVault, asked: Mapping[str, Any], step: dict[str, Any]) -> None:
        self.shown(vault.recall(**asked), step.get("shows", ()))

    def step_search(self, vault: MemoryVault, query: str, step: dict[str, Any]) -> None:
        hits = vault.search(query, **step.get("with", {}))
        self.shown([hit.memory for hit in hits], step["finds"])
        if "scores" in step:
            assert [hit.score for hit in hits] == pytest.approx(step["scores"])
        if "overlap" in step:
            ratio = SequenceMatcher(None, query, hits[0].memory.text).ratio()
            assert hits[0].score == pytest.approx(step["overlap"] + 0.3 * step["substring"] + 0.4 * ratio)

    def step_snapshot(self, vault: MemoryVault, scope: str | None, step: dict[str, Any]) -> None:
        self.told(vault.build_snapshot(scope), step)

    def step_snapshot_block(self, vault: MemoryVault, scopes: Sequence[str], step: dict[str, Any]) -> None:
        self.told(build_snapshot_block(vault, scopes), step)

    def step_memory_block(self, vault: MemoryVault, asked: Mapping[str, Any], step: dict[str, Any]) -> None:
        self.told(build_memory_block(vault, **asked), step)

    def told(self, block: str, step: Mapping[str, Any]) -> None:
        """What a prompt is given: all its lines, its memories, what comes after what, and what is not in it.

        Of where a memory comes from, the id is left out, and the source where none was stated.
        """
        block = re.sub(r"( · unstated)? · \d{4}-\d\d-\d\d · [0-9a-f]{12}\]", "]", block)
        if "is" in step:
            assert block.splitlines() == step["is"]
        if "has" in step:
            assert [line for line in block.splitlines() if line.startswith("- ")] == step["has"]
        if "in_order" in step:
            places = [block.find(part) for part in step["in_order"]]
            assert -1 not in places and places == sorted(places) and bool(places) == bool(block), block
        assert "lacks" not in step or step["lacks"] not in block, block
        assert "fences" not in step or block.count("```") == step["fences"], block

    def step_pairs(self, vault: MemoryVault, asked: Mapping[str, Any], step: dict[str, Any]) -> None:
        back = {id: name for name, id in self.names.items()}
        found = vault.find_consolidation_candidates(**asked)
        assert [[back[pair.first.id], back[pair.second.id]] for pair in found] == step["are"]

    def step_deletions(self, vault: MemoryVault, scope: str, step: dict[str, Any]) -> None:
        found = vault.propose_deletions(scope)
        assert {one.memory.id: one.code for one in found} == step["are"]
        assert all(one.reason for one in found)

    def step_stats(self, vault: MemoryVault, wanted: Mapping[str, Any], step: dict[str, Any]) -> None:
        self.expect(wanted, vault.vault_stats())

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.everyone.path.read_text(encoding="utf-8").split("\n")[:-1]]

    def step_lines(self, vault: MemoryVault, wanted: Sequence[Mapping[str, Any]], step: dict[str, Any]) -> None:
        records = self.records()
        assert len(records) == len(wanted), records
        for before, record, line in zip([{}, *records], records, wanted, strict=False):
            self.expect(line, record, before)

    def step_fields(self, vault: MemoryVault, wanted: Sequence[str], step: dict[str, Any]) -> None:
        assert all(list(record) == wanted for record in self.records())

    def step_untouched(self, vault: MemoryVault, _: bool, step: dict[str, Any]) -> None:
        assert vault.path.read_bytes().startswith(self.given)

    def step_path(self, vault: MemoryVault, wanted: str, step: dict[str, Any]) -> None:
        assert vault.path == Path.cwd() / wanted and vault.path.exists()

    def expect(
        self, wanted: Mapping[str, Any], actual: Mapping[str, Any], before: Mapping[str, Any] | None = None
    ) -> None:
        for name, value in wanted.items():
            found, known = actual.get(name), (before or {}).get(name)
            if value in ("$time", "$id"):
                assert isinstance(found, str) and (ISO if value == "$time" else ID).fullmatch(found), f"{name}: {found}"
            elif value == "$same":
                assert found == known
            elif value == "$later":
                assert found > (known or actual["created_at"])
            else:
                assert found == (self.id_of(value) if name == "id" else value), f"{name}: {found!r} is not {value!r}"


@pytest.mark.parametrize("scenario", scenarios())
def test_scenario(scenario: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as opened:
        stage = VaultStage(scenario, tmp_path, opened)
        for number, step in enumerate(scenario["steps"], start=1):
            try:
                stage.take(step)
            except AssertionError as error:
                raise AssertionError(f"step {number} {step}: {error}") from error
