"""Show a thread what changed since it last looked, each change once, and only what it may see.

A thread has a cursor in each stream's ledger. A look reads a snapshot, chooses what to show, and then moves the cursors
in a small transaction by compare and set, so that of two readers of one thread only one gets a change. If nothing
changed, nothing is written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from recollect.embed.static import count_tokens
from recollect.engine.arguments import check_kept, check_number, owner_named
from recollect.engine.context import Engine
from recollect.engine.read.reading import Spaces, current, readable_streams
from recollect.engine.retries import again_on_conflict
from recollect.model.caller import Right
from recollect.model.errors import BadInput, StoreBusy, StoreConflict
from recollect.model.item import source_word
from recollect.model.ledger import Entry, phase_number
from recollect.model.rendering import NOTHING, one_line
from recollect.model.vocabulary import Authority, Kind, Source, Space, Status
from recollect.rules.ledger.content_ids import ids_in
from recollect.rules.prompt.change_header import (
    MAX_CHARACTERS,
    MAX_LINES,
    TAKEN_BACK,
    UNTOLD_KINDS,
    Change,
    ChangeHeader,
    ChangeLine,
    Choice,
    MemoryChanges,
    Sign,
    advance_cursor,
    by_memory,
    choose,
    choose_oldest,
    describe_merged,
    describe_removed,
    label_of,
    net_sign,
    sign_of,
    without_copies,
)
from recollect.rules.trust.borders import Sight
from recollect.stores.protocol import Cursor, Later, Reader, Revision, Stored, Stream, Thread

Fits = Callable[[ChangeHeader], bool]
"""Returns whether a header fits; a header without lines must."""
WINDOW = 100
"""How many entries of a stream a look reads. The cursor moves past so many if none is for the thread."""
EVERYTHING = Sight(None, None)
EVERY_AGENT = "\n"
"""The agent of an application's threads, which see every agent's memories. No agent can have this name."""
PATIENCE_S = 0.2
"""How long a look waits for the write lock before it shows nothing; the changes come with the next look."""
LOOKS = 8
"""How often a look is repeated because another reader of the thread was faster."""


def change_header(
    engine: Engine,
    *,
    thread: str | None = None,
    owner: str | None = None,
    user_id: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = ("prod",),
    since: int | None = None,
    budget_tokens: int | None = None,
    fits: Fits | None = None,
) -> ChangeHeader:
    """Return what changed in the memories that the caller may see: at most three lines, the most important first.

    The header is cut to ``budget_tokens``, or to what ``fits`` accepts; the other changes come with the next look. With
    ``thread`` it holds what changed since that thread last looked, and moves its cursor; the first look shows nothing.
    Without one it holds the oldest changes after ledger entry ``since`` of the one stream at ``owner`` and ``space``,
    and no cursor moves: the ``rev`` of the answer is the next ``since``.
    """
    if (thread is None) == (since is None):
        hint = "thread='chat-1', or owner=… and since=0."
        raise BadInput("give either a thread or since.", field="thread", hint=hint)
    owner = owner_named(owner, user_id)
    where = owner, space, include_namespaces
    if since is not None:
        return _read_since(engine, check_number("since", since), *where)

    def within_budget(header: ChangeHeader) -> bool:
        return budget_tokens is None or count_tokens(header.text) <= budget_tokens

    name = check_kept(engine.policy.privacy, "thread", thread)
    asking_thread = thread_of(engine, name, owner)
    return read_changes(
        engine, asking_thread, lambda reader: _find_streams(engine, reader, *where), fits or within_budget
    )


def thread_of(engine: Engine, name: str, owner: str | None) -> Thread:
    """Return the thread of a caller. A bound caller's threads are its own; an application's belong to the owner it asks
    for.

    An application's threads differ from that person's own, since each may see memories that the other does not.
    Likewise a request that narrows its caller must not use up the changes of that caller, or of the agent it names. The
    markers used here start with a blank, which no agent's name does.
    """
    caller = engine.caller
    user = (owner if caller.trusted else None) or caller.user
    narrowed = f"\t{caller.narrowed_to}" if caller.narrowed_to is not None else ""
    return Thread(user or "", caller.agent or (EVERY_AGENT if engine.sight == EVERYTHING else narrowed), name)


@again_on_conflict
def read_changes(
    engine: Engine,
    thread: Thread,
    streams: Callable[[Reader], Sequence[Stream]],
    fits: Fits = lambda header: True,
    taken: "Look | None" = None,
) -> ChangeHeader:
    """Return the changes that a thread has not seen and move its cursor; return none if the write lock stays taken.

    The first attempt uses ``taken``, a look from another read.
    """
    for _ in range(LOOKS):
        look, taken = taken or _new_look(engine, thread, streams, fits), None
        try:
            if not look.moves or _move(engine, thread, look):
                return look.header
        except StoreConflict:
            raise
        except StoreBusy:  # a read must not wait for a writer
            break
    return ChangeHeader(look.header.since, look.header.since)  # another reader shows them; the rest comes next time


def _new_look(engine: Engine, thread: Thread, streams: Callable[[Reader], Sequence[Stream]], fits: Fits) -> "Look":
    with engine.read() as reader:
        announce_glance(engine, reader, thread)
        read = streams(reader)
        return look_at(engine, reader, glance_at(engine, reader, thread, read), read, fits)


def _find_streams(
    engine: Engine, reader: Reader, owner: str | None, space: Spaces, namespaces: Sequence[str]
) -> list[Stream]:
    """Return the streams that a query with the same arguments would read."""
    streams = readable_streams(engine, reader, owner, space, namespaces)
    order = engine.policy.spaces.read_order
    return [stream for stream in streams if stream.address is not None and stream.address.space in order]


@dataclass(frozen=True, slots=True)
class Look:
    """The header of a look, the memories it quotes, and the revision and cursors of the thread after it."""

    to: Revision
    header: ChangeHeader
    begins: bool = False
    quoted: tuple[str, ...] = ()
    cursors: tuple[Cursor, ...] = ()

    @property
    def moves(self) -> bool:
        return self.begins or bool(self.cursors)


class Glance(NamedTuple):
    """The revision of a thread, and the first entries of each stream after its cursor."""

    at: Revision | None
    cursors: Mapping[int, Cursor]
    unseen: Mapping[int, Later[list[Entry]]]


def announce_glance(engine: Engine, reader: Reader, thread: Thread) -> None:
    """Announce a glance, so that the store sends it together with the lookup of streams."""
    ahead = reader.in_advance()
    if ahead is not None:
        ahead.revision(engine.tenant, thread)
        ahead.cursors(engine.tenant, thread)


def glance_at(engine: Engine, reader: Reader, thread: Thread, streams: Sequence[Stream]) -> Glance:
    """Read the revision and cursors of a thread, and request the entries that follow without waiting for them."""
    at, cursors = reader.revision(engine.tenant, thread), reader.cursors(engine.tenant, thread)
    if at is None:
        return Glance(at, cursors, {})
    unseen = {s.number: _read_stretch(reader, s, _cursor(cursors, at, s).seq) for s in streams}
    return Glance(at, cursors, unseen)


def look_at(
    engine: Engine, reader: Reader, glance: Glance, streams: Sequence[Stream], fits: Fits = lambda header: True
) -> Look:
    """Choose which changes a thread is shown, as many as fit."""
    at, cursors, _ = glance
    if at is None:
        return _first_look(engine, reader, streams)
    first = {number: entries() for number, entries in glance.unseen.items()}
    ahead = reader.in_advance()
    for stream in streams:
        concerned = _list_concerned(_select_unseen(engine, stream, first[stream.number], _cursor(cursors, at, stream)))
        if ahead is not None and concerned:
            ahead.by_ids(engine.tenant, concerned)
    windows = [_read_window(engine, reader, s, _cursor(cursors, at, s), first[s.number]) for s in streams]
    pending = without_copies([change for window in windows for change in window.pending])
    at_least = any(change.goes_on for change in windows)
    for most in range(MAX_LINES, -1, -1):
        choice = choose(pending, at.round_until, most)
        to = at._replace(rev=at.rev + len(choice.shown), round_until=choice.round_until)
        subjects = _subjects(engine, reader, choice.shown)
        header = _header(at.rev, to.rev, choice, subjects, at_least=at_least)
        if fits(header):
            break
    moved = [window.cursor_after(choice) for window in windows if window.worth_moving(choice, cursors)]
    quoted = tuple(subject.state.id for subject in subjects if subject.body is not None)
    return Look(to, header, quoted=quoted, cursors=tuple(moved))


def _first_look(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> Look:
    """Return the first look of a thread, which begins at the end of all streams, if the caller may read."""
    begins = engine.caller.may(Right.READ)
    to = Revision(0, 0, reader.newest_stream(engine.tenant), "")
    heads = tuple(Cursor(stream.number, stream.last_seq) for stream in streams)
    return Look(to, ChangeHeader(0, 0), begins, cursors=heads if begins else ())


def _cursor(cursors: Mapping[int, Cursor], at: Revision, stream: Stream) -> Cursor:
    """Return a thread's cursor in a stream; without one, 0 in a stream newer than the thread, else the stream's end."""
    is_new = stream.number > at.newest_stream
    return cursors.get(stream.number) or Cursor(stream.number, 0 if is_new else stream.last_seq)


def _move(engine: Engine, thread: Thread, look: Look) -> bool:
    """Move the thread; return false if another look was faster, or if a memory it quotes was erased meanwhile."""
    with engine.write(patience_s=PATIENCE_S) as writer:
        if look.begins:
            return writer.begin_thread(engine.tenant, thread, look.to, look.cursors)
        quoted = writer.by_ids(engine.tenant, look.quoted) if look.quoted else {}
        if any(stored.body is None for stored in quoted.values()):
            return False
        return writer.move_thread(engine.tenant, thread, look.to, look.cursors)


def _read_since(
    engine: Engine, since: int, owner: str | None, space: Spaces, namespaces: Sequence[str]
) -> ChangeHeader:
    with engine.read() as reader:
        streams = _find_streams(engine, reader, owner, space, namespaces)
        if len(streams) > 1:
            hint = "Name owner and space, or a thread."
            raise BadInput("counts the entries of one stream.", field="since", hint=hint)
        if not streams:
            return ChangeHeader(since, since)
        first = _read_stretch(reader, streams[0], since)()
        window = _read_window(engine, reader, streams[0], Cursor(streams[0].number, since), first)
        choice = choose_oldest(window.pending)
        rev = max([since, *(change.seq for change in choice.shown)])
        return _header(since, rev, choice, _subjects(engine, reader, choice.shown), at_least=window.goes_on)


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of a stream's ledger that a look read, and the changes in it that the thread has not seen."""

    cursor: Cursor
    pending: tuple[Change, ...]
    read_until: int
    goes_on: bool = False

    def cursor_after(self, choice: Choice) -> Cursor:
        """Return the cursor after the choice was shown."""
        shown = [seq for change in choice.shown for seq in change.seqs_in(self.cursor.stream)]
        waiting = [seq for change in choice.waiting for seq in change.seqs_in(self.cursor.stream)]
        return Cursor(self.cursor.stream, *advance_cursor(self.read_until, waiting, [*self.cursor.shown, *shown]))

    def worth_moving(self, choice: Choice, known: Mapping[int, Cursor]) -> bool:
        """Return whether to move: a change was shown, many entries concern others, or there is no cursor yet."""
        shows = any(change.seqs_in(self.cursor.stream) for change in choice.shown)
        in_its_way = 0 if self.pending else self.read_until - self.cursor.seq
        begins_at_head = self.cursor.seq > 0 and self.cursor.stream not in known
        return shows or in_its_way >= WINDOW or begins_at_head


