"""List the runs of the model, show one, and undo one.

A run is undone with new ledger entries: what it stored is archived, what it retired becomes active again. If later work
depends on it, nothing is done, and the error names that work.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from recollect.engine import operations
from recollect.engine.arguments import check_number, check_word, decode_cursor, encode_cursor
from recollect.engine.context import Engine, may_be_an_id
from recollect.engine.lifecycle.changes import check_key_free
from recollect.engine.lifecycle.outdated import UNDONE as LINK_UNDONE
from recollect.engine.lifecycle.outdated import put_link, remove_link
from recollect.engine.operations import failures_noted
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import StreamWriter, StreamWriters, tell_gone
from recollect.engine.upkeep.pairs import CONFLICT, CONTESTED, RUN
from recollect.engine.upkeep.running import UNDONE, set_outcome
from recollect.engine.write.relations import CARRIED
from recollect.model.caller import Right
from recollect.model.errors import AmbiguousId, NotFound, StoreCorrupt, WrongState
from recollect.model.ledger import Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Page
from recollect.model.run import (
    Evidence,
    Job,
    ModelProposal,
    ProposalStatus,
    Run,
    RunOutcome,
    StoredProposal,
    StoredRun,
    Undone,
)
from recollect.model.state import values_from
from recollect.model.vocabulary import Status
from recollect.rules.identity.outdating import NEAR
from recollect.stores.protocol import NO_LIMIT, Reader, Relation, Selection, Stored, Writer

T = TypeVar("T")

MAX_PAGE = 1_000
_HARMLESS = (Event.LINKED, Event.UNLINKED, Event.SEVERED)
_RETIRES = (Event.SUPERSEDED, Event.CONSOLIDATED, Event.HELD)
"""What a verdict or a new fact does to a memory, and what undoing its run takes back."""
_PUT_AWAY = (Status.ARCHIVED, Status.SOFT_DELETED)
_MIN_PREFIX = 4


def runs(engine: Engine, *, job: str | None = None, limit: int = 100, cursor: str | None = None) -> Page[Run]:
    """Return the runs of the model, newest first, without their proposals. ``cursor`` is that of the page before."""
    engine.require(Right.OPERATE, "see the runs of the model, which may be about anybody")
    check_number("limit", limit, 1, MAX_PAGE)
    wanted = None if job is None else check_word("job", Job, job)
    before = ("~", "") if cursor is None else tuple(map(str, decode_cursor(cursor)))
    with engine.read() as reader:
        found = reader.model_runs(engine.tenant, limit + 1, (before[0], before[1]), job=wanted)
        shown = [_render_run(engine, reader, one, proposals=False) for one in found[:limit]]
    more = len(found) > limit
    return Page(tuple(shown), encode_cursor(found[limit - 1].started_at, found[limit - 1].id) if more else None)


def run(engine: Engine, id: str) -> Run:
    """Return one run with everything that it proposed, what was refused and why, and what it took."""
    engine.require(Right.OPERATE, "see the runs of the model, which may be about anybody")
    with engine.read() as reader:
        return _render_run(engine, reader, find_run(engine, reader, id), proposals=True)


def find_run(engine: Engine, reader: Reader, id: str) -> StoredRun:
    """Return the run of an id, or of its first digits."""
    return _take_only(reader.model_runs_like(engine.tenant, id) if _may_begin_one(id) else [], "run", id)


def find_proposal(engine: Engine, reader: Reader, id: str) -> StoredProposal:
    """Return the proposal of an id, or of its first digits."""
    return _take_only(reader.proposals_like(engine.tenant, id) if _may_begin_one(id) else [], "proposal", id)


def _may_begin_one(id: object) -> bool:
    return may_be_an_id(id) and len(str(id)) >= _MIN_PREFIX


def _take_only(found: Sequence[T], what: str, id: str) -> T:
    if not found:
        raise NotFound(f"there is no {what} {str(id)[:40]!r}.", field="id", hint=f"`{what}s list` shows them.")
    if len(found) > 1:
        raise AmbiguousId(f"{str(id)[:40]!r} fits several.", field="id", hint="Give more of its digits.")
    return found[0]


def _render_run(engine: Engine, reader: Reader, row: StoredRun, *, proposals: bool) -> Run:
    calls = reader.model_calls(engine.tenant, row.id)
    made = reader.proposals_of_run(engine.tenant, row.id)
    return Run(
        id=row.id,
        job=row.job,
        place=reader.stream_numbered(engine.tenant, row.stream).name,
        started_at=row.started_at,
        ended_at=row.ended_at,
        outcome=row.outcome,
        reason=row.reason,
        model=calls[0].model if calls else "",
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        answer_tokens=sum(call.answer_tokens for call in calls),
        cost_millionths=sum(call.cost_millionths for call in calls),
        counts=dict(sorted(Counter(one.status for one in made).items())),
        proposals=tuple(render_proposal(engine, reader, one) for one in made) if proposals else (),
    )


def render_proposal(engine: Engine, reader: Reader, row: StoredProposal) -> ModelProposal:
    """Return a proposal for people; while it waits, with its words and its evidence span by span."""
    said: Mapping[str, Any] | None = values_from(row.body) if row.body is not None else {}
    if said is None:
        raise StoreCorrupt(f"the proposal {row.id} is damaged and cannot be read.", hint="Restore a backup.")
    found = reader.by_ids(engine.tenant, list(row.sources)) if said else {}
    texts = {id: str((one.body or {}).get("content", "")) for id, one in found.items()}
    evidence = [_find_evidence(texts, *quote) for quote in said.get("quotes", ())]
    if said and row.pair is not None:
        evidence = [_find_evidence(texts, id, texts.get(id, "")) for id in row.sources]
    return ModelProposal(
        id=row.id,
        run=row.run_id,
        at=row.at,
        job=row.job,
        action=row.action,
        status=row.status,
        reason=row.reason,
        sources=row.sources,
        memory_id=row.memory_id,
        content=said.get("content"),
        why=said.get("why"),
        evidence=tuple(evidence),
    )


def _find_evidence(texts: Mapping[str, str], source_id: str, span: str) -> Evidence:
    """Return one span with its position in its source now."""
    start = texts.get(source_id, "").find(span)
    return Evidence(source_id, span, *(("span:verbatim", start) if start >= 0 else ("span:normalised", None)))


@failures_noted(Node.WORKER, Op.UPDATE)
@again_on_conflict
def undo(engine: Engine, id: str) -> Undone:
    """Undo a run: archive what it stored, make active again what it retired, withdraw what waits.

    If somebody has changed these memories since, nothing is undone, and the error names them.
    """
    engine.require(Right.OPERATE, "undo a run of the model, which may be about anybody")
    with engine.write() as writer:
        row = find_run(engine, writer, id)
        made = writer.proposals_of_run(engine.tenant, row.id)
        for number in sorted({row.stream, *(one.stream for one in made)}):
            writer.locked_stream(engine.tenant, number)
        row = writer.locked_run(engine.tenant, row.id) or row
        if row.outcome == RunOutcome.UNDONE:
            raise WrongState("it was taken back already.", field="id", hint="`runs show` says what it had done.")
        made = writer.proposals_of_run(engine.tenant, row.id)  # as they are now that nobody else can add to them
        applied = [one for one in made if one.status == ProposalStatus.APPLIED and one.memory_id is not None]
        undoing = _Undoing(engine, writer, row.id)
        obstacles = [why for one in applied for why in undoing.find_obstacles(one)]
        if obstacles:
            hint = "Settle those first (archive, restore or erase them), then undo the run."
            raise WrongState(f"later work depends on it: {'; '.join(obstacles[:10])}.", field="id", hint=hint)
        for one in reversed(applied):
            undoing.undo(one)
        undoing.stream_writers.finish()
        waited = [one for one in made if one.status == ProposalStatus.WAITING]
        ended = [set_outcome(one, ProposalStatus.UNDONE, UNDONE) for one in (*applied, *waited)]
        writer.put_model_proposals(engine.tenant, ended)
        writer.put_model_run(engine.tenant, row._replace(outcome=RunOutcome.UNDONE))
        return Undone(row.id, tuple(undoing.removed), tuple(undoing.restored), tuple(one.id for one in waited))


class _Undoing:
    """Undoes the proposals of one run, inside one transaction."""

    def __init__(self, engine: Engine, writer: Writer, run_id: str) -> None:
        self.engine, self.writer, self.run_id = engine, writer, run_id
        self.stream_writers = StreamWriters(engine, writer)
        self.removed: list[str] = []
        self.restored: list[str] = []

    def find_obstacles(self, proposal: StoredProposal) -> Iterator[str]:
        """Yield what happened since then to the memories that a proposal changed."""
        if proposal.pair is not None:
            yield from self._find_verdict_obstacles(proposal)
            return
        stored = self._find_stored(proposal)
        if stored is None or stored.body is None:
            return
        later = self._find_later_entries(stored.state.id, lambda one: one.event in (Event.STORED, Event.CONTRADICTED))
        yield from (f"{stored.state.id} was {entry.event} since ({entry.rule})" for entry in later[:1])
        hashes = [stored.body["content_hash"]]
        built = self.writer.built_upon(self.engine.tenant, hashes, Selection(), NO_LIMIT)
        standing = [one for one in built if one.body is not None and one.state.status not in _PUT_AWAY]
        others = [one.state.id for one in standing if (one.body or {}).get("run_id") != self.run_id]
        yield from (f"{other} was built upon {stored.state.id}" for other in others[:3])
        replaced = self._find(stored.state.supersedes_id)
        if replaced is not None and replaced.state.status is not Status.SUPERSEDED:
            yield f"{replaced.state.id}, which it replaced, is {replaced.state.removed or replaced.state.status} now"

    def _find_verdict_obstacles(self, proposal: StoredProposal) -> Iterator[str]:
        for id in proposal.sources:
            stored = self._find(id)
            if stored is None or stored.body is None:
                yield f"{id} was {stored.state.removed if stored is not None else 'removed'} since"
                continue
            later = self._find_later_entries(id, self._is_of_run)
            yield from (f"{id} was {entry.event} since ({entry.rule})" for entry in later[:1])

    def _find_later_entries(self, id: str, is_ours: Callable[[Entry], bool]) -> list[Entry]:
        """Return the entries about a memory after the run's own ones, without links, and without what was undone again."""
        every = self.writer.entries_about(self.engine.tenant, id)
        last = next((entry for entry in reversed(every) if is_ours(entry)), None)
        after = [one for one in every if last is not None and one.stream == last.stream and one.tick > last.tick]
        standing: list[Entry] = []
        for one in after:
            if one.event in _HARMLESS or one.memory_id != id:
                continue
            if one.rule != UNDONE or one.event is Event.ARCHIVED:
                standing.append(one)
            elif one.event is Event.RESTORED:
                retired = [at for at, earlier in enumerate(standing) if earlier.event in _RETIRES]
                standing = [other for at, other in enumerate(standing) if at not in retired[-1:]]
        return standing

    def _is_of_run(self, entry: Entry) -> bool:
        said = self.writer.amendments_about(self.engine.tenant, entry.memory_id).get(entry.seq, {})
        return bool(said.get(RUN) == self.run_id)

    def _find(self, id: str | None) -> Stored | None:
        return self.writer.by_ids(self.engine.tenant, [id]).get(id) if id else None

    def _find_stored(self, proposal: StoredProposal) -> Stored | None:
        """Return the memory that a proposal stored, unless it has left the active set already."""
        stored = self._find(proposal.memory_id)
        if stored is None or stored.body is None or stored.state.status in _PUT_AWAY:
            return None
        return stored

    def undo(self, proposal: StoredProposal) -> None:
        stream_writer = self.stream_writers.numbered(proposal.stream)
        if proposal.pair is not None:
            for entry in self._find_entries(proposal):
                self._revert(stream_writer, entry)
            return
        stored = self._find_stored(proposal)
        if stored is None:
            return
        stream_writer = self.stream_writers.numbered(stored.stream)
        stream_writer.load(stored)
        replaced = self._find(stored.state.supersedes_id)
        tell_gone(stream_writer, stored, UNDONE)
        stream_writer.record(Event.ARCHIVED, stored.state.id, rule=UNDONE, to=Status.ARCHIVED)
        self._note(stream_writer, stored, Op.DELETE)
        self.removed.append(stored.state.id)
        stream_writer.flush()
        if replaced is not None:
            self._bring_back(stream_writer, replaced, self._find_values_before(replaced, stored.state.id))

    def _find_entries(self, proposal: StoredProposal) -> list[Entry]:
        """Return the run's entries about a pair, the last first."""
        about = [one for id in proposal.sources for one in self.writer.entries_about(self.engine.tenant, id)]
        found = {one.seq: one for one in about if self._is_of_run(one) and one.other_id in proposal.sources}
        return [found[seq] for seq in sorted(found, reverse=True)]

    def _revert(self, stream_writer: StreamWriter, entry: Entry) -> None:
        said = self.writer.amendments_about(self.engine.tenant, entry.memory_id).get(entry.seq, {})
        one, other = self._find(entry.memory_id), self._find(entry.other_id)
        assert one is not None and other is not None, "both were found when it was asked what is in the way"
        stream_writer.load(one, other)
        if entry.event is Event.CONSOLIDATED:
            self._bring_back(stream_writer, one, {})
            if not said.get("linked_before"):
                stream_writer.record(Event.UNLINKED, entry.memory_id, rule=UNDONE, other=entry.other_id)
        elif entry.event is Event.SUPERSEDED:
            self._give_key_back(stream_writer, other, said["before"])
            self._remove_carried_links(stream_writer, entry, other)
            self._bring_back(stream_writer, one, {"superseded_by_id": None})
        elif entry.event is Event.HELD:
            self._give_key_back(stream_writer, one, said["before"])
            stream_writer.record(Event.UNLINKED, one.state.id, rule=CONFLICT, other=other.state.id)
            self._bring_back(stream_writer, one, {})
        elif entry.rule == CONFLICT:
            stream_writer.record(Event.UNLINKED, one.state.id, rule=CONFLICT, other=other.state.id)
        elif entry.rule == CONTESTED and "before" in said:
            put_link(stream_writer, one, other, LINK_UNDONE, NEAR, said["before"])
        elif entry.rule == CONTESTED:
            remove_link(stream_writer, one, other, LINK_UNDONE)
        stream_writer.flush()

    def _give_key_back(self, stream_writer: StreamWriter, stored: Stored, before: Mapping[str, Any]) -> None:
        """Restore the key of the later memory of a pair, and its place in its own chain."""
        state, id = stored.state, stored.state.id
        if (state.canonical_key, state.key_digest) != (before["canonical_key"], before["key_digest"]):
            names = {name: before[name] for name in ("canonical_key", "key_digest")}
            stream_writer.record(Event.REKEYED, id, rule=UNDONE, amendment=names)
        values = {name: before[name] for name in ("supersedes_id", "version")}
        if any(getattr(state, name) != value for name, value in values.items()):
            stream_writer.record(Event.EDITED, id, rule=UNDONE, amendment={"set": values})
        stream_writer.flush()

    def _remove_carried_links(self, stream_writer: StreamWriter, entry: Entry, newer: Stored) -> None:
        """Remove the links that were carried over to the later memory in the same step."""
        for link in self.writer.entries_about(self.engine.tenant, newer.state.id):
            if link.rule != CARRIED or link.tick != entry.tick or link.event is not Event.LINKED:
                continue
            source, target = self._find(link.memory_id), self._find(link.other_id)
            said = self.writer.amendments_about(self.engine.tenant, link.memory_id).get(link.seq, {})
            if source is None or target is None or "relation_type" not in said:
                continue
            stream_writer.load(source)
            amendment = {"relation_type": said["relation_type"]}
            stream_writer.record(
                Event.UNLINKED, link.memory_id, rule=LINK_UNDONE, other=link.other_id, amendment=amendment
            )
            ends = (source.stream, source.number), (target.stream, target.number)
            relation = Relation(*ends, said["relation_type"], said["strength"], link.at)
            self.writer.remove_relation(self.engine.tenant, relation)

    def _bring_back(self, stream_writer: StreamWriter, stored: Stored, values: Mapping[str, Any]) -> None:
        """Make a memory active again that the run retired, with the values that it had."""
        stream_writer.load(stored)
        check_key_free(stream_writer, stored)
        stream_writer.record(Event.RESTORED, stored.state.id, rule=UNDONE, to=Status.ACTIVE)
        if values:
            stream_writer.record(Event.EDITED, stored.state.id, rule=UNDONE, amendment={"set": dict(values)})
        stream_writer.flush()
        self._note(stream_writer, stream_writer.stored(stored.state.id), Op.UPDATE)
        self.restored.append(stored.state.id)

    def _find_values_before(self, replaced: Stored, by: str) -> dict[str, Any]:
        """Return the values of a memory before it was superseded, for those that being superseded changed."""
        id, body = replaced.state.id, replaced.body or {}
        said = self.writer.amendments_about(self.engine.tenant, id)
        entries = [one for one in self.writer.entries_about(self.engine.tenant, id) if one.memory_id == id]
        values: dict[str, Any] = {"superseded_by_id": None}
        closing = next((one for one in entries if one.event is Event.SUPERSEDED and one.other_id == by), None)
        for name in said.get(closing.seq, {}).get("set", {}) if closing is not None else ():
            earlier = [one.seq for one in entries if closing is not None and one.seq < closing.seq]
            set_before = [said[seq]["set"][name] for seq in earlier if name in said.get(seq, {}).get("set", {})]
            values[name] = set_before[-1] if set_before else body.get(name)
        return values

    def _note(self, stream_writer: StreamWriter, stored: Stored, op: Op) -> None:
        operations.keep(
            self.engine, self.writer, [operations.about(self.engine, stored, op, stream_writer.at, Node.WORKER)]
        )
