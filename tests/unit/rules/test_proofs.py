"""The offline checker: what holds is believed, and anything else is refused, whatever was done to it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.engine.ledger import checkpoint_log
from recollect.engine.trust import identities
from recollect.model.proof import Checkpoint, GrowthProof, MemoryProof, Signature
from recollect.rules.ledger import proofs
from recollect.rules.ledger.merkle import BadProof
from rows import every_row
from support.script import open_seeded


class Handed(NamedTuple):
    """What a store handed out, and what a reader keeps or trusts."""

    kept: Checkpoint
    last: Checkpoint
    growth: GrowthProof
    memory: MemoryProof
    key: str
    stranger: str


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Handed:
    folder = tmp_path_factory.mktemp("keys")
    with open_seeded() as mem:
        engine = mem.engine
        for number in range(3):
            mem.add(f"Person {number} plays chess", owner=f"person{number}")
        made = identities.new_identity(engine, "auditor", folder / "auditor.pem")
        stranger = identities.new_identity(engine, "stranger", folder / "stranger.pem")
        key = identities.signing_key(engine, "auditor", Path(made.file))
        tea = mem.add("Ana drinks green tea every morning", owner="ana", canonical_key="Tea").memory
        assert tea is not None
        mem.edit(tea.id, tags=["hot"])
        kept = checkpoint_log.checkpoint(engine, key)
        mem.add("Ana drinks black tea every morning", owner="ana", canonical_key="Tea", change="update")
        mem.add("Ana owns a red bicycle", owner="ana")
        last = checkpoint_log.checkpoint(engine, key)
        growth = checkpoint_log.prove_growth(engine, kept.size)
        return Handed(kept, last, growth, checkpoint_log.prove_memory(engine, tea.id), made.key, stranger.key)


def refused(text: str, *keys: str, kept: Checkpoint | None = None) -> str:
    answer = proofs.check(text, keys, kept)
    assert not answer.ok and answer.problem and not answer.shows, f"it was believed: {answer}"
    return answer.problem


def changed_scalars(value: Any) -> Iterator[Any]:
    """Values that this one is not, of its own type and of others."""
    if isinstance(value, bool) or value is None:
        yield from ("", 0, "0" * 64)
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -value - 1, 2**63, float(value), str(value), None, True)
    elif isinstance(value, str):
        swapped = "1" if value[-1:] == "0" else "0"
        yield from (
            value[:-1] + swapped,
            swapped + value[1:],
            value[:-1],
            value + "0",
            value.upper() + "Z",
            "",
            None,
            7,
        )
        yield from (value + "\n", " " + value, [value], {"text": value})


def mutations(document: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str, Any]]:
    """Every change of one thing: ``(where, how, the whole document then)``, with lists shortened and repeated too."""

    def with_(value: Any, root: Any) -> Any:
        made = copy.deepcopy(root)
        inner = made
        for step in place[:-1]:
            inner = inner[step]
        if not place:
            return value
        inner[place[-1]] = value
        return made

    here = document
    for step in place:
        here = here[step]
    if isinstance(here, dict):
        for name in here:
            yield place, f"without {name}", with_({k: v for k, v in here.items() if k != name}, document)
            yield from mutations(document, (*place, name))
        yield place, "with more", with_({**here, "more": 1}, document)
    elif isinstance(here, list):
        for number in range(len(here)):
            yield (*place, number), "dropped", with_(here[:number] + here[number + 1 :], document)
            yield (*place, number), "repeated", with_([*here[: number + 1], *here[number:]], document)
            yield from mutations(document, (*place, number))
        yield place, "empty object", with_({}, document)
    else:
        for value in changed_scalars(here):
            yield place, f"= {value!r}"[:60], with_(value, document)


def shows_less(place: tuple[Any, ...], how: str) -> bool:
    """A document need not show every value, nor every segment, nor every entry about the memory."""
    whole = len(place) == 2 and place[0] in ("values", "segments")
    return how == "dropped" and (whole or (len(place) == 4 and place[2] == "entries"))


@pytest.mark.parametrize("name", ["kept", "growth", "memory"])
def test_nothing_in_a_signed_document_can_be_changed(handed: Handed, name: str) -> None:
    document = getattr(handed, name)
    assert proofs.check(document.text, [handed.key]).ok
    original, tried = json.loads(document.text), 0
    for place, how, changed in mutations(original):
        if shows_less(place, how) or changed == original:
            continue
        answer = proofs.check(json.dumps(changed), [handed.key])
        assert not answer.ok and answer.problem, f"{place} {how} was believed"
        tried += 1
    assert tried > 60


def test_a_document_says_what_it_shows(handed: Handed) -> None:
    answer = proofs.check(handed.memory.text, [handed.key], handed.last)
    assert answer.ok and answer.kind == "memory"
    told = "\n".join(answer.shows)
    assert f"signed by {handed.key[:12]}" in told and "is the one that was kept" in told
    assert "stored at" in told and "superseded at" in told and "2 of the values" in told
    assert handed.memory.memory in told and 'its words: "Ana drinks green tea every morning"' in told
    assert "by 1 leaf:" in "\n".join(proofs.check(handed.growth.text, [handed.key], handed.kept).shows)
    assert json.loads(handed.memory.values[0].body)["content"] == "Ana drinks green tea every morning"


def test_there_must_be_something_to_hold_it_against(handed: Handed) -> None:
    for document in (handed.kept, handed.growth, handed.memory):
        assert "nothing to hold it against" in refused(document.text)


def test_only_the_key_that_was_given_is_believed(handed: Handed) -> None:
    for document in (handed.kept, handed.growth, handed.memory):
        assert "not signed by the key" in refused(document.text, handed.stranger)


def test_a_signature_under_another_key_does_not_pass(handed: Handed) -> None:
    """The stranger puts their own name to somebody else's signature."""
    moved = tuple(Signature(key=handed.stranger, signature=one.signature) for one in handed.last.signatures)
    forged = handed.last.model_copy(update={"signatures": moved})
    assert "does not hold" in refused(forged.text, handed.stranger)
    both = handed.last.model_copy(update={"signatures": (*handed.last.signatures, *moved)})
    assert "does not hold" in refused(both.text, handed.key), "one bad signature spoils it"