def _read_window(engine: Engine, reader: Reader, stream: Stream, cursor: Cursor, entries: Sequence[Entry]) -> _Window:
    """Read from the cursor on, starting with ``entries``, until there is a change to show."""
    read_until = cursor.seq
    stored_since: set[str] = set()
    while entries:
        read_until = entries[-1].seq
        if pending := _changes(engine, reader, stream, _select_unseen(engine, stream, entries, cursor), stored_since):
            goes_on = bool(_changes(engine, reader, stream, _read_stretch(reader, stream, read_until)(), stored_since))
            return _Window(cursor, pending, read_until, goes_on)
        entries = _read_stretch(reader, stream, read_until)()
    return _Window(cursor, (), read_until)


def _read_stretch(reader: Reader, stream: Stream, after: int) -> Later[list[Entry]]:
    return reader.entries_soon(stream, after, WINDOW) if after < stream.last_seq else list


def _select_unseen(engine: Engine, stream: Stream, entries: Sequence[Entry], cursor: Cursor) -> list[Entry]:
    """Return the entries not shown yet, without those about lines of the conversation, which are never shown.

    Most entries of a session are about its lines. Their ids are computed, so that no line has to be read.
    """
    fresh = [entry for entry in entries if entry.seq not in cursor.shown]
    if stream.address is None or stream.address.space is not Space.SESSION or not fresh:
        return fresh
    lines = _newest_lines(engine.store.store_id, stream.uid, stream.last_memory)
    return [entry for entry in fresh if entry.memory_id not in lines or sign_of(entry) is Sign.MERGED]


