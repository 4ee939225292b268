"""Proving that nothing was lost or rewritten: verify, rebuild, and the canonical state that two stores must share."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from recollect.embed import Embedder
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine
from recollect.engine.log_audit import audit_log
from recollect.engine.reindexing import made_anew
from recollect.engine.relations import relations_of_stream
from recollect.engine.uncollected import uncollected
from recollect.engine.whole_state import ledger_root_of, state_hash_of, state_lines
from recollect.model.caller import Right
from recollect.model.ledger import GENESIS, Entry, Event, commit_to
from recollect.model.proof import Checkpoint, StreamLeaf
from recollect.model.receipt import Problem, Verification
from recollect.model.state import State
from recollect.model.vocabulary import Status
from recollect.rules import fold
from recollect.rules.findable import findable_terms
from recollect.rules.proofs import uncovering
from recollect.stores.protocol import Reader, Stream, Version

Progress = Callable[[int, int], None]
_BRINGS_VERSION = (Event.STORED, Event.CONTRADICTED)
_REMOVES = (Event.ERASED, Event.PURGED)


def verify(engine: Engine, progress: Progress | None = None, kept: Checkpoint | None = None) -> Verification:
    """Walk every chain, version, amendment, name and projection of the tenant; the first broken place of each stream.

    A rewrite that also recomputes every later hash of a stream, its head and the checkpoint log cannot be seen from
    inside the file; a checkpoint that was ``kept`` elsewhere reveals it. ``uncovered_entries`` counts what no checkpoint
    covers yet.
    """
    engine.require(Right.OPERATE, "verify the store")
    problems: list[Problem] = []
    entries = versions = uncovered = 0
    with uncollected(), engine.read() as reader:
        streams = reader.streams_of(engine.tenant)
        actors = reader.actor_names(engine.tenant)
        problems += _around_streams(engine, reader, streams, actors)
        log = audit_log(reader, engine.tenant, {stream.uid for stream in streams}, actors, kept)
        problems += log.problems
        for done, stream in enumerate(streams):
            leaves = log.leaves.get(stream.uid, [])
            found = _walked(engine, reader, stream, frozenset(actors), leaves)
            problems += [found.problem] if found.problem else []
            entries, versions = entries + found.entries, versions + found.versions
            uncovered += max(0, found.entries - (leaves[-1].to_seq if leaves else 0))
            if progress is not None:
                progress(done + 1, len(streams))
    return Verification(not problems, len(streams), entries, versions, tuple(problems), uncovered)


class _Walked(NamedTuple):
    problem: Problem | None
    entries: int = 0
    versions: int = 0


def _walked(
    engine: Engine, reader: Reader, stream: Stream, actors: frozenset[str], leaves: Sequence[StreamLeaf]
) -> _Walked:
    """One stream's first problem; a row that cannot even be read is one."""
    try:
        check = _StreamCheck(engine, reader, stream, actors, leaves)
        return _Walked(check.first_problem(), len(check.entries), len(check.versions))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"something in it cannot be read, so it was altered: {error}"
        return _Walked(_Broken(_stream_name(stream), what).problem)


def _around_streams(
    engine: Engine, reader: Reader, streams: Sequence[Stream], actors: Mapping[str, tuple[str | None, bytes | None]]
) -> list[Problem]:
    """What no single stream can tell: streams that are missing, names put under another's acts, forged aliases."""
    found = [
        _Broken(f"stream number {number}", "it has entries or versions, but its own row is gone").problem
        for number in reader.orphans(engine.tenant)
    ]
    found += [
        _Broken(f"actor {uid[:12]}", "its name is not the one that acted: it was altered").problem
        for uid, (name, salt) in actors.items()
        if name is not None and salt is not None and commit_to(salt, name) != uid
    ]
    stated = {
        (alias, version.id)
        for stream in streams
        for version in reader.versions(stream)
        for alias in _stated_aliases(version)
    }
    for alias, id in sorted(stated ^ set(reader.aliases(engine.tenant))):
        found.append(_Broken(f"alias {alias!r}", f"it does not belong to memory {id} as its version says").problem)
    return found


