"""A refused secret is nowhere afterwards: not in a row, the index, the log, a trace, the lock file, or what is printed."""

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

import recollect
from recollect.langgraph import RecollectSaver
from recollect.model.errors import BadInput, RecollectError
from recollect.rules import privacy
from recollect.rules.privacy.catalogue import RULES
from rows import every_row
from support.made_up_keys import HEX, fake, true_positives
from support.postgres_server import PostgresServer

from .nursery import Nursery
from .remains import parts_in, parts_of, remains
from .soundness import kept

TOKEN = "ghp_" + fake(36)
HARMLESS: dict[str, Any] = {"content": "The deploy job runs at night", "owner": "ana"}


def secrets_by_rule() -> Iterator[tuple[str, str, list[str]]]:
    """Each rule that denies, with a text that it finds something in, and the parts of the text that are sensitive."""
    for rule in RULES:
        if privacy.TYPES[rule.type].default_action == "deny":
            for marked in true_positives(rule):
                secrets = [piece.split("»")[0] for piece in marked.split("«")[1:]]
                yield rule.name, marked.replace("«", "").replace("»", ""), secrets


@pytest.fixture
def in_any_store(tmp_path: Path) -> frozenset[bytes]:
    """What the files of a store hold that was offered nothing secret, but had something to refuse."""
    path = tmp_path / "control" / "memory.db"
    path.parent.mkdir()
    with recollect.open(path, policy={"traces": {"keep": "all"}}) as mem:
        mem.add(**HARMLESS)
        assert mem.add("heartbeat", owner="ana").denied
        return parts_of(path)


def test_no_rule_lets_its_secret_reach_the_disk(
    nursery: Nursery, tmp_path: Path, in_any_store: frozenset[bytes]
) -> None:
    """Every example of every denying rule, offered to one store."""
    path = tmp_path / "memory.db"
    examples = list(secrets_by_rule())
    offers = [{"content": text, "owner": "ana"} for _, text, _ in examples]
    ending = nursery.run("offer_secrets", path=str(path), offers=offers)
    admitted = [name for (name, _, _), outcome in zip(examples, ending.value, strict=True) if outcome != "denied"]
    assert len(examples) > 100 and not admitted
    secrets = [secret for _, _, found in examples for secret in found]
    assert remains(path, secrets, apart_from=in_any_store) == []
    assert not [secret for secret in secrets if len(secret) > 8 and secret in ending.noise]


IN_FIELDS: dict[str, Any] = {
    "content": f"The deploy token is {TOKEN}",
    "tags": ["deploy", TOKEN],
    "meta": {"nested": {"deep": [TOKEN]}},
    "title": f"Token {TOKEN}",
    "canonical_key": TOKEN,
    "category": TOKEN,
    "owner": TOKEN,
    "scope": TOKEN,
    "context": {TOKEN: "as a name"},
    "aliases": [TOKEN],
    "author": {"id": "ana", "name": TOKEN},
    "entities": [{"kind": "token", "value": TOKEN}],
    "relationships": [{"to": TOKEN}],
    "artifact_ref": {"uri": f"https://example.org/{TOKEN}"},
    "thread_id": TOKEN,
    "user_id": TOKEN,
    "run_id": TOKEN,
    "role": TOKEN,
    "topic_id": TOKEN,
    "signature": TOKEN,
    "authority_reason": f"because of {TOKEN}",
    "idempotency_key": TOKEN,
}


def test_no_field_lets_a_secret_reach_the_disk(
    nursery: Nursery, tmp_path: Path, in_any_store: frozenset[bytes]
) -> None:
    path = tmp_path / "memory.db"
    ending = nursery.run("offer_secrets", path=str(path), offers=[{**HARMLESS, f: IN_FIELDS[f]} for f in IN_FIELDS])
    answers = dict(zip(IN_FIELDS, ending.value, strict=True))
    assert {field: told for field, told in answers.items() if told != "denied" and told[:8] != "BadInput"} == {}
    assert remains(path, [TOKEN], apart_from=in_any_store) == []
    assert TOKEN not in ending.noise and TOKEN not in str(ending.value)


def test_an_edit_cannot_smuggle_a_secret_in(tmp_path: Path, in_any_store: frozenset[bytes]) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        harmless = kept(mem.add(**HARMLESS))
        for change in ({"tags": [TOKEN]}, {"category": TOKEN}):
            with pytest.raises(BadInput) as refusal:
                mem.edit(harmless.id, **change)
            assert TOKEN not in str(refusal.value)
        mem.query(f"who uses {TOKEN}?")
        assert remains(path, [TOKEN], apart_from=in_any_store) == []


def test_an_import_cannot_smuggle_a_secret_in(tmp_path: Path, in_any_store: frozenset[bytes]) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        record = {**json.loads(kept(mem.add(**HARMLESS)).to_json()), "content": f"The token is {TOKEN}"}
        with pytest.raises(BadInput) as refusal:
            mem.import_([json.dumps(record)])
        assert TOKEN not in str(refusal.value), "its hash is another's"
        del record["content_hash"]
        assert mem.import_([json.dumps(record)]).outcomes == {"refused": 1}
        assert remains(path, [TOKEN], apart_from=in_any_store) == []