@lru_cache(maxsize=64)
def _newest_lines(store_id: str, stream_uid: str, last_memory: int) -> frozenset[str]:
    """Return the ids that the newest memories of a stream would have as lines of the conversation."""
    id_of = ids_in(store_id, stream_uid)
    newest = range(max(1, last_memory - 2 * WINDOW), last_memory + 1)
    return frozenset(id_of(Kind.SHORT_TERM, number) for number in newest)


def _list_concerned(entries: Sequence[Entry]) -> list[str]:
    """Return the memories that these entries are about, and the memories they were merged into."""
    happened = [(entry, sign) for entry in entries if (sign := sign_of(entry)) is not None]
    kept = [entry.other_id for entry, sign in happened if sign is Sign.MERGED and entry.other_id is not None]
    return [*(entry.memory_id for entry, _ in happened), *kept]


def _changes(
    engine: Engine, reader: Reader, stream: Stream, entries: Sequence[Entry], stored_since: set[str]
) -> tuple[Change, ...]:
    """Return the changes that entries amount to for this caller, one for each memory.

    ``stored_since`` collects the memories stored since the cursor: one that also left since then needs no line.
    """
    happened = [(entry, sign) for entry in entries if (sign := sign_of(entry)) is not None]
    found = reader.by_ids(engine.tenant, _list_concerned(entries)) if happened else {}
    words = _select_showable(engine, reader, stream, list(found.values()))
    changes = (
        _change(stream, changed, stored, found)
        for changed in by_memory(happened, stored_since, words)
        if (stored := words.get(changed.memory_id) or _find_missing(engine, stream, found.get(changed.memory_id)))
        is not None
    )
    return tuple(change for change in changes if change is not None)