def _stated_aliases(version: Version) -> Sequence[str]:
    """The aliases that a version brings; a body that cannot be read is its stream's problem, and is told there."""
    try:
        return list(json.loads(version.body).get("aliases", ())) if version.body is not None else ()
    except (ValueError, AttributeError, TypeError):
        return ()


class _Broken(Exception):
    def __init__(self, where: str, what: str) -> None:
        self.problem = Problem(where, what, "Restore the store from a backup, and find out who wrote to the file.")


class _StreamCheck:
    """One stream's walk: the chain, then what it commits to, then what is derived from it."""

    def __init__(
        self, engine: Engine, reader: Reader, stream: Stream, actors: frozenset[str], leaves: Sequence[StreamLeaf]
    ) -> None:
        self.engine, self.reader, self.stream, self.actors, self.leaves = engine, reader, stream, actors, leaves
        self.entries = reader.entries(stream)
        self.versions: dict[str, Version] = {v.id: v for v in reader.versions(stream)}
        self.amendments = reader.amendments(stream)
        self.name = _stream_name(stream)

    def first_problem(self) -> Problem | None:
        try:
            self._chain()
            self._covered()
            self._commitments()
            self._projections()
        except _Broken as broken:
            return broken.problem
        return None

    def _chain(self) -> None:
        previous = GENESIS
        for expected, entry in enumerate(self.entries, start=1):
            where = self._at(entry)
            if entry.seq != expected:
                raise _Broken(where, f"entry {expected} is missing: the chain jumps to {entry.seq}")
            if entry.prev_hash != previous:
                raise _Broken(where, "it does not follow the entry before it: prev_hash is another")
            if entry.hash != entry.computed_hash():
                raise _Broken(where, "its fields were changed: they no longer give its hash")
            if entry.actor not in self.actors:
                raise _Broken(where, "whoever acted is missing from the actors")
            previous = entry.hash
        if (len(self.entries), previous) != (self.stream.last_seq, self.stream.head):
            raise _Broken(
                f"{self.name}, head",
                f"the chain ends at entry {len(self.entries)}, the stream says {self.stream.last_seq} or another hash",
            )
        self._counters()

    def _covered(self) -> None:
        fault = uncovering(self.leaves, [entry.hash for entry in self.entries])
        if fault is not None:
            raise _Broken(f"{self.name}, checkpoint", fault)

    def _counters(self) -> None:
        last = self.entries[-1] if self.entries else None
        numbers = [version.number for version in self.versions.values()]
        expected = (last.tick if last else 0, last.at if last else "", max(numbers, default=0))
        if (self.stream.tick, self.stream.last_at, self.stream.last_memory) != expected:
            raise _Broken(f"{self.name}, counters", "its tick, time or last number is not that of its last entry")
        started = sum(entry.event is Event.PHASE_STARTED for entry in self.entries)
        if self.stream.phase != 1 + started:
            raise _Broken(f"{self.name}, counters", "its phase is not the one that its entries began")

    def _commitments(self) -> None:
        removed = {entry.memory_id for entry in self.entries if entry.event in _REMOVES}
        brought = set()
        for entry in self.entries:
            if entry.event in _BRINGS_VERSION:
                brought.add(entry.memory_id)
                self._version(entry, removed)
            elif entry.commitment is not None:
                self._amendment(entry, removed)
        for id, version in self.versions.items():
            if id not in brought:
                raise _Broken(f"{self.name}, memory {id}", f"version {version.number} was never entered in the ledger")
        unentered = set(self.amendments) - {entry.seq for entry in self.entries if entry.commitment is not None}
        if unentered:
            raise _Broken(f"{self.name}, entry {min(unentered)}", "values were added that no entry brought")

    def _version(self, entry: Entry, removed: set[str]) -> None:
        version = self.versions.get(entry.memory_id)
        if version is None:
            raise _Broken(self._at(entry), f"the version of memory {entry.memory_id} is missing")
        self._committed(entry, version.body, version.salt, entry.memory_id in removed)
        if version.body is not None:
            body = json.loads(version.body)
            if self.engine.memory_id(self.stream.uid, body["kind"], version.number) != version.id:
                raise _Broken(self._at(entry), f"memory {version.id} does not have the id of its place")
            address = (body["tenant"], body["namespace"], body["space"], body["owner"])
            if self.stream.address is not None and tuple(self.stream.address) != address:
                raise _Broken(self._at(entry), f"memory {version.id} was written to another address than its stream's")

    def _amendment(self, entry: Entry, removed: set[str]) -> None:
        body, salt = self.amendments.get(entry.seq, (None, None))
        if entry.seq not in self.amendments:
            raise _Broken(self._at(entry), "the values that it brought are missing")
        self._committed(entry, body, salt, entry.memory_id in removed or self._nameless_phase(entry))

    def _nameless_phase(self, entry: Entry) -> bool:
        """What a phase was called goes with the name of the owner."""
        return entry.event is Event.PHASE_STARTED and self.stream.address is None

    def _committed(self, entry: Entry, body: str | None, salt: bytes | None, was_removed: bool) -> None:
        if body is None or salt is None:
            if not was_removed:
                raise _Broken(self._at(entry), f"the content of memory {entry.memory_id} is gone without an erasure")
        elif was_removed:
            raise _Broken(self._at(entry), f"the content of memory {entry.memory_id} is back after its removal")
        elif commit_to(salt, body) != entry.commitment:
            raise _Broken(
                self._at(entry), f"the content of memory {entry.memory_id} is not what was committed: it was altered"
            )

    def _projections(self) -> None:
        expected = replay(self.entries, self.versions, self.amendments)
        current = {stored.state.id: stored.state for stored in self.reader.states(self.stream)}
        for id in sorted(expected.keys() | current.keys()):
            if current.get(id) != expected.get(id):
                raise _Broken(
                    f"{self.name}, memory {id}",
                    f"its current state is not what the ledger says{_differs(id, expected, current)}",
                )
        for id, column in self.reader.strays(self.stream):
            raise _Broken(f"{self.name}, memory {id}", f"its {column} is not what its version says")
        self._parents()
        active = {self.versions[id].number for id, state in expected.items() if state.status is Status.ACTIVE}
        self._text_index(active)
        self._vectors()
        self._relations()

    def _parents(self) -> None:
        bodies = {v.number: json.loads(v.body) for v in self.versions.values() if v.body is not None}
        stated = {
            number: tuple(sorted(set(body["parent_refs"])))
            for number, body in bodies.items()
            if body.get("parent_refs")
        }
        noted = self.reader.parents_noted(self.stream)
        for number in sorted(stated.keys() | noted.keys()):
            if stated.get(number) != noted.get(number):
                raise _Broken(
                    f"{self.name}, memory number {number}", "what it builds upon is not what its version says"
                )

    def _text_index(self, active: set[int]) -> None:
        noted = self.reader.noted_terms(self.stream)
        if noted.keys() != active:
            odd = min(noted.keys() ^ active)
            raise _Broken(f"{self.name}, memory number {odd}", "the text index does not match what is active")
        postings = self.reader.indexed_text(self.stream)
        rightly = all(_is_noted(posting, noted) for posting in postings)
        counted = self.reader.counted_terms(self.stream)
        totals = len(noted), sum(length for length, _ in noted.values())
        complete = len(postings) == sum(len(terms) for _, terms in noted.values())
        if not (rightly and complete) or counted != Counter(posting[0] for posting in postings):
            raise _Broken(f"{self.name}, text index", "its postings are not those of the active memories")
        if totals != (self.stream.documents, self.stream.words):
            raise _Broken(f"{self.name}, text index", "its statistics are not those of the active memories")

    def _relations(self) -> None:
        versions = self.versions.values()
        stated = relations_of_stream(self.reader, self.stream, versions, self.entries, self.amendments)
        if stated != self.reader.relations_of(self.stream):
            raise _Broken(f"{self.name}, relations", "they are not those that its versions and its ledger say")

    def _vectors(self) -> None:
        """What has content has a vector, if the stream has any; what has none has no vector."""
        missing = self.reader.without_vector(self.stream, self.stream.generation, 0, 1) if self.stream.embedder else []
        if missing:
            raise _Broken(f"{self.name}, memory number {missing[0][0]}", "it has content but no vector")
        stray = self.reader.stray_vectors(self.stream)
        if stray:
            raise _Broken(f"{self.name}, memory number {stray[0]}", "it has a vector but no content")

    def _at(self, entry: Entry) -> str:
        return f"{self.name}, entry {entry.seq} ({entry.event})"


