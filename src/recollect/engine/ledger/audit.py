"""Prove that nothing was lost or rewritten: verify, rebuild, the canonical state of a tenant, and the doctor."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import accumulate
from typing import Any

from recollect.embed import Embedder
from recollect.engine.arguments import check_number
from recollect.engine.context import Engine
from recollect.engine.ledger.checkpoint_log import HINT, Actors, audit_log
from recollect.engine.ledger.stream_audit import Walked, walk_stream
from recollect.engine.lifecycle.outdated import find_outdated
from recollect.engine.read.meaning import FORMER_DEFAULTS
from recollect.engine.read.reading import describe_damage, readable_streams
from recollect.engine.read.reindexing import Progress, ProgressCounter, remake_vectors
from recollect.engine.retries import again_on_conflict
from recollect.engine.write.incumbents import Places
from recollect.engine.write.relations import relations_of_stream
from recollect.model.caller import Caller, Right
from recollect.model.canonical import canonical_json, parse_time
from recollect.model.ledger import ABOUT_THE_STREAM, BRINGS_VERSION, Address, Entry, commit_to, phase_id
from recollect.model.proof import Checkpoint
from recollect.model.receipt import Growth, Problem, StreamInfo, Verification
from recollect.model.state import State, amendment_from, body_from
from recollect.model.vocabulary import Namespace, Status
from recollect.rules.collector import collector_paused
from recollect.rules.identity.rejected_values import rejections_in_force
from recollect.rules.language.findable import findable
from recollect.rules.ledger import fold
from recollect.rules.plain_view import counted
from recollect.stores.backups import LAST_BACKUP
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stream, Version


def state_lines(reader: Reader, tenant: str) -> Iterator[str]:
    """Yield a canonical line each: streams, entries, versions' bodies, states, rejections, postings. No salts, no counters."""
    for stream in reader.streams_of(tenant):
        address = list(stream.address) if stream.address else None
        yield canonical_json(["stream", stream.uid, address, stream.tick, stream.last_seq, stream.head])
        for entry in reader.entries(stream):
            yield canonical_json(["entry", entry.seq, entry.hash])
        for version in reader.versions(stream):
            yield canonical_json(["version", version.id, version.body])
        for stored in reader.states(stream):
            yield canonical_json(["state", stored.state.to_dict()])
        for rejection in reader.rejections(stream):
            yield canonical_json(["rejection", *rejection])
        for posting in reader.indexed_text(stream):
            yield canonical_json(["posting", *posting])


def state_hash_of(reader: Reader, tenant: str) -> str:
    """Return one hash over all those lines, in constant memory."""
    digest = hashlib.sha256()
    for number, line in enumerate(state_lines(reader, tenant)):
        digest.update(("\n" + line if number else line).encode("utf-8"))
    return digest.hexdigest()


def ledger_root_of(reader: Reader, tenant: str) -> str:
    """Return one hash over the heads of all chains: equal only where every stream has the same history."""
    heads = [[stream.uid, stream.last_seq, stream.head] for stream in reader.streams_of(tenant)]
    return hashlib.sha256(canonical_json(heads).encode("utf-8")).hexdigest()


FILE_HINT = "Restore it from a backup; if only an index is damaged, `REINDEX` makes it anew."
LIST_HINT = "Put the list back from a copy, or put a # at its place in the list and erase again what it may have named."


def verify(engine: Engine, progress: Progress | None = None, kept: Checkpoint | None = None) -> Verification:
    """Check every chain, version, amendment, name and projection of the tenant; report the first fault of each stream.

    A rewrite that also recomputes every later hash of a stream, its head and the checkpoint log cannot be seen from
    inside the file; a checkpoint that was ``kept`` elsewhere reveals it. ``uncovered_entries`` counts the entries that no
    checkpoint covers yet. ``progress`` is called with how many entries were checked, and how many there are.
    """
    engine.require(Right.OPERATE, "verify the store")
    with collector_paused(), engine.read() as reader:
        streams = reader.streams_of(engine.tenant)
        actors = reader.actor_names(engine.tenant)
        log = audit_log(reader, engine.tenant, {stream.uid for stream in streams}, actors, kept)
        counter = ProgressCounter(progress, sum(stream.last_seq for stream in streams))
        walks = [walk_stream(engine, reader, one, actors, log, counter.add) for one in streams]
        found = [*_check_across_streams(engine, reader, actors, walks), *log.problems]
    found += [Problem("database file", what, FILE_HINT) for what in engine.store.check()]
    found += [Problem("list of erasures", what, LIST_HINT) for what in engine.store.check_erasure_lists()]
    for walk in walks:
        found += [*filter(None, [walk.problem]), *walk.signed.problems]
    covered = {uid: leaves[-1][1].to_seq for uid, leaves in log.leaves.items()}
    return Verification(
        ok=not found,
        streams=len(streams),
        entries=sum(walk.entries for walk in walks),
        versions=sum(walk.versions for walk in walks),
        problems=tuple(found),
        uncovered_entries=sum(max(0, w.entries - covered.get(s.uid, 0)) for s, w in zip(streams, walks, strict=True)),
        signed_entries=_sum_counts(walk.signed.entries for walk in walks),
        signed_vouches=_sum_counts(walk.signed.vouches for walk in walks),
    )