def _change(stream: Stream, changes: MemoryChanges, stored: Stored, found: Mapping[str, Stored]) -> Change | None:
    state, body = stored.state, stored.body
    sign = net_sign(changes.signs, state.status if body is not None else None)
    merged = [id for id in changes.merged if id in found and found[id].state.status is not Status.ACTIVE]
    if sign is None or (sign is Sign.MERGED and changes.merged and not merged):
        return None
    return Change(
        stream.number,
        changes.seqs[-1],
        changes.at,
        sign,
        state.id,
        state.importance,
        state.pinned,
        tuple((stream.number, seq) for seq in changes.seqs),
        notes=1 + max(1, len(merged)),
        content_hash=str(body["content_hash"]) if body is not None else "",
        is_unsaid=sign is Sign.SOFT_DELETED and changes.rule in TAKEN_BACK,
    )


def _select_showable(engine: Engine, reader: Reader, stream: Stream, found: Sequence[Stored]) -> dict[str, Stored]:
    """Return the memories that have content, are visible to the caller, and have not expired."""
    seen = [stored for stored in found if _may_be_shown(engine, stream, stored)]
    now = current(engine, reader, seen)
    return {a.state.id: a for a, b in zip(seen, now, strict=True) if a.state.status is b.state.status}


def _find_missing(engine: Engine, stream: Stream, stored: Stored | None) -> Stored | None:
    """Return an erased or purged memory, if the caller may learn of it.

    Its scope and category went with its content, so only callers that see everything learn of it. Its kind is gone too,
    but its id is derived from it: the ids of the kinds that a header never shows are computed and compared.
    """
    if stored is None or stored.body is not None or engine.sight != EVERYTHING:
        return None
    ids = (engine.memory_id(stream.uid, kind, stored.number) for kind in UNTOLD_KINDS)
    return None if stored.state.id in ids else stored


def _may_be_shown(engine: Engine, stream: Stream, stored: Stored) -> bool:
    body = stored.body
    if body is None or body["kind"] in UNTOLD_KINDS:
        return False
    if engine.policy.phase.recalls_current_only and phase_number(body.get("phase_id")) != stream.phase:
        return False
    return engine.sight.sees(body["scope"], stored.state.category)


def _subjects(engine: Engine, reader: Reader, shown: Sequence[Change]) -> list[Stored]:
    """Return the memory of each change."""
    found = reader.by_ids(engine.tenant, [change.memory_id for change in shown]) if shown else {}
    return [found[change.memory_id] for change in shown]


def _header(since: int, rev: int, choice: Choice, subjects: Sequence[Stored], *, at_least: bool) -> ChangeHeader:
    lines = tuple(_line(change, stored) for change, stored in zip(choice.shown, subjects, strict=True))
    return ChangeHeader(since, rev, lines, len(choice.waiting), at_least)


def _line(change: Change, stored: Stored) -> ChangeLine:
    if stored.body is None:
        what = stored.state.removed or ""
        return ChangeLine(
            change.sign, change.memory_id, what, describe_removed(change.memory_id), change.importance, change.at
        )
    body, authority = stored.body, Authority(stored.state.authority)
    inferred_by = source_word(Source(body["source"]), authority) if authority is Authority.AI_INFERRED else None
    words = describe_removed(change.memory_id) if change.is_unsaid else one_line(body["content"], MAX_CHARACTERS)
    return ChangeLine(
        change.sign,
        change.memory_id,
        label_of(stored.state.category, inferred_by),
        describe_merged(change.notes, words) if change.sign is Sign.MERGED else words or NOTHING,
        change.importance,
        change.at,
    )
