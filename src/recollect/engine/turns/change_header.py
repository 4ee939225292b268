"""The change header: show a thread what changed since it last looked, each change once, and only what it may see.

Where a thread stands is a cursor in each stream's ledger. A look reads a snapshot, chooses what to show, and then moves the
cursors in a small transaction of its own, by compare and set: of two readers of one thread only one gets a change.
Where nothing changed, nothing is written.
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
"""Whether there is room for a header; there must be for one without lines."""
WINDOW = 100
"""How many entries of a stream a look reads. A cursor in whose way so many lie that are not for the thread moves past them."""
EVERYTHING = Sight(None, None)
EVERY_AGENT = "\n"
"""In place of the agent's name in threads of an application, which sees every agent's memories. No agent is called so."""
PATIENCE_S = 0.2
"""How long a look waits for others who write before it tells nothing: what there is comes next time."""
LOOKS = 8
"""How often a look is taken again because another reader of the thread was quicker."""


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

    The header is cut to ``budget_tokens``, or to what ``fits`` accepts; the other changes come with the next look.
    With ``thread``, what changed since that thread last looked, and its cursor moves on; the first look shows nothing.
    Without one, the oldest changes after ledger entry ``since`` of the one stream at ``owner`` and ``space``, and nothing is
    remembered: the answer's ``rev`` is the ``since`` to go on with.
    """
    if (thread is None) == (since is None):
        hint = "thread='chat-1', or owner=… and since=0."
        raise BadInput("give either a thread or since.", field="thread", hint=hint)
    owner = owner_named(owner, user_id)
    where = owner, space, include_namespaces
    if since is not None:
        return _since(engine, check_number("since", since), *where)

    def within_budget(header: ChangeHeader) -> bool:
        return budget_tokens is None or count_tokens(header.text) <= budget_tokens

    name = check_kept(engine.policy.privacy, "thread", thread)
    asking = thread_of(engine, name, owner)
    return read_changes(engine, asking, lambda reader: _find_streams(engine, reader, *where), fits or within_budget)


def thread_of(engine: Engine, name: str, owner: str | None) -> Thread:
    """A bound caller's threads are its own. The application's belong to the owner that it asks for, and are others than that
    person's: what one of them is shown, the other may not be able to see.

    Nor must a request that narrows its caller use up that caller's changes, of which it sees but some, or those of the
    agent that it names. No agent's name is, or begins with, a blank.
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
    """Return the changes that a thread has not seen and move its cursor; return none if a writer holds the store too long.

    A look that was ``taken`` in another read is used first.
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
    return ChangeHeader(look.header.since, look.header.since)  # others show what there is; the rest comes next time


def _new_look(engine: Engine, thread: Thread, streams: Callable[[Reader], Sequence[Stream]], fits: Fits) -> "Look":
    with engine.read() as reader:
        announce_glance(engine, reader, thread)
        read = streams(reader)
        return look_at(engine, reader, glance_at(engine, reader, thread, read), read, fits)