def test_what_is_redacted_is_not_kept_either(tmp_path: Path, in_any_store: frozenset[bytes]) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, policy={"traces": {"keep": "all"}, "privacy": {"actions": {"email": "redact"}}}) as mem:
        address = "zelvakin.brunost@fjordkassen.example"
        receipt = mem.add(f"Write to {address}", tags=[address], meta={"who": [address]}, idempotency_key="a-retry")
        assert "[redacted:email]" in kept(receipt).content
        assert remains(path, ["zelvakin", "brunost", "fjordkassen"], apart_from=in_any_store) == []


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """The proof has teeth: an allowed secret is found, in its index terms too."""
    path = tmp_path / "memory.db"
    with recollect.open(path, policy={"privacy": {"actions": {"api_key": "allow"}}}) as mem:
        assert mem.add(f"The deploy token is {TOKEN}").outcome == "stored"
        assert remains(path, [TOKEN])


def _vouch(mem: recollect.Recollect) -> None:
    mem.vouch(kept(mem.add(**HARMLESS, agent_id="planner")).id, by=TOKEN)


def _link(mem: recollect.Recollect) -> None:
    one, other = kept(mem.add(**HARMLESS)), kept(mem.add("The backup job runs at noon", owner="ana"))
    mem.link(one.id, other.id, relation_type="sbp_" + fake(40, HEX))


AS_NAMES: dict[str, Callable[[recollect.Recollect], object]] = {
    "user": lambda mem: mem.as_caller(user=TOKEN).add("heartbeat"),
    "agent": lambda mem: mem.as_caller(agent=TOKEN).add("heartbeat"),
    "session": lambda mem: mem.as_caller(user="ana", session=TOKEN).add("heartbeat"),
    "ai_profile": lambda mem: mem.as_caller(user="ana", ai_profile=TOKEN).add("heartbeat"),
    "projects": lambda mem: mem.as_caller(user="ana", projects=[TOKEN]).add("heartbeat"),
    "agent of a query": lambda mem: mem.query("Which job?", agent=TOKEN),
    "thread of a query": lambda mem: mem.query("Which job?", owner="ana", thread=TOKEN),
    "thread of the changes": lambda mem: mem.change_header(thread=TOKEN),
    "session of a turn": lambda mem: mem.turn(session=TOKEN, user="The deploy job runs at night"),
    "owner of a turn": lambda mem: mem.turn(session="s1", user="The deploy job runs at night", owner=TOKEN),
    "project of a turn": lambda mem: mem.turn(session="s1", user="The deploy job runs at night", project=TOKEN),
    "tool of a turn": lambda mem: mem.turn(
        session="s1", user="The deploy job runs at night", tools=[{"name": TOKEN, "output": "done"}]
    ),
    "identity": lambda mem: mem.new_identity(TOKEN),
    "identity of a foreign key": lambda mem: mem.register_identity(TOKEN, fake(64, HEX)),
    "voucher": _vouch,
    "type of a link": _link,
    "reason of a promotion": lambda mem: mem.promote(
        kept(mem.add(**HARMLESS)).id, "project", reason=f"because {TOKEN}"
    ),
    "owner of a promotion": lambda mem: mem.promote(kept(mem.add(**HARMLESS)).id, "project", owner=TOKEN),
}


@every_row("name", AS_NAMES)
@every_row("file", ["memory.db", "vault.jsonl"])
def test_no_name_lets_a_secret_reach_the_disk(
    name: str, file: str, tmp_path: Path, in_any_store: frozenset[bytes]
) -> None:
    """Whoever is named after a secret is refused before anything is written, and the refusal does not repeat it."""
    path = tmp_path / file
    with recollect.open(path, policy={"traces": {"keep": "all"}}) as mem:
        mem.add(**HARMLESS)
        with pytest.raises(BadInput) as refusal:
            AS_NAMES[name](mem)
        assert TOKEN not in str(refusal.value)
        assert "sensitive" in str(refusal.value)
        assert mem.verify().ok
    assert remains(path, [TOKEN], apart_from=in_any_store | parts_in([b"the backup job runs at noon"])) == []


def test_no_name_and_no_field_lets_a_secret_reach_a_server(postgres: PostgresServer, server_store: str) -> None:
    """Neither its tables nor its write-ahead log; a secret that a policy allows is found in both."""

    def held() -> set[str]:
        postgres.execute("CHECKPOINT")
        files = [*postgres.table_files(server_store), *(postgres.data / "pg_wal").glob("0*")]
        parts = {TOKEN[start : start + 8].encode() for start in range(4, len(TOKEN) - 7)}
        contents = {file: file.read_bytes() for file in files}
        return {file.parent.name for file, content in contents.items() if any(part in content for part in parts)}

    with recollect.open(server_store, policy={"traces": {"keep": "all"}}) as mem:
        mem.add(**HARMLESS)
        for name, use in AS_NAMES.items():
            with pytest.raises(BadInput, match="sensitive") as refusal:
                use(mem)
            assert TOKEN not in str(refusal.value), name
        for field, value in IN_FIELDS.items():
            try:
                assert mem.add(**{**HARMLESS, field: value}).denied, field
            except BadInput as refused:
                assert TOKEN not in str(refused), field
        assert mem.verify().ok and held() == set()
    with recollect.open(server_store, policy={"privacy": {"actions": {"api_key": "allow"}}}) as mem:
        assert mem.add(f"The deploy token is {TOKEN}").outcome == "stored"
        assert "pg_wal" in held() and len(held()) == 2


