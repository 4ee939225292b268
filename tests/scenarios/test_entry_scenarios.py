"""What entries promise, as situations and their outcomes; see the files in ``entries/``.

Memories are known by the names that steps give them; ``$self``, ``$other`` and ``$same`` stand for hashes.
"""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_scenarios import Stage, location

import recollect
from recollect.formats.entries import problems_of
from recollect.model.record import Memory
from recollect.rules.provenance import Lineage

__all__ = ["location"]
PLACE = {"owner": "lab", "space": "project"}


def scenarios() -> list[Any]:
    files = sorted((Path(__file__).parent / "entries").glob("*.yaml"))
    found = [(file.stem, one) for file in files for one in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return [pytest.param(one, id=f"{stem}: {one['scenario']}") for stem, one in found]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class EntryStage(Stage):
    """A scenario about entries under way."""

    def __init__(self, location: str, policy: Any) -> None:
        super().__init__(location, policy)
        self.made: dict[str, Memory] = {}

    def agent(self, name: str) -> recollect.Recollect:
        return self.memory.as_caller(agent=name, projects=["lab"])

    def hash_of(self, name: str, content: str = "") -> str:
        known = {"$self": sha(content), "$other": sha("something else")}
        return known.get(name) or (self.made[name].content_hash if name in self.made else sha(name))

    def step_say(self, step: dict[str, Any]) -> None:
        fields = {
            name: step[name] for name in ("kind", "confidence", "tags", "context", "scope", "change") if name in step
        }
        if "by" in step:
            fields["author"] = {"id": step["by"], "name": step["by"], "platform": step.get("platform")}
        if "key" in step:
            fields["canonical_key"] = step["key"]
        fields["parent_refs"] = [self.hash_of(name, step["say"]) for name in step.get("upon", ())]
        speaker = self.agent(step["as_agent"]) if "as_agent" in step else self.memory
        receipt = speaker.add(step["say"], **PLACE, **fields)
        assert receipt.reasons[0] == step["refused"] if "refused" in step else receipt.memory is not None, (
            receipt.reasons
        )
        if receipt.memory is not None and "as" in step:
            self.names[step["as"]], self.made[step["as"]] = receipt.memory.id, receipt.memory

    def exported(self, of: recollect.Recollect | None = None) -> dict[str, dict[str, Any]]:
        by_hash = {memory.id: name for name, memory in self.made.items()}
        found = [json.loads(line) for line in (of or self.memory).export_entries(owner="lab")]
        return {by_hash[one["metadata"]["recollect"]["id"]]: one for one in found}

    def named(self, value: Any) -> Any:
        back = {memory.content_hash: name for name, memory in self.made.items()}
        if isinstance(value, list):
            return [self.named(inner) for inner in value]
        return back.get(value, value) if isinstance(value, str) else value

    def step_entry(self, step: dict[str, Any]) -> None:
        entry = self.exported()[step["entry"]]
        assert problems_of(entry) == []
        for name, wanted in step["has"].items():
            wanted = step["entry"] if wanted == "$same" else wanted
            assert self.named(entry[name]) == wanted, f"{name}: {entry[name]}"

    def step_check(self, step: dict[str, Any]) -> None:
        entry = dict(step["check"])
        if str(entry.get("content", "")).startswith("$"):
            entry["content"] = "x" * int(entry["content"][1:])
        if "content_hash" in entry:
            entry["content_hash"] = sha(entry["content"])
        assert [problem.path for problem in problems_of(entry)] == step["finds"]

    def step_tamper(self, step: dict[str, Any]) -> None:
        changed = {name: self.hash_of(value) if value == "$other" else value for name, value in step["with"].items()}
        assert [one.path for one in problems_of({**self.exported()[step["tamper"]], **changed})] == step["finds"]

    def step_same_hash(self, step: dict[str, Any]) -> None:
        one, other = (self.made[name] for name in step["same_hash"])
        assert one.content_hash == other.content_hash and one.id != other.id

    def sources(self, lineage: Lineage) -> list[str]:
        back = {id: name for name, id in self.names.items()}
        return [back.get(key, "unresolved") for key in lineage.distances()]

    def step_ancestors(self, step: dict[str, Any]) -> None:
        assert self.sources(self.memory.ancestors(self.names[step["ancestors"]])) == step["are"]

    def step_descendants(self, step: dict[str, Any]) -> None:
        assert self.sources(self.memory.descendants(self.names[step["descendants"]])) == step["are"]

    def step_common(self, step: dict[str, Any]) -> None:
        found = self.memory.common_sources(*(self.names[name] for name in step["common"]))
        assert [self.plain(one.source.id) for one in found] == step["are"]

    def step_credit(self, step: dict[str, Any]) -> None:
        assert {one.who: str(one.share) for one in self.memory.credit(self.names[step["credit"]])} == step["is"]

    def step_derivatives(self, step: dict[str, Any]) -> None:
        found = self.memory.derivatives(self.names[step["derivatives"]])
        assert [self.plain(one.id) for one in found] == step["are"]

    def step_vouch(self, step: dict[str, Any]) -> None:
        self.standing_for(step, "vouch", confidence=step.get("confidence"))

    def step_withdraw(self, step: dict[str, Any]) -> None:
        self.standing_for(step, "withdraw", "withdraw_vouch")

    def standing_for(self, step: dict[str, Any], verb: str, method: str = "vouch", **given: Any) -> None:
        try:
            getattr(self.agent(step["by"]), method)(self.names[step[verb]], **given)
        except recollect.RecollectError as error:
            assert error.code == step.get("refused"), error
        else:
            assert "refused" not in step

    def step_unchanged(self, step: dict[str, Any]) -> None:
        before, after = self.made[step["unchanged"]].to_dict(), self.memory.get(self.names[step["unchanged"]]).to_dict()
        assert {name for name in before if before[name] != after[name]} == {"vouchers"}

    def step_vouchers(self, step: dict[str, Any]) -> None:
        found = self.memory.get(self.names[step["vouchers"]]).vouchers
        assert [one["id"] for one in found] == step["are"]

    def step_weight(self, step: dict[str, Any]) -> None:
        assert self.agent(step["for"]).vouching(self.names[step["weight"]]).weight == step["is"]

    def step_ask(self, step: dict[str, Any]) -> None:
        found = self.memory.query(step["ask"], **PLACE)
        assert [self.plain(item.memory.id) for item in found.items] == step["finds"]

    def step_chain(self, step: dict[str, Any]) -> None:
        assert [self.plain(link.id) for link in self.memory.chain(self.names[step["chain"]])] == step["shows"]

    def step_do(self, step: dict[str, Any]) -> None:
        getattr(self.memory, step["do"])(self.names[step["to"]], **step["with"])

    def step_exported_to(self, step: dict[str, Any]) -> None:
        assert list(self.exported(self.agent(step["exported_to"]))) == step["shows"]

    def step_erase(self, step: dict[str, Any]) -> None:
        self.memory.erase(id=self.names[step["erase"]])

    def step_round_trip(self, _: dict[str, Any]) -> None:
        lines = list(self.memory.export_entries())
        with recollect.open(":memory:", policy="entry") as other:
            assert other.import_entries(io.StringIO("\n".join(lines)), partial=True).refused == ()
            assert list(other.export_entries()) == lines


@pytest.mark.parametrize("scenario", scenarios())
def test_scenario(scenario: dict[str, Any], location: str) -> None:
    stage = EntryStage(location, scenario.get("policy", "entry"))
    for number, step in enumerate(scenario["steps"], start=1):
        try:
            stage.take(step)
        except AssertionError as error:
            raise AssertionError(f"step {number} {step}: {error}") from error
    assert stage.memory.verify().ok
    assert stage.memory.rebuild() >= 0
    assert stage.memory.verify().ok
    stage.memory.close()