def _find_streams(
    engine: Engine, reader: Reader, owner: str | None, space: Spaces, namespaces: Sequence[str]
) -> list[Stream]:
    """The streams that a query at the same place would read."""
    streams = readable_streams(engine, reader, owner, space, namespaces)
    order = engine.policy.spaces.read_order
    return [stream for stream in streams if stream.address is not None and stream.address.space in order]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found, whose words it tells, and where the thread and its cursors stand after it."""

    to: Revision
    header: ChangeHeader
    begins: bool = False
    told: tuple[str, ...] = ()
    cursors: tuple[Cursor, ...] = ()

    @property
    def moves(self) -> bool:
        return self.begins or bool(self.cursors)


class Glance(NamedTuple):
    """Where a thread stands, and the first entries of each stream that it has not seen."""

    at: Revision | None
    cursors: Mapping[int, Cursor]
    unseen: Mapping[int, Later[list[Entry]]]


def announce_glance(engine: Engine, reader: Reader, thread: Thread) -> None:
    """Announce a glance, so that it is sent along with looking up the streams."""
    ahead = reader.in_advance()
    if ahead is not None:
        ahead.revision(engine.tenant, thread)
        ahead.cursors(engine.tenant, thread)


def glance_at(engine: Engine, reader: Reader, thread: Thread, streams: Sequence[Stream]) -> Glance:
    """Look up where a thread stands, and ask for the entries that follow, so that other reads need not wait for them."""
    at, cursors = reader.revision(engine.tenant, thread), reader.cursors(engine.tenant, thread)
    if at is None:
        return Glance(at, cursors, {})
    unseen = {s.number: _stretch(reader, s, _cursor(cursors, at, s).seq) for s in streams}
    return Glance(at, cursors, unseen)


def look_at(
    engine: Engine, reader: Reader, glance: Glance, streams: Sequence[Stream], fits: Fits = lambda header: True
) -> Look:
    """Choose what a thread is shown of the changes since it last looked, as much as fits."""
    at, cursors, _ = glance
    if at is None:
        return _first_look(engine, reader, streams)
    first = {number: entries() for number, entries in glance.unseen.items()}
    ahead = reader.in_advance()
    for stream in streams:
        concerned = _list_concerned(_fresh(engine, stream, first[stream.number], _cursor(cursors, at, stream)))
        if ahead is not None and concerned:
            ahead.by_ids(engine.tenant, concerned)
    windows = [_window(engine, reader, s, _cursor(cursors, at, s), first[s.number]) for s in streams]
    pending = without_copies([one for window in windows for one in window.pending])
    at_least = any(one.goes_on for one in windows)
    for most in range(MAX_LINES, -1, -1):
        choice = choose(pending, at.round_until, most)
        to = at._replace(rev=at.rev + len(choice.shown), round_until=choice.round_until)
        subjects = _subjects(engine, reader, choice.shown)
        header = _header(at.rev, to.rev, choice, subjects, at_least=at_least)
        if fits(header):
            break
    moved = [window.cursor_after(choice) for window in windows if window.worth_moving(choice, cursors)]
    told = tuple(subject.state.id for subject in subjects if subject.body is not None)
    return Look(to, header, told=told, cursors=tuple(moved))


def _first_look(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> Look:
    """A thread begins where everything stands; what was before it is not news. Who may read nothing has no threads."""
    begins = engine.caller.may(Right.READ)
    to = Revision(0, 0, reader.newest_stream(engine.tenant), "")
    heads = tuple(Cursor(stream.number, stream.last_seq) for stream in streams)
    return Look(to, ChangeHeader(0, 0), begins, cursors=heads if begins else ())


def _cursor(cursors: Mapping[int, Cursor], at: Revision, stream: Stream) -> Cursor:
    """Where the thread stands in a stream. All of one that was made since is news; an older one begins at its head."""
    is_new = stream.number > at.newest_stream
    return cursors.get(stream.number) or Cursor(stream.number, 0 if is_new else stream.last_seq)


def _move(engine: Engine, thread: Thread, look: Look) -> bool:
    """Whether this look moved the thread: not if another was quicker, or if words that it tells were erased meanwhile."""
    with engine.write(patience_s=PATIENCE_S) as writer:
        if look.begins:
            return writer.begin_thread(engine.tenant, thread, look.to, look.cursors)
        told = writer.by_ids(engine.tenant, look.told) if look.told else {}
        if any(stored.body is None for stored in told.values()):
            return False
        return writer.move_thread(engine.tenant, thread, look.to, look.cursors)


def _since(engine: Engine, since: int, owner: str | None, space: Spaces, namespaces: Sequence[str]) -> ChangeHeader:
    with engine.read() as reader:
        streams = _find_streams(engine, reader, owner, space, namespaces)
        if len(streams) > 1:
            hint = "Name owner and space, or a thread."
            raise BadInput("counts the entries of one stream.", field="since", hint=hint)
        if not streams:
            return ChangeHeader(since, since)
        first = _stretch(reader, streams[0], since)()
        window = _window(engine, reader, streams[0], Cursor(streams[0].number, since), first)
        choice = choose_oldest(window.pending)
        rev = max([since, *(change.seq for change in choice.shown)])
        return _header(since, rev, choice, _subjects(engine, reader, choice.shown), at_least=window.goes_on)


@dataclass(frozen=True, slots=True)
class _Window:
    """The stretch of a stream's ledger that a look read, and what in it a thread has yet to be shown."""

    cursor: Cursor
    pending: tuple[Change, ...]
    read_until: int
    goes_on: bool = False

    def cursor_after(self, choice: Choice) -> Cursor:
        """The cursor once the choice was shown."""
        shown = [seq for change in choice.shown for seq in change.seqs_in(self.cursor.stream)]
        waiting = [seq for change in choice.waiting for seq in change.seqs_in(self.cursor.stream)]
        return Cursor(self.cursor.stream, *advance_cursor(self.read_until, waiting, [*self.cursor.shown, *shown]))

    def worth_moving(self, choice: Choice, known: Mapping[int, Cursor]) -> bool:
        """If something of it was shown, if much that is not for the thread lies in its way, or if it was never noted."""
        shows = any(change.seqs_in(self.cursor.stream) for change in choice.shown)
        in_its_way = 0 if self.pending else self.read_until - self.cursor.seq
        begins_at_head = self.cursor.seq > 0 and self.cursor.stream not in known
        return shows or in_its_way >= WINDOW or begins_at_head


def _window(engine: Engine, reader: Reader, stream: Stream, cursor: Cursor, entries: Sequence[Entry]) -> _Window:
    """From the cursor on, the first stretch in which there is something to tell; ``entries`` are the first stretch."""
    read_until = cursor.seq
    came: set[str] = set()
    while entries:
        read_until = entries[-1].seq
        if pending := _changes(engine, reader, stream, _fresh(engine, stream, entries, cursor), came):
            goes_on = bool(_changes(engine, reader, stream, _stretch(reader, stream, read_until)(), came))
            return _Window(cursor, pending, read_until, goes_on)
        entries = _stretch(reader, stream, read_until)()
    return _Window(cursor, (), read_until)