def test_a_checkpoint_of_another_size_needs_a_proof_of_growth(handed: Handed) -> None:
    assert "ask for a proof of growth" in refused(handed.memory.text, kept=handed.kept)
    assert "ask for a proof of growth" in refused(handed.last.text, kept=handed.kept)
    elsewhere = handed.kept.model_copy(update={"log": "0" * 32, "signatures": ()})
    assert "another log" in refused(handed.growth.text, kept=elsewhere)
    rewritten = handed.kept.model_copy(update={"root": "0" * 64, "signatures": ()})
    assert "rewritten" in refused(handed.growth.text, kept=rewritten)


def test_an_unsigned_checkpoint_is_believed_by_whoever_kept_it(handed: Handed) -> None:
    unsigned = handed.last.model_copy(update={"signatures": ()})
    assert proofs.check(unsigned.text, kept=handed.last).ok
    assert "not signed" in refused(unsigned.text, handed.key, kept=handed.last)


@every_row(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("null", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{}", "no document that this release knows"),
        ('{"format": "recollect-proof/2", "kind": "memory"}', "no document"),
        ('{"format": "recollect-proof/1", "kind": ["memory"]}', "no document"),
        ('{"format": {"a": 1}}', "no document"),
        ('{"format": "recollect-proof/1", "kind": "memory"}', "Field required"),
        ('{"format": "x", "format": "recollect-proof/1"}', "given twice"),
        ("[" * 100_000, "nested too deeply"),
        (f'{{"size": {"9" * 5_000}}}', "too many digits"),
        ('{"format": "recollect-checkpoint/1", "size": NaN}', "log: Field required"),
    ],
)
def test_what_is_no_document_is_refused_with_a_reason(text: str, reason: str) -> None:
    assert reason in refused(text, "0" * 64)