def _is_noted(posting: tuple[str, int, int, int], noted: Mapping[int, tuple[int, Mapping[str, int]]]) -> bool:
    """Whether a posting is one that its memory noted. The index has each at most once: it is their key."""
    term, number, tf, length = posting
    of_memory = noted.get(number)
    return of_memory is not None and of_memory[0] == length and of_memory[1].get(term) == tf


def _stream_name(stream: Stream) -> str:
    where = stream.address
    return f"{where.namespace}/{where.space}/{where.owner}" if where else f"stream {stream.uid[:12]}"


def _differs(id: str, expected: fold.States, current: fold.States) -> str:
    one, other = expected.get(id), current.get(id)
    if one is None or other is None:
        return ": it is missing" if other is None else ": it should not be there"
    names = [name for name, value in one.to_dict().items() if getattr(other, name) != value]
    return f": {', '.join(names)}"


def replay(
    entries: list[Entry], versions: dict[str, Version], amendments: dict[int, tuple[str | None, Any]]
) -> fold.States:
    """The state that a stream's entries give, from the very first."""
    states: dict[str, State] = {}
    for entry in entries:
        version = versions.get(entry.memory_id) if entry.event in _BRINGS_VERSION else None
        body = json.loads(version.body) if version is not None and version.body is not None else None
        text = amendments.get(entry.seq, (None, None))[0]
        fold.apply(states, entry, body, json.loads(text) if text is not None else None)
    return states