WRITES_OTHER_FILES = {"backup", "export", "close", "key_file", "path", "output"}
GIVEN = {
    "session": "s1",
    "space": "user",
    "to": "project",
    "owner": "ana",
    "user": "I like jazz.",
    "ai": "Noted.",
    "name": "moss",
}
"""What a required argument of this name is, where it is neither an id nor the one that is tried."""


REFUSED = {
    "reject(reason)",
    "decline(reason)",
    "start_phase(name)",
    "start_phase(reason)",
    "link_identity(id)",
    "vouch(by)",
}
REFUSED |= {"create_key(name)", "turn(run_id)", "record(thread_id)", "add(idempotency_key)", "register_identity(name)"}


def test_no_argument_of_any_operation_lets_a_secret_reach_the_disk(
    tmp_path: Path, in_any_store: frozenset[bytes]
) -> None:
    """Every public operation, with the token as each of its arguments in turn; an error is an answer, too."""
    path, refused = tmp_path / "memory.db", set()
    with recollect.open(path, policy={"traces": {"keep": "all"}}) as mem:
        for name, operation in inspect.getmembers(recollect.Recollect, inspect.isfunction):
            required = named_arguments(operation)
            for tried in required if not name.startswith("_") else ():
                if {name, tried} & WRITES_OTHER_FILES:
                    continue
                ids = iter([kept(mem.add(f"Crate {n} of {name} and {tried}", owner="ana")).id for n in range(2)])
                given = {each: GIVEN.get(each) or next(ids, "word") for each in required if required[each]}
                try:
                    answer = getattr(mem, name)(**{**given, tried: TOKEN})
                    list(answer) if isinstance(answer, Iterator) else None
                except BadInput as error:
                    refused |= {f"{name}({tried})"} if "sensitive" in str(error) else set()
                except (RecollectError, TypeError, AttributeError):
                    continue
        assert mem.verify().ok and refused >= REFUSED
    assert remains(path, [TOKEN], apart_from=in_any_store) == []


def named_arguments(operation: Callable[..., Any]) -> dict[str, bool]:
    """Return the names of an operation's arguments, each with whether it is required."""
    parameters = [*inspect.signature(operation).parameters.values()][1:]
    return {p.name: p.default is p.empty for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}


ASKED: dict[str, Callable[[recollect.Recollect], object]] = {
    "owner": lambda mem: mem.query("Which job?", owner=TOKEN),
    "filter": lambda mem: mem.query("Which job?", owner="ana", filters={"user_id": TOKEN}),
    "list": lambda mem: mem.list(owner=TOKEN),
    "recall if unsure": lambda mem: mem.recall_if_unsure(f"Who uses {TOKEN}?", 0.1, owner="ana"),
    "traces": lambda mem: mem.traces(session=TOKEN),
    "erasure": lambda mem: mem.erase(owner=TOKEN),
}


@pytest.mark.parametrize("how", ASKED)
def test_asking_about_a_secret_does_not_keep_it(how: str, tmp_path: Path, in_any_store: frozenset[bytes]) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, policy={"traces": {"keep": "all"}}) as mem:
        mem.add(**HARMLESS)
        try:
            ASKED[how](mem)
        except RecollectError as refusal:
            assert TOKEN not in str(refusal)
    assert remains(path, [TOKEN], apart_from=in_any_store) == []


def test_no_tenant_is_named_after_a_secret(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="tenant"):
        recollect.open(tmp_path / "memory.db", tenant=TOKEN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["user_id", "thread_id", "checkpoint_ns", "run_id"])
def test_no_graph_has_a_secret_for_a_name(place: str, tmp_path: Path, in_any_store: frozenset[bytes]) -> None:
    path = tmp_path / "memory.db"
    config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": ""}}
    metadata: Any = {}
    named = metadata if place == "run_id" else config["configurable"]
    with RecollectSaver.from_conn_string(str(path)) as saver:
        named[place] = TOKEN
        with pytest.raises(BadInput, match="sensitive") as refusal:
            saver.put(config, empty_checkpoint(), metadata, {})
        assert TOKEN not in str(refusal.value) and place in str(refusal.value)
        named[place] = "as-good-as-any"
        assert saver.put(config, empty_checkpoint(), metadata, {})
    assert remains(path, [TOKEN], apart_from=in_any_store) == []


def test_a_name_that_looks_like_no_secret_is_as_good_as_ever(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", tenant="acme-2024") as mem:
        bound = mem.as_caller(
            user="ana@example.org", agent="planner-7b", session="8d3f0c1e-4b1a-4a39-a1f3-0c1e4b1a4a39"
        )
        assert bound.add("The deploy job runs at night").outcome == "stored"
