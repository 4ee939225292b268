"""Open the store under test, and write small rows to it: addresses, bodies, states and ledger entries."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreConflict
from recollect.model.ledger import RULES_VERSION, Address, Entry, Event, commit_to
from recollect.model.state import State
from recollect.model.vocabulary import Namespace, Space, Status
from recollect.rules.language.findable import Findable
from recollect.rules.language.text import sha256_hex
from recollect.stores.protocol import NO_LIMIT, Reader, Store, Stream, Writer

TENANT = "acme"
SALT = bytes(range(16))
ACTOR = "a" * 32
MAX_CONFLICTS = 20


def at(second: int) -> str:
    """Return a moment in canonical form; a larger number is later."""
    return f"2026-01-01T00:{second // 60:02d}:{second % 60:02d}.000000Z"


def address(
    owner: str = "ana", *, tenant: str = TENANT, namespace: Namespace = Namespace.PROD, space: Space = Space.USER
) -> Address:
    return Address(tenant, namespace, space, owner)


def memory_id(name: str) -> str:
    """Return an id in the form that ids have, the same for the same name."""
    return str(uuid5(NAMESPACE_OID, name))


def body(content: str = "Ana likes tea", **fields: Any) -> dict[str, Any]:
    """Return the body of a version: what every body has, and what stores look into."""
    plain: dict[str, Any] = {
        "content": content,
        "content_hash": sha256_hex(content),
        "fingerprint": sha256_hex(content),
        "canonical_key": "Key",
        "authority": "user_asserted",
        "author": {"id": "application", "name": "application"},
        "namespace": "prod",
        "space": "user",
        "owner": "ana",
        "sublayer": "fact",
        "decisions": [],
        "tick": 1,
        "scope": "shared",
        "kind": "semantic",
        "event_type": "fact",
        "layer": "world",
        "tier": None,
        "topic_id": None,
        "source": "user",
        "user_id": None,
        "agent_id": None,
        "run_id": None,
        "thread_id": None,
        "actor_id": None,
        "role": None,
        "created_at": at(0),
        "aliases": [],
    }
    return {**plain, **fields}


def state(id: str, **fields: Any) -> State:
    """Return a state with everything else at its default; the key is the memory's own unless one is given."""
    plain = {"canonical_key": f"Key-{id[:13]}", "last_reinforced": at(0), "last_modified": at(0)}
    return State(**{"id": id, "status": Status.ACTIVE, **plain, **fields})


def entry(stream: Stream, seq: int, memory: str, event: Event = Event.STORED, **fields: Any) -> Entry:
    """Return a ledger entry that hashes correctly, following whatever ``prev_hash`` it is given."""
    plain: dict[str, Any] = {
        "stream": stream.uid,
        "seq": seq,
        "tick": seq,
        "event": event,
        "memory_id": memory,
        "other_id": None,
        "from_status": None,
        "to_status": "active",
        "rule": "identity:new",
        "rules_version": RULES_VERSION,
        "commitment": None,
        "actor": ACTOR,
        "at": at(seq),
        "prev_hash": stream.head,
    }
    filled = {**plain, **fields}
    return Entry(**filled, hash=Entry(**filled).computed_hash())


def notes_of_terms(reader: Reader, stream: Stream) -> dict[int, str]:
    """Return the index note of each memory of a stream whose text is indexed, by the memory's number."""
    rows = reader.states_after(stream, 0, NO_LIMIT)
    return {row.number: row.terms for row in rows if row.terms is not None}