def test_a_field_given_twice_is_refused_wherever_it_stands(handed: Handed) -> None:
    twice = handed.memory.text.replace('"salt":', '"salt":"00","salt":', 1)
    assert "'salt' is given twice" in refused(twice, handed.key)


def test_the_reason_says_where(handed: Handed) -> None:
    document = json.loads(handed.memory.text)
    document["segments"][0]["entries"][0]["entry"]["rule"] = "forged"
    assert refused(json.dumps(document), handed.key).startswith("segments.0.entries.0: its fields do not give")
    document = json.loads(handed.memory.text)
    document["values"][0]["body"] += " "
    assert refused(json.dumps(document), handed.key).startswith("values.0: it is not what entry 1 committed to")
    document = json.loads(handed.memory.text)
    document["segments"][1]["path"][0] = "0" * 64
    assert refused(json.dumps(document), handed.key).startswith("segments.1.path: the path leads to another head")
    document["segments"][1]["path"] = "nonsense"
    assert refused(json.dumps(document), handed.key).startswith("segments.1.path: Input should be")


def test_an_entry_stands_at_its_own_place_and_no_other(handed: Handed) -> None:
    """The path leads from its place in the leaf; neither the path nor the order of another entry will do."""
    document = json.loads(handed.memory.text)
    first, second = document["segments"][0]["entries"]
    first["path"], second["path"] = second["path"], first["path"]
    assert refused(json.dumps(document), handed.key).startswith("segments.0.entries.0: the path leads to another head")
    document = json.loads(handed.memory.text)
    document["segments"][0]["entries"].reverse()
    assert refused(json.dumps(document), handed.key).startswith("segments.0.entries.1: it is not in its order")
    document = json.loads(handed.memory.text)
    document["segments"][0]["entries"] += document["segments"][1]["entries"]
    assert "not one of those that the leaf covers" in refused(json.dumps(document), handed.key)


def test_a_proof_is_small_however_much_was_written_since() -> None:
    """The entries about the memory, and a path for each: not what others wrote to the same stream."""
    with open_seeded() as mem:
        first = mem.add("Ana drinks green tea every morning", owner="ana").memory
        assert first is not None
        mem.add_many([{"content": f"drawer{n} holds paper{n}", "owner": "ana"} for n in range(300)])
        taken = checkpoint_log.checkpoint(mem.engine)
        proof = checkpoint_log.prove_memory(mem.engine, first.id, with_content=False)
    (segment,) = proof.segments
    assert segment.leaf.to_seq > 300 and len(proof.text) < 4_000
    assert proofs.check(proof.text, kept=taken).ok


def test_another_memorys_entries_prove_nothing(handed: Handed) -> None:
    document = json.loads(handed.memory.text)
    document["memory"] = "00000000-0000-5000-8000-000000000000"
    assert "not about the memory" in refused(json.dumps(document), handed.key)


def test_a_leaf_is_read_in_canonical_form_only(handed: Handed) -> None:
    text = handed.memory.segments[0].leaf.text
    assert proofs.read_leaf(text) == handed.memory.segments[0].leaf
    for other in (text + " ", text.replace(":", ": "), text.replace('"leaf":"stream"', '"leaf":"other"'), "{}", ""):
        with pytest.raises(BadProof):
            proofs.read_leaf(other)


def test_a_proof_is_no_checkpoint(handed: Handed) -> None:
    assert proofs.read_checkpoint(handed.kept.text) == handed.kept
    with pytest.raises(BadProof, match="not a checkpoint"):
        proofs.read_checkpoint(handed.growth.text)