def _stretch(reader: Reader, stream: Stream, after: int) -> Later[list[Entry]]:
    return reader.entries_soon(stream, after, WINDOW) if after < stream.last_seq else list


def _fresh(engine: Engine, stream: Stream, entries: Sequence[Entry], cursor: Cursor) -> list[Entry]:
    """Return the entries that were not shown yet, without those about lines of the conversation, which are never shown.

    Nearly all that happens in a session is about its lines. Their ids are made again, so that no line need be read for it.
    """
    fresh = [entry for entry in entries if entry.seq not in cursor.shown]
    if stream.address is None or stream.address.space is not Space.SESSION or not fresh:
        return fresh
    lines = _newest_lines(engine.store.store_id, stream.uid, stream.last_memory)
    return [entry for entry in fresh if entry.memory_id not in lines or sign_of(entry) is Sign.MERGED]


@lru_cache(maxsize=64)
def _newest_lines(store_id: str, stream_uid: str, last_memory: int) -> frozenset[str]:
    """Return the ids that the newest memories of a stream have if they are lines of the conversation."""
    id_of = ids_in(store_id, stream_uid)
    newest = range(max(1, last_memory - 2 * WINDOW), last_memory + 1)
    return frozenset(id_of(Kind.SHORT_TERM, number) for number in newest)


def _list_concerned(entries: Sequence[Entry]) -> list[str]:
    """Return the memories that these entries are about, and the memories they were merged into."""
    happened = [(entry, sign) for entry in entries if (sign := sign_of(entry)) is not None]
    kept = [entry.other_id for entry, sign in happened if sign is Sign.MERGED and entry.other_id is not None]
    return [*(entry.memory_id for entry, _ in happened), *kept]


def _changes(
    engine: Engine, reader: Reader, stream: Stream, entries: Sequence[Entry], came: set[str]
) -> tuple[Change, ...]:
    """What the entries come to for this caller, one change a memory. ``came`` gathers what came since the cursor: if it went
    again unseen, nobody has to be told."""
    happened = [(entry, sign) for entry in entries if (sign := sign_of(entry)) is not None]
    found = reader.by_ids(engine.tenant, _list_concerned(entries)) if happened else {}
    words = _tellable(engine, reader, stream, list(found.values()))
    told = (
        _change(stream, one, stored, found)
        for one in by_memory(happened, came, words)
        if (stored := words.get(one.memory_id) or _find_missing(engine, stream, found.get(one.memory_id))) is not None
    )
    return tuple(change for change in told if change is not None)


def _change(stream: Stream, one: MemoryChanges, stored: Stored, found: Mapping[str, Stored]) -> Change | None:
    state, body = stored.state, stored.body
    sign = net_sign(one.signs, state.status if body is not None else None)
    merged = [id for id in one.merged if id in found and found[id].state.status is not Status.ACTIVE]
    if sign is None or (sign is Sign.MERGED and one.merged and not merged):
        return None
    return Change(
        stream.number,
        one.seqs[-1],
        one.at,
        sign,
        state.id,
        state.importance,
        state.pinned,
        tuple((stream.number, seq) for seq in one.seqs),
        notes=1 + max(1, len(merged)),
        content_hash=str(body["content_hash"]) if body is not None else "",
    )


def _tellable(engine: Engine, reader: Reader, stream: Stream, found: Sequence[Stored]) -> dict[str, Stored]:
    """Memories that have their words, that the caller may see, and that have not expired unnoticed."""
    seen = [stored for stored in found if _may_be_told(engine, stream, stored)]
    now = current(engine, reader, seen)
    return {a.state.id: a for a, b in zip(seen, now, strict=True) if a.state.status is b.state.status}


def _find_missing(engine: Engine, stream: Stream, stored: Stored | None) -> Stored | None:
    """Return a memory that was erased or purged, if the caller may learn of it.

    Its scope and category went with its content, so only callers who see everything are told. Its kind is gone too, but the
    id was made from it: the ids of kinds that a header never tells are made again and compared.
    """
    if stored is None or stored.body is not None or engine.sight != EVERYTHING:
        return None
    ids = (engine.memory_id(stream.uid, kind, stored.number) for kind in UNTOLD_KINDS)
    return None if stored.state.id in ids else stored


def _may_be_told(engine: Engine, stream: Stream, stored: Stored) -> bool:
    body = stored.body
    if body is None or body["kind"] in UNTOLD_KINDS:
        return False
    if engine.policy.phase.recalls_current_only and phase_number(body.get("phase_id")) != stream.phase:
        return False
    return engine.sight.sees(body["scope"], stored.state.category)


def _subjects(engine: Engine, reader: Reader, shown: Sequence[Change]) -> list[Stored]:
    """For each change the memory whose words tell it."""
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
    words = one_line(body["content"], MAX_CHARACTERS) or NOTHING
    return ChangeLine(
        change.sign,
        change.memory_id,
        label_of(stored.state.category, inferred_by),
        describe_merged(change.notes, words) if change.sign is Sign.MERGED else words,
        change.importance,
        change.at,
    )