def rebuild(engine: Engine, progress: Progress | None = None) -> int:
    """Drop every projection of the tenant and make it anew from versions and ledger; returns how many memories."""
    engine.require(Right.OPERATE, "rebuild the store")
    with engine.read() as reader:
        numbers = [stream.number for stream in reader.streams_of(engine.tenant)]
    embedder = engine.meanings.if_any(engine)
    total = 0
    for done, number in enumerate(numbers):
        total += _rebuild_stream(engine, number, embedder)
        if progress is not None:
            progress(done + 1, len(numbers))
    return total


@again_on_conflict
def _rebuild_stream(engine: Engine, number: int, embedder: Embedder | None) -> int:
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        versions = {v.id: v for v in writer.versions(stream)}
        states = replay(writer.entries(stream), versions, writer.amendments(stream))
        writer.drop_projections(stream)
        engine.meanings.forget(engine.tenant, number)
        for id, state in states.items():
            version = versions[id]
            body = json.loads(version.body) if version.body is not None else None
            active = state.status is Status.ACTIVE and body is not None
            words = findable_terms(body, engine.policy.text.synonyms) if active and body else None
            writer.put_memory(stream, version.number, state, body, words)
        writer.advance_stream(stream)
        made_anew(writer, stream, embedder)
        entries, amendments = writer.entries(stream), writer.amendments(stream)
        found = relations_of_stream(writer, stream, versions.values(), entries, amendments)
        writer.put_relations(engine.tenant, found)
    return len(states)


def canonical_state(engine: Engine) -> Iterator[str]:
    """The tenant's whole state, a canonical line each."""
    with engine.read() as reader:
        yield from state_lines(reader, engine.tenant)


def state_hash(engine: Engine) -> str:
    """One hash over the canonical state: equal for two stores that hold the same."""
    engine.require(Right.OPERATE, "hash the whole store")
    with engine.read() as reader:
        return state_hash_of(reader, engine.tenant)


def ledger_root(engine: Engine) -> str:
    """One hash over the heads of every chain: equal for two stores with the same history."""
    engine.require(Right.OPERATE, "hash the whole store")
    with engine.read() as reader:
        return ledger_root_of(reader, engine.tenant)