def _sum_counts(counts: Iterable[Counter[str]]) -> dict[str, int]:
    return dict(sorted(sum(counts, Counter[str]()).items()))


def _check_across_streams(engine: Engine, reader: Reader, actors: Actors, walks: Sequence[Walked]) -> list[Problem]:
    """Return the faults that no single stream shows: missing streams, altered names of actors, forged aliases."""
    found = [
        Problem(f"stream number {number}", "rows belong to it, but its own row is gone", HINT)
        for number in reader.orphans(engine.tenant)
    ]
    found += [
        Problem(f"actor {uid[:12]}", "its name is not the one that acted: it was altered", HINT)
        for uid, (name, salt) in actors.items()
        if name is not None and salt is not None and commit_to(salt, name) != uid
    ]
    acted = {uid for walk in walks for uid in walk.acted}
    erased = {uid for walk in walks for uid in walk.erased_names}
    if all(walk.problem is None for walk in walks):  # else the entry of an erasure may not have been reached
        found += [
            Problem(f"actor {uid[:12]}", "its name is gone without an erasure, or back after one", HINT)
            for uid in sorted(acted)
            if (actors[uid][0] is None) != (uid in erased)
        ]
    stated = {pair for walk in walks for pair in walk.aliases}
    return found + [
        Problem(f"alias {alias!r}", f"it does not belong to memory {id} as its version says", HINT)
        for alias, id in sorted(stated ^ set(reader.aliases(engine.tenant)), key=repr)
    ]


def replay(
    entries: list[Entry], versions: dict[str, Version], amendments: dict[int, tuple[str | None, Any]]
) -> fold.States:
    """Fold a stream's entries into its states, from the first entry on. Damaged content counts as removed."""
    states: dict[str, State] = {}
    for entry in entries:
        version = versions.get(entry.memory_id) if entry.event in BRINGS_VERSION else None
        body = body_from(version.body)[0] if version is not None else None
        text = amendments.get(entry.seq, (None, None))[0]
        fold.apply(states, entry, body, amendment_from(text) if text is not None else None)
    return states


def rebuild(engine: Engine, progress: Progress | None = None) -> int:
    """Drop every projection of the tenant and rebuild it from versions and ledger; return how many memories there are."""
    engine.require(Right.OPERATE, "rebuild the store")
    with engine.read() as reader:
        numbers = [stream.number for stream in reader.streams_of(engine.tenant)]
    embedder = engine.meanings.if_any(engine)
    counter, total = ProgressCounter(progress, len(numbers)), 0
    for number in numbers:
        total += _rebuild_stream(engine, number, embedder)
        counter.add()
    return total


@again_on_conflict
def _rebuild_stream(engine: Engine, number: int, embedder: Embedder | None) -> int:
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, number)
        versions = {v.id: v for v in writer.versions(stream)}
        entries, amendments = writer.entries(stream), writer.amendments(stream)
        states = replay(entries, versions, amendments)
        writer.drop_projections(stream)
        engine.meanings.forget(engine.tenant, number)
        places = Places()
        for id, state in states.items():
            version = versions[id]
            body, _ = body_from(version.body)
            active = state.status is Status.ACTIVE and body is not None
            words = findable(body, state, engine.policy.text.synonyms) if active and body else None
            writer.put_memory(stream, version.number, state, body, words, shadowed=places.is_taken(state, body))
        writer.advance_stream(stream)
        remake_vectors(writer, stream, embedder)
        texts = [(one, amendments.get(one.seq, (None, None))[0]) for one in entries if one.event in ABOUT_THE_STREAM]
        rejections = rejections_in_force(
            (entry, None if text is None else amendment_from(text)) for entry, text in texts
        )
        writer.add_rejections(stream, rejections)
        found = relations_of_stream(writer, stream, versions.values(), entries, amendments)
        writer.put_relations(engine.tenant, found)
    return len(states)


