"""Proving that nothing was lost or rewritten: verify, rebuild, and the canonical state that two stores must share."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from recollect.embed import Embedder
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine
from recollect.engine.incumbents import Places
from recollect.engine.log_audit import audit_log
from recollect.engine.reindexing import made_anew
from recollect.engine.relations import relations_of_stream
from recollect.engine.stream_audit import HINT, Walked, walked
from recollect.engine.whole_state import ledger_root_of, state_hash_of, state_lines
from recollect.model.bodies import body_from, values_from
from recollect.model.caller import Right
from recollect.model.ledger import ABOUT_THE_STREAM, BRINGS_VERSION, Entry
from recollect.model.proof import Checkpoint
from recollect.model.receipt import Problem, Verification
from recollect.model.state import State
from recollect.model.vocabulary import Status
from recollect.rules import fold
from recollect.rules.findable import findable
from recollect.rules.rejected_values import Sealed, standing
from recollect.rules.signers import is_committed
from recollect.stores.collector import collector_paused
from recollect.stores.protocol import Reader, Stream, Version

Progress = Callable[[int, int], None]


FILE_HINT = "Restore it from a backup; if only an index is damaged, `REINDEX` makes it anew."


def verify(engine: Engine, progress: Progress | None = None, kept: Checkpoint | None = None) -> Verification:
    """Walk every chain, version, amendment, name and projection of the tenant; the first broken place of each stream.

    A rewrite that also recomputes every later hash of a stream, its head and the checkpoint log cannot be seen from
    inside the file; a checkpoint that was ``kept`` elsewhere reveals it. ``uncovered_entries`` counts what no checkpoint
    covers yet. ``progress`` is told how many entries were walked, and how many there are.
    """
    engine.require(Right.OPERATE, "verify the store")
    with collector_paused(), engine.read() as reader:
        streams = reader.streams_of(engine.tenant)
        actors = reader.actor_names(engine.tenant)
        log = audit_log(reader, engine.tenant, {stream.uid for stream in streams}, actors, kept)
        tell = _telling(progress, streams)
        walks = [walked(engine, reader, one, actors, log, tell) for one in streams]
        found = [*_around_streams(engine, reader, actors, walks), *log.problems]
    found += [Problem("database file", what, FILE_HINT) for what in engine.store.check()]
    problems = (*found, *(problem for walk in walks for problem in _problems_of(walk)))
    covered = {uid: leaves[-1][1].to_seq for uid, leaves in log.leaves.items()}
    return Verification(
        ok=not problems,
        streams=len(streams),
        entries=sum(walk.entries for walk in walks),
        versions=sum(walk.versions for walk in walks),
        problems=problems,
        uncovered_entries=sum(max(0, w.entries - covered.get(s.uid, 0)) for s, w in zip(streams, walks, strict=True)),
        signed_entries=_summed(walk.signed.entries for walk in walks),
        signed_vouches=_summed(walk.signed.vouches for walk in walks),
    )


def _problems_of(walk: Walked) -> list[Problem]:
    return [*([walk.problem] if walk.problem is not None else ()), *walk.signed.problems]


def _summed(counts: Iterable[Counter[str]]) -> dict[str, int]:
    return dict(sorted(sum(counts, Counter[str]()).items()))


def _telling(progress: Progress | None, streams: Sequence[Stream]) -> Callable[[int], None]:
    """Adds up what was walked, for whoever watches."""
    total, done = sum(stream.last_seq for stream in streams), 0

    def tell(walked_since: int) -> None:
        nonlocal done
        done += walked_since
        if progress is not None:
            progress(done, max(done, total))

    return tell


def _around_streams(
    engine: Engine, reader: Reader, actors: Mapping[str, tuple[str | None, bytes | None]], walks: Sequence[Walked]
) -> list[Problem]:
    """What no single stream can tell: streams that are missing, names put under another's acts, forged aliases."""
    found = [
        Problem(f"stream number {number}", "it has entries or versions, but its own row is gone", HINT)
        for number in reader.orphans(engine.tenant)
    ]
    found += [
        Problem(f"actor {uid[:12]}", "its name is not the one that acted: it was altered", HINT)
        for uid, (name, salt) in actors.items()
        if name is not None and salt is not None and not is_committed(uid, name, salt)
    ]
    acted = {uid for walk in walks for uid in walk.acted}
    erased = {uid for walk in walks for uid in walk.erased_names}
    if all(walk.problem is None for walk in walks):  # else an entry that would tell may not have been reached
        found += [
            Problem(f"actor {uid[:12]}", "its name is gone without an erasure, or back after one", HINT)
            for uid in sorted(acted)
            if (actors[uid][0] is None) != (uid in erased)
        ]
    stated = {pair for walk in walks for pair in walk.aliases}
    return found + [
        Problem(f"alias {alias!r}", f"it does not belong to memory {id} as its version says", HINT)
        for alias, id in sorted(stated ^ set(reader.aliases(engine.tenant)))
    ]


def replay(
    entries: list[Entry], versions: dict[str, Version], amendments: dict[int, tuple[str | None, Any]]
) -> fold.States:
    """The state that a stream's entries give, from the very first. What is damaged gives as much as what was removed."""
    states: dict[str, State] = {}
    for entry in entries:
        version = versions.get(entry.memory_id) if entry.event in BRINGS_VERSION else None
        body = body_from(version.body)[0] if version is not None else None
        text = amendments.get(entry.seq, (None, None))[0]
        fold.apply(states, entry, body, values_from(text) if text is not None else None)
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
        places = Places()
        for id, state in states.items():
            version = versions[id]
            body, _ = body_from(version.body)
            active = state.status is Status.ACTIVE and body is not None
            words = findable(body, state, engine.policy.text.synonyms) if active and body else None
            writer.put_memory(stream, version.number, state, body, words, beside=places.is_taken(state, body))
        writer.advance_stream(stream)
        made_anew(writer, stream, embedder)
        entries, amendments = writer.entries(stream), writer.amendments(stream)
        writer.add_rejections(stream, _rejections(entries, amendments))
        found = relations_of_stream(writer, stream, versions.values(), entries, amendments)
        writer.put_relations(engine.tenant, found)
    return len(states)


def _rejections(entries: Iterable[Entry], amendments: Mapping[int, tuple[str | None, Any]]) -> set[Sealed]:
    """Return the rejections that a stream's entries leave in force."""
    told = [(entry, amendments.get(entry.seq, (None, None))[0]) for entry in entries if entry.event in ABOUT_THE_STREAM]
    return standing((entry, None if text is None else values_from(text)) for entry, text in told)


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