class Scribe:
    """Writes whole memories to one stream of a store, in a transaction each or in one that is given."""

    def __init__(self, store: Store, where: Address | None = None, uid: str | None = None) -> None:
        self.store = store
        self.address = where or address()
        self.uid = uid or memory_id("/".join(self.address)).replace("-", "")

    def stream(self, writer: Writer) -> Stream:
        """Return the scribe's stream, made on first use."""
        return writer.stream_at(self.address) or writer.add_stream(self.address, self.uid)

    @contextmanager
    def reading(self) -> Iterator[tuple[Reader, Stream]]:
        """Read the store, and the scribe's stream as the reader finds it."""
        with self.store.read(self.address.tenant) as reader:
            yield reader, self.seen_by(reader)

    @contextmanager
    def writing(self) -> Iterator[tuple[Writer, Stream]]:
        """Write to the store, and to the scribe's stream, in one transaction."""
        with self.store.write(self.address.tenant) as writer:
            yield writer, self.stream(writer)

    def keep(
        self,
        name: str,
        *,
        content: str = "Ana likes tea",
        body_fields: Mapping[str, Any] | None = None,
        terms: Sequence[str] | None = None,
        **fields: Any,
    ) -> str:
        """Write one memory in a transaction of its own; return its id."""
        for _ in range(MAX_CONFLICTS):
            try:
                with self.store.write(self.address.tenant, [self.address]) as writer:
                    return self.keep_in(writer, name, content=content, body_fields=body_fields, terms=terms, **fields)
            except StoreConflict:
                continue
        raise AssertionError("lost against other writers every time")

    def keep_in(
        self,
        writer: Writer,
        name: str,
        *,
        content: str = "Ana likes tea",
        body_fields: Mapping[str, Any] | None = None,
        terms: Sequence[str] | None = None,
        key_terms: Sequence[str] = (),
        **fields: Any,
    ) -> str:
        """Write a version, its ledger entry, its state and, where terms are given, their index, as one operation would."""
        stream, id = self.stream(writer), memory_id(name)
        stream.tick, stream.last_seq, stream.last_memory = stream.tick + 1, stream.last_seq + 1, stream.last_memory + 1
        made = body(content, **(body_fields or {}))
        text = canonical_json(made)
        writer.add_version(stream, stream.last_memory, id, text, SALT)
        first = entry(stream, stream.last_seq, id, commitment=commit_to(SALT, text))
        writer.add_entry(stream, first)
        stream.head = first.hash
        found = None if terms is None else Findable(terms, key_terms)
        writer.put_memory(stream, stream.last_memory, state(id, **fields), made, found)
        writer.advance_stream(stream)
        return id

    def seen_by(self, reader: Reader) -> Stream:
        """Return the scribe's stream as a reader finds it."""
        found = reader.stream_at(self.address)
        assert found is not None, "the scribe has written nothing yet"
        return found

    def now(self) -> Stream:
        """Return the stream as it stands in the store."""
        with self.store.read(self.address.tenant) as reader:
            return self.seen_by(reader)


class StoreUnderTest:
    """The two things that a store's own tests supply, and the fixtures that every capability uses."""

    def open_store(self, folder: Path) -> Store:
        """Return a new, empty store; ``folder`` is an empty one that the store may use."""
        raise NotImplementedError("say how a store is opened")

    beyond_reach: tuple[str, ...] = ()
    """What a scrub cannot reach, and says so."""
    opens_twice = True
    """Whether a store can be opened again while it is open. If not, the cases that open it twice are no part of its
    contract: a ``conftest.py`` leaves them out with :func:`leave_out`."""

    def open_again(self, location: str) -> Store:
        """Return the store at a location once more, as another process would open it."""
        raise NotImplementedError("say how a store is opened again, or set opens_twice to False")

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        opened = self.open_store(tmp_path)
        yield opened
        opened.close()

    @pytest.fixture
    def second(self, store: Store) -> Iterator[Store]:
        """Another handle on the same store."""
        opened = self.open_again(store.location)
        yield opened
        opened.close()

    @pytest.fixture
    def scribe(self, store: Store) -> Scribe:
        return Scribe(store)


def leave_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests to leave out: they open a store twice that cannot be opened twice."""
    return [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and item.cls is not None
        and issubclass(item.cls, StoreUnderTest)
        and not item.cls.opens_twice
        and "second" in item.fixturenames
    ]
