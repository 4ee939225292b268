"""What entries promise, as situations and their outcomes; see the files in ``entries/``.

Memories are known by the names that steps give them; ``$self``, ``$other`` and ``$same`` stand for hashes, ``$10240`` for a
text of so many bytes. ``as_agent`` is who speaks or asks, bound to that name; ``by`` whom an application credits. Entries of a
file are written with what matters about them; ``file`` checks such a file and ``import`` takes it in.
"""

import hashlib
import io
import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from test_scenarios import Stage, location

import recollect
from recollect.engine.transfer.entries import validate
from recollect.formats.entries import find_problems
from recollect.model.record import Memory
from recollect.rules.trust.provenance import Lineage
from recollect.rules.trust.signed_documents import check_offline

__all__ = ["location"]
PLACE: dict[str, Any] = {"owner": "lab", "space": "project"}
SCHEMA = json.loads((resources.files("recollect.formats") / "memory-entry-schema.json").read_text(encoding="utf-8"))
PUBLISHED = jsonschema.Draft202012Validator(SCHEMA)


def scenarios() -> list[Any]:
    files = sorted((Path(__file__).parent / "entries").glob("*.yaml"))
    found = [(file.stem, one) for file in files for one in yaml.safe_load(file.read_text(encoding="utf-8"))]
    return [pytest.param(one, id=f"{stem}: {one['scenario']}") for stem, one in found]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def spelled(text: Any) -> Any:
    """``$10240`` as a text of so many bytes, ``$5121é`` as so many letters of two; all else as it is."""
    if isinstance(text, str) and text.startswith("$") and text[1:].rstrip("é").isdigit():
        return ("é" if text.endswith("é") else "x") * int(text[1:].rstrip("é"))
    return text