def state_hash(engine: Engine) -> str:
    """Return one hash over the canonical state: equal for two stores that hold the same."""
    engine.require(Right.OPERATE, "hash the whole store")
    with engine.read() as reader:
        return state_hash_of(reader, engine.tenant)


def ledger_root(engine: Engine) -> str:
    """Return one hash over the heads of every chain: equal for two stores with the same history."""
    engine.require(Right.OPERATE, "hash the whole store")
    with engine.read() as reader:
        return ledger_root_of(reader, engine.tenant)


FOREIGN = "Recollect did not make it: it may keep copies of what an erasure removes"
FOREIGN_HINT = "Find out what it is for and what it holds, then drop it."
MAX_DAYS = 3_660


def stats(engine: Engine) -> dict[str, Any]:
    """Count the memories that the caller may see by status, namespace, kind, layer and category.

    The store's own figures, such as its size, are for the application alone.
    """
    if not engine.caller.may(Right.OPERATE):
        engine.require(Right.READ, "count memories")
    with engine.read() as reader:
        streams = readable_streams(engine, reader, None, None, tuple(Namespace))
        everything = engine.selecting(streams=tuple(stream.number for stream in streams))
        active = replace(everything, equal={"status": "active"}, unexpired_at=engine.now())
        by_status = {status: n for (status,), n in reader.count_by(engine.tenant, ["status"], everything).items()}
        spread = reader.count_by(engine.tenant, COUNTED, active)
        counts = {
            "memories": sum(by_status.values()),
            "active": sum(spread.values()),
            "by_status": by_status,
            "by_namespace": _by_namespace(streams, _totals(spread, 0)),
            "by_kind": _sort_counts(_totals(spread, 1)),
            "by_layer": _sort_counts(_totals(spread, 2)),
            "by_category": _sort_counts(_totals(spread, 3)),
        }
        if not engine.caller.trusted:
            return counts
        of_store = {
            "store": engine.store.location,
            "size_bytes": engine.store.size_bytes(),
            "streams": len(streams),
            "entries": sum(stream.last_seq for stream in streams),
            "removed": reader.count_removed(engine.tenant),
        }
    return of_store | {"last_backup": engine.store.value(LAST_BACKUP)} | counts


COUNTED = ("stream", "kind", "layer", "category")


def _totals(spread: Mapping[tuple[Any, ...], int], place: int) -> dict[Any, int]:
    """Return the count of each value of one of the counted columns."""
    totals: Counter[Any] = Counter()
    for values, count in spread.items():
        totals[values[place]] += count
    return totals


def _sort_counts(totals: Mapping[Any, int]) -> dict[str, int]:
    return {str(value): totals[value] for value in sorted(totals, key=lambda value: (value is not None, value))}


def _by_namespace(streams: Sequence[Stream], by_stream: Mapping[int, int]) -> dict[str, int]:
    counts = {str(namespace): 0 for namespace in Namespace}
    for stream in streams:
        if stream.address is not None:
            counts[str(stream.address.namespace)] += by_stream.get(stream.number, 0)
    return counts


def streams(engine: Engine) -> tuple[StreamInfo, ...]:
    """Return the streams that the caller may read, in the order in which they were made.

    A bound caller or an agent, from whom something in a stream may be hidden, gets no tick, and the entries and times of
    visible memories only.
    """
    with engine.read() as reader:
        found = readable_streams(engine, reader, None, None, tuple(Namespace))
        if not engine.caller.trusted or engine.caller.agent is not None:
            return tuple(one for stream in found for one in _stream_as_seen(engine, reader, stream))
        times = reader.stream_times(engine.tenant) if found else {}
    return tuple(
        StreamInfo(*_place(one.address), one.tick, one.last_seq, phase_id(one.phase), *times[one.number])
        for one in found
        if one.address is not None and one.number in times
    )


def _place(address: Address) -> tuple[str, str, str]:
    return str(address.namespace), str(address.space), address.owner


def _stream_as_seen(engine: Engine, reader: Reader, stream: Stream) -> Iterator[StreamInfo]:
    by_day = reader.count_by_day(engine.tenant, engine.selecting(streams=(stream.number,)))
    if stream.address is not None and by_day:
        first, last = (f"{day}T00:00:00.000000Z" for day in (min(by_day), max(by_day)))
        yield StreamInfo(*_place(stream.address), 0, sum(by_day.values()), phase_id(stream.phase), first, last)


def growth(engine: Engine, days: int = 30) -> tuple[Growth, ...]:
    """Count the memories that the caller may see by the day on which they were written, for the last days, oldest first.

    Removed memories are not counted. ``total`` is how many there were at the end of each day.
    """
    check_number("days", days, 1, MAX_DAYS)
    with engine.read() as reader:
        found = readable_streams(engine, reader, None, None, tuple(Namespace))
        numbers = tuple(stream.number for stream in found)
        by_day = reader.count_by_day(engine.tenant, engine.selecting(streams=numbers)) if numbers else {}
    today = parse_time(engine.now()).date()
    shown = [f"{today - timedelta(days=ago)}" for ago in range(days - 1, -1, -1)]
    total = sum(count for day, count in by_day.items() if day < shown[0])
    totals = accumulate((by_day.get(day, 0) for day in shown), initial=total)
    next(totals)
    return tuple(Growth(day, by_day.get(day, 0), so_far) for day, so_far in zip(shown, totals, strict=True))


def doctor(engine: Engine) -> tuple[Problem, ...]:
    """Return everything that is wrong or risky, each with the next step; empty when all is well."""
    engine.require(Right.OPERATE, "examine the store")
    problems = [Problem(what, FOREIGN, FOREIGN_HINT) for what in engine.store.foreign_objects()]
    problems += verify(engine).problems
    with engine.read() as reader:
        for look in (_find_damaged, _count_contradictory, _count_outdated, _find_former_vectors):
            problems += look(engine, reader)
    return (*problems, *_find_risks(engine))


def find_damage(engine: Engine) -> Problem | None:
    """Return the first thing that is damaged in the tenant's part of the store; ``None`` if everything is sound."""
    plain = replace(engine, caller=Caller(tenant=engine.tenant), claim=None, diagnose=None)
    return next(iter(verify(plain).problems), None)


def _find_damaged(engine: Engine, reader: Reader) -> list[Problem]:
    """Return every memory that cannot be read: ``verify`` stops at the first of a stream."""
    found = reader.select(engine.tenant, Selection(), NO_LIMIT, damaged=True)
    return [describe_damage(reader, stored) for stored in found if stored.damage is not None]


def _count_contradictory(engine: Engine, reader: Reader) -> list[Problem]:
    waiting = reader.count(engine.tenant, Selection(equal={"status": "contradictory"}))
    if not waiting:
        return []
    what = f"{waiting} contradictory {'memory waits' if waiting == 1 else 'memories wait'} for a decision"
    return [Problem("memories", what, "`recollect outdated --conflicts` lists them, with the commands that decide.")]


def _count_outdated(engine: Engine, reader: Reader) -> list[Problem]:
    streams = readable_streams(engine, reader, None, None, tuple(Namespace))
    count = len(find_outdated(engine, reader, streams))
    if not count:
        return []
    what = f"{counted(count, 'pair')} of memories may be outdated: the later one may have replaced the earlier one"
    return [Problem("memories", what, "`recollect outdated` lists them, with the commands that decide.")]


def _find_former_vectors(engine: Engine, reader: Reader) -> list[Problem]:
    found = sorted(FORMER_DEFAULTS.intersection(reader.embedders(engine.tenant)))
    what = "made by an earlier version's embedder, {}: queries find by words alone, and writes are refused"
    return [Problem("vectors", what.format(label), "`recollect reindex`.") for label in found]


def _find_risks(engine: Engine) -> list[Problem]:
    policy = engine.policy
    found = []
    if policy.conflict.policy == "latest_wins":
        what = "latest_wins lets anyone's last word replace a higher authority's, the operator's included"
        found.append(Problem("policy conflict.policy", what, "Use authority unless that is what you want."))
    if policy.keys.fallback == "shared":
        what = "a shared fallback key makes unrelated facts replace one another"
        found.append(Problem("policy keys.fallback", what, "Use fingerprint unless every write names its key."))
    allowed = [t for t, action in policy.privacy.actions.items() if action == "allow"]
    if allowed:
        found.append(Problem("policy privacy.actions", f"these are stored as they are: {', '.join(sorted(allowed))}"))
    return found