class EntryStage(Stage):
    """A scenario about entries under way."""

    def __init__(self, location: str, policy: Any, folder: Path) -> None:
        super().__init__(location, policy)
        self.made: dict[str, Memory] = {}
        self.folder = folder

    def agent(self, name: str) -> recollect.Recollect:
        return self.memory.as_caller(agent=name, projects=["lab"])

    def speaker(self, step: dict[str, Any]) -> recollect.Recollect:
        return self.agent(step["as_agent"]) if "as_agent" in step else self.memory

    def hash_of(self, name: str, content: str = "") -> str:
        known = {"$self": sha(content), "$other": sha("something else")}
        return known.get(name) or (self.made[name].content_hash if name in self.made else sha(name))

    def step_say(self, step: dict[str, Any]) -> None:
        fields: dict[str, Any] = {
            name: step[name] for name in ("kind", "confidence", "tags", "context", "scope", "change") if name in step
        }
        if "by" in step:
            name = step.get("named", step["by"])
            fields["author"] = {"id": step["by"], "name": name, "platform": step.get("platform")}
        if "key" in step:
            fields["canonical_key"] = step["key"]
        fields["parent_refs"] = [self.hash_of(name, step["say"]) for name in step.get("upon", ())]
        if "corrects" in step:
            old = self.made[step["corrects"]]
            fields |= {"canonical_key": old.canonical_key, "change": "update"}
            fields["parent_refs"].append(old.content_hash)
        try:
            receipt = self.speaker(step).add(spelled(step["say"]), **PLACE, **fields)
        except recollect.BadInput as error:
            assert error.field == step.get("wrong"), error
            return
        assert "wrong" not in step
        assert receipt.reasons[0] == step["refused"] if "refused" in step else receipt.memory is not None, (
            receipt.reasons
        )
        if receipt.memory is not None and "as" in step:
            self.names[step["as"]], self.made[step["as"]] = receipt.memory.id, receipt.memory

    def exported(self, of: recollect.Recollect | None = None) -> dict[str, dict[str, Any]]:
        return {
            self.name_of(one): one
            for one in map(json.loads, (of or self.memory).export(format="entries", status=None, owner="lab"))
        }

    def name_of(self, entry: dict[str, Any]) -> str:
        """By its id; what came from elsewhere has none of ours, and is known by its words."""
        by_id = {memory.id: name for name, memory in self.made.items()}
        return by_id.get(entry["metadata"]["recollect"]["id"]) or str(self.named(entry["content_hash"]))

    def named(self, value: Any) -> Any:
        back = {memory.content_hash: name for name, memory in self.made.items()}
        if isinstance(value, list):
            return [self.named(inner) for inner in value]
        return back.get(value, value) if isinstance(value, str) else value

    def step_entry(self, step: dict[str, Any]) -> None:
        entry = self.exported()[step["entry"]]
        assert find_problems(entry) == []
        PUBLISHED.validate(entry)
        for name, wanted in step["has"].items():
            wanted = step["entry"] if wanted == "$same" else wanted
            assert self.named(entry[name]) == wanted, f"{name}: {entry[name]}"

    def step_check(self, step: dict[str, Any]) -> None:
        entry = {name: spelled(value) for name, value in step["check"].items()}
        if entry.get("content_hash") == "$sha":
            entry["content_hash"] = sha(entry["content"])
        assert [problem.path for problem in find_problems(entry)] == step["finds"]

    def step_with(self, step: dict[str, Any]) -> None:
        """A sound entry with this in it: the validator and the published schema find the same."""
        least = self.entry_of({"content": "It rains"})
        PUBLISHED.validate(least)
        entry = {**least, **self.hashes_in(step["with"])}
        found = [problem.path for problem in find_problems(entry)]
        assert found == step["finds"], found
        assert PUBLISHED.is_valid(entry) == (not found)

    def hashes_in(self, value: Any) -> Any:
        """``$other`` as the hash of something else, wherever it stands."""
        if isinstance(value, dict):
            return {name: self.hashes_in(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.hashes_in(inner) for inner in value]
        return self.hash_of(value) if value == "$other" else value

    def entry_of(self, written: dict[str, Any]) -> dict[str, Any]:
        """An entry of which a scenario writes only what matters; parents and replacements by their words."""
        entry = {"author": {"id": "otto-1", "name": "Otto"}, "timestamp": "2025-02-02T16:00:00Z", **written}
        entry.setdefault("content_hash", sha(entry["content"]))
        if "parent_refs" in entry:
            entry["parent_refs"] = [sha(words) for words in entry["parent_refs"]]
        if "superseded_by" in entry:
            entry["superseded_by"] = sha(entry["superseded_by"])
        return entry

    def read(self, entries: list[dict[str, Any]]) -> io.StringIO:
        return io.StringIO("\n".join(json.dumps(self.entry_of(one)) for one in entries))

    def step_file(self, step: dict[str, Any]) -> None:
        found: list[str] = []
        validate(self.read(step["file"]), lambda one: found.append(f"entry {one.entry}, {one.path}"))
        assert found == step["finds"]

    def step_import(self, step: dict[str, Any]) -> None:
        report = self.memory.import_(
            self.read(step["import"]), partial=step.get("partial", False), **PLACE, format="entries", whole=True
        )
        assert report.outcomes == step["becomes"], report

    def step_holds(self, step: dict[str, Any]) -> None:
        """The entries that an export holds, by their words, each with these fields; ``null`` for one that it lacks."""
        exported = [json.loads(line) for line in self.memory.export(format="entries", status=None, owner="lab")]
        back = {one["content_hash"]: one["content"] for one in exported}
        assert [one["content"] for one in exported] == list(step["holds"])
        for one in exported:
            for name, wanted in (step["holds"][one["content"]] or {}).items():
                value = one.get(name)
                shown = [back.get(part, part) for part in value] if name == "parent_refs" else value
                assert (back.get(shown, shown) if isinstance(shown, str) else shown) == wanted, f"{name}: {value}"

    def step_tamper(self, step: dict[str, Any]) -> None:
        changed = {name: self.hash_of(value) if value == "$other" else value for name, value in step["with"].items()}
        assert [one.path for one in find_problems({**self.exported()[step["tamper"]], **changed})] == step["finds"]

    def step_same_hash(self, step: dict[str, Any]) -> None:
        one, other = (self.made[name] for name in step["same_hash"])
        assert one.content_hash == other.content_hash and one.id != other.id

    def sources(self, lineage: Lineage) -> list[str]:
        back = {id: name for name, id in self.names.items()}
        return [back.get(key, "unresolved") for key in lineage.distances()]

    def step_ancestors(self, step: dict[str, Any]) -> None:
        lineage = self.speaker(step).ancestors(self.names[step["ancestors"]])
        assert self.sources(lineage) == step["are"]
        hidden = [source for source in lineage.sources.values() if not source.resolved]
        assert all((one.author, one.at, one.content) == (None, None, None) for one in hidden)

    def step_descendants(self, step: dict[str, Any]) -> None:
        assert self.sources(self.memory.descendants(self.names[step["descendants"]])) == step["are"]

    def step_common(self, step: dict[str, Any]) -> None:
        found = self.memory.common_sources(*(self.names[name] for name in step["common"]))
        assert [self.plain(one.source.id) for one in found] == step["are"]

    def step_credit(self, step: dict[str, Any]) -> None:
        found = self.memory.credit(self.names[step["credit"]])
        assert {one.who: str(one.share) for one in found} == step["is"]
        assert sum(one.share for one in found) == 1

    def step_derivatives(self, step: dict[str, Any]) -> None:
        found = self.memory.derivatives(self.names[step["derivatives"]])
        assert [self.plain(one.id) for one in found] == step["are"]

    def step_vouch(self, step: dict[str, Any]) -> None:
        others = {name: step[other] for name, other in (("says", "says"), ("by", "in_the_name_of")) if other in step}
        self.standing_for(step, "vouch", confidence=step.get("confidence"), **others)

    def step_crowd(self, step: dict[str, Any]) -> None:
        """So many identities of one actor, each of which writes something, vouches for the next one's, and for a memory."""
        names = [f"sock-{number}" for number in range(step["crowd"])]
        own = [self.agent(name).add(f"Word {name}", **PLACE).memory for name in names]
        self.names |= {name: one.id for name, one in zip(names, own, strict=True) if one is not None}
        for name, following in zip(names, [*names[1:], names[0]], strict=True):
            self.agent(name).vouch(self.names[following])
            self.agent(name).vouch(self.names[step["vouches_for"]])

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
        assert [one["name"] for one in found] == step["are"]

    def step_weight(self, step: dict[str, Any]) -> None:
        assert self.agent(step["for"]).vouchers(self.names[step["weight"]]).weight == step["is"]

    def step_ask(self, step: dict[str, Any]) -> None:
        found = self.speaker(step).query(step["ask"], **PLACE, filters=step.get("where"), threshold=0.35)
        names = [self.plain(item.memory.id) for item in found.items]
        assert names[:1] == [step["best"]] if "best" in step else names == step["finds"], names

    def step_chain(self, step: dict[str, Any]) -> None:
        assert [self.plain(link.id) for link in self.memory.chain(self.names[step["chain"]])] == step["shows"]

    def step_do(self, step: dict[str, Any]) -> None:
        getattr(self.memory, step["do"])(self.names[step["to"]], **step["with"])

    def step_exported_to(self, step: dict[str, Any]) -> None:
        assert list(self.exported(self.agent(step["exported_to"]))) == step["shows"]

    def step_identity(self, step: dict[str, Any]) -> None:
        self.memory.new_identity(step["identity"], key_file=self.folder / f"{step['identity']}.pem")

    def step_revoke(self, step: dict[str, Any]) -> None:
        self.memory.revoke_identity(step["revoke"])

    def signed(self, name: str, by: str) -> dict[str, Any]:
        unsigned = self.exported()[name]
        return self.memory.sign_entry(unsigned, key_file=self.folder / f"{by}.pem")

    def step_signed(self, step: dict[str, Any]) -> None:
        """An entry signed by somebody, perhaps altered since: what the store says of it."""
        entry = {**self.signed(step["signed"], step["by"]), **step.get("altered", {})}
        checked = self.memory.check_entry(entry)
        assert (checked.ok, str(checked.standing)) == (step["holds"], step["key"]), checked

    def step_elsewhere(self, step: dict[str, Any]) -> None:
        """A signed entry on another platform: it is taken in with its signature, which the author's public key proves."""
        entry = self.signed(step["elsewhere"], step["by"])
        with recollect.open(":memory:", policy="entry") as other:
            other.import_(io.StringIO(json.dumps(entry)), believe=["place", "weight"], format="entries", whole=True)
            (out,) = map(json.loads, other.export(format="entries", status=None))
        keys = {name: self.memory.identity(name).keys[0].key for name in step["proved_by"]}
        assert {name: check_offline(out, [key]).ok for name, key in keys.items()} == step["proved_by"]

    def step_phase(self, step: dict[str, Any]) -> None:
        self.memory.start_phase(**PLACE, name=step["phase"])

    def step_erase(self, step: dict[str, Any]) -> None:
        self.memory.erase(id=self.names[step["erase"]])

    def step_round_trip(self, _: dict[str, Any]) -> None:
        lines = list(self.memory.export(format="entries", status=None))
        with recollect.open(":memory:", policy="entry") as other:
            assert (
                other.import_(
                    io.StringIO("\n".join(lines)),
                    partial=True,
                    believe=["place", "weight"],
                    format="entries",
                    whole=True,
                ).refused
                == ()
            )
            assert list(other.export(format="entries", status=None)) == lines


@pytest.mark.parametrize("scenario", scenarios())
def test_scenario(scenario: dict[str, Any], location: str, tmp_path: Path) -> None:
    stage = EntryStage(location, scenario.get("policy", "entry"), tmp_path)
    for number, step in enumerate(scenario["steps"], start=1):
        try:
            stage.take(step)
        except AssertionError as error:
            raise AssertionError(f"step {number} {step}: {error}") from error
    assert stage.memory.verify().ok
    before = stage.memory.state_hash()
    stage.memory.rebuild()
    assert stage.memory.state_hash() == before
    assert stage.memory.verify().ok
    stage.memory.close()
