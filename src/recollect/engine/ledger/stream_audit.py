"""Walk one stream from its first entry to its head and check the chain, the signatures, the text index and all derived state."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from pydantic_core import from_json

from recollect.engine.context import Engine
from recollect.engine.ledger.checkpoint_log import HINT, Actors, LogAudit
from recollect.engine.write.relations import links_in, relations_of_stream
from recollect.model.caller import named
from recollect.model.errors import StoreCorrupt
from recollect.model.ledger import ABOUT_THE_STREAM, BRINGS_VERSION, GENESIS, Entry, Event, commit_to
from recollect.model.proof import StreamLeaf
from recollect.model.receipt import Problem
from recollect.model.record import ENTRY_ORIGIN
from recollect.model.seals import cut_seals, read_form, was_cut
from recollect.model.state import State
from recollect.model.vocabulary import Status
from recollect.rules.identity.rejected_values import rejections_in_force
from recollect.rules.language.text import sha256_hex
from recollect.rules.ledger import fold
from recollect.rules.ledger.content_ids import ids_in
from recollect.rules.ledger.proofs import Covering
from recollect.rules.trust.signatures import signature_from, voucher_bytes
from recollect.rules.trust.signers import INVALID, Judged, Signers
from recollect.stores.protocol import (
    TERM_COUNT,
    Amendment,
    IndexedTerm,
    Reader,
    Relation,
    Stream,
    Version,
    WalkedVersion,
)

PAGE = 1_000
BEYOND_ALL = 2**63 - 1
"""Above every place that a row can have."""
T = TypeVar("T")


def read_pages(read: Callable[[int, int], list[T]], place: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield pages of rows, each from after the last row of the page before."""
    page = read(0, PAGE)
    while page:
        yield page
        page = read(place(page[-1]), PAGE)


class Amendments:
    """Reads the amendments of a stream in step with its entries."""

    def __init__(self, reader: Reader, stream: Stream) -> None:
        pages = read_pages(partial(reader.amendments_after, stream), lambda one: one.seq)
        self._rows = (one for page in pages for one in page)
        self._next = next(self._rows, None)

    def at(self, seq: int) -> Amendment | None:
        """Return the amendment of this entry, if there is one. Ask in the order of the entries."""
        found = self._next
        if found is None or found.seq != seq:
            return None
        self._next = next(self._rows, None)
        return found

    def unasked_before(self, seq: int) -> int | None:
        """Return the place of an amendment before this place that was not asked for: no entry brought it."""
        return self._next.seq if self._next is not None and self._next.seq < seq else None


class Brought(NamedTuple):
    """A version, with the rows that the tables of parents and of relations have at its number."""

    version: WalkedVersion
    parents: tuple[str, ...]
    relations: list[Relation]


class Versions:
    """Reads the versions of a stream in step with the entries that brought them; the two orders agree in a sound stream."""

    def __init__(self, reader: Reader, stream: Stream) -> None:
        self._reader, self._stream = reader, stream
        self._rows = self._read()
        self._passed_over: dict[str, Brought] = {}
        self.count = self.last = 0
        self.alone: list[int] = []
        """Numbers that have parents or relations, but no version."""

    def of(self, id: str) -> Brought | None:
        """Return the version of a memory; each is handed out once."""
        if id in self._passed_over:
            return self._passed_over.pop(id)
        for one in self._rows:
            if one.version.id == id:
                return one
            self._passed_over[one.version.id] = one
        return None

    def left_over(self) -> WalkedVersion | None:
        """Return the first version that no entry brought, once all entries were walked."""
        rest = [*self._passed_over.values(), *self._rows]
        return rest[0].version if rest else None

    def _read(self) -> Iterator[Brought]:
        for page in read_pages(partial(self._reader.versions_after, self._stream), lambda one: one.number):
            after, self.last = self.last, page[-1].number
            self.count += len(page)
            yield from self._join_derived(page, after, self.last)
        yield from self._join_derived([], self.last, BEYOND_ALL)

    def _join_derived(self, page: list[WalkedVersion], after: int, upto: int) -> Iterator[Brought]:
        parents: dict[int, list[str]] = {}
        for number, parent in self._reader.parents_between(self._stream, after, upto):
            parents.setdefault(number, []).append(parent)
        relations: dict[int, list[Relation]] = {}
        for relation in self._reader.relations_between(self._stream, after, upto):
            relations.setdefault(relation.source[1], []).append(relation)
        for version in page:
            yield Brought(version, tuple(parents.pop(version.number, ())), relations.pop(version.number, []))
        self.alone += [*parents, *relations]


POSTINGS_PAGE = 10_000


class TextAudit:
    """Compares the text index with the terms that each active memory noted, a line of ``length term:count …``.

    Notes are kept as text, since those of a large stream would fill the memory if they were parsed, in a list indexed by the
    memories' numbers, since millions of postings are looked up.
    """

    def __init__(self, reader: Reader, stream: Stream) -> None:
        self._reader, self._stream = reader, stream
        self._notes: list[str] = []
        self._lengths: list[int | None] = []
        self._noted = self._words = self._postings = 0
        self._misstated = False

    def note(self, number: int, terms: str) -> None:
        """Take the terms that an active memory noted. Call once for each, in order; ``ValueError`` if they cannot be read."""
        length, _, said = terms.partition("\n")[0].partition(" ")
        listed = terms.replace("\n", " ").partition(" ")[2]
        self._misstated |= _count(said) != int(length) and _times(said) != int(length)
        if not_active := number - len(self._notes):
            self._notes += [""] * not_active
            self._lengths += [None] * not_active
        self._notes.append(f" {listed} ")
        self._lengths.append(int(length))
        self._noted += 1
        self._words += int(length)
        self._postings += _count(listed)

    def fault(self) -> str | None:
        """Return what is wrong with the index, if anything is."""
        if self._misstated or not self._matches():
            return "its postings are not those of the active memories"
        if (self._noted, self._words) != (self._stream.documents, self._stream.words):
            return "its statistics are not those of the active memories"
        return None

    def _matches(self) -> bool:
        """Return whether every posting is noted, every note has its postings, and each term's count is right."""
        notes, lengths, beyond = self._notes, self._lengths, len(self._notes)
        counted, often = None, None
        left, seen, word = 0, 0, ""
        for page in self._pages():
            for term, number, tf, length in page:
                if number == TERM_COUNT:
                    if left:
                        return False
                    counted, left, often = term, tf, None
                    continue
                if tf != often:
                    often, word = tf, f" {term}:{tf} "
                if term != counted or not 0 < number < beyond or lengths[number] != length or word not in notes[number]:
                    return False
                left -= 1
                seen += 1
        return left == 0 and seen == self._postings

    def _pages(self) -> Iterator[list[IndexedTerm]]:
        last = None
        while page := self._reader.postings_after(self._stream, last, POSTINGS_PAGE):
            yield page
            last = page[-1][:2]


def _count(listed: str) -> int:
    """Return the number of distinct terms. Mostly each occurs once, so that this is the length of the text."""
    return listed.count(" ") + 1 if listed else 0


def _times(listed: str) -> int:
    """Return the length of the text: the sum of the terms' counts."""
    return sum(int(word.rpartition(":")[2]) for word in listed.split(" ")) if listed else 0


SHOWN = 20
"""How many broken signatures of one stream are named; all of them are counted."""
SIGNATURE_HINT = (
    "Its words, author, time or parents are not those that were signed: ask its author for the signed entry."
)


class SignedAudit:
    """Counts what the signatures of a stream are worth, and keeps those that do not hold."""

    def __init__(self, stream: str, signers: Signers, leaves: Sequence[tuple[int, StreamLeaf]]) -> None:
        self._stream, self._signers = stream, signers
        self._places = [place for place, _ in leaves]
        self._ends = [leaf.to_seq for _, leaf in leaves]
        self.entries: Counter[str] = Counter()
        self.vouches: Counter[str] = Counter()
        self.problems: list[Problem] = []

    def judge(self, entry: Entry, body: Mapping[str, Any]) -> None:
        """Judge the signature of a body, if it has one, and those of imported vouches for it."""
        place = self._place(entry.seq)
        own = self._signers.of_version(body, place)
        if own is not None:
            self.entries[own.word] += 1
            self._note(entry, "its signature", own)
        for vouch in self._signers.of_vouchers(body, place):
            self.vouches[vouch.word] += 1
            self._note(entry, "the signature of a vouch that came along", vouch)

    def judge_vouch(self, entry: Entry, content: str, name: str, said: Mapping[str, Any]) -> bool:
        """Judge the signature of somebody who vouches here for these words; return whether it holds."""
        message = voucher_bytes(sha256_hex(content), named(name), entry.at, said.get("confidence"), said.get("says"))
        found = self._signers.judged(signature_from(said["signature"]), message, name, self._place(entry.seq))
        self.vouches[found.word] += 1
        return found.word != INVALID

    def _note(self, entry: Entry, what: str, judged: Judged) -> None:
        if judged.word == INVALID and len(self.problems) < SHOWN:
            where = f"{self._stream}, memory {entry.memory_id}"
            self.problems.append(Problem(where, f"{what} does not hold", SIGNATURE_HINT))

    def _place(self, seq: int) -> int | None:
        """Return the place of the leaf that covers an entry; ``None`` while no checkpoint does."""
        found = bisect_left(self._ends, seq)
        return self._places[found] if found < len(self._ends) else None


UNREADABLE = (StoreCorrupt, ValueError, LookupError, TypeError, AttributeError)
"""The errors raised by reading a row that somebody has put nonsense into."""
_COMMITS_TO_NO_VALUES = (Event.SEVERED, Event.NAME_ERASED)
AT_ONCE = 500
"""How many memories' relations are checked again at a time."""

Walk = Callable[[int], None]
"""Called with how many more entries were walked."""
Body = Mapping[str, Any]


class Walked(NamedTuple):
    """The result of a walk: the first problem, the counts, aliases in versions, signatures, actors and erased names."""

    problem: Problem | None
    entries: int
    versions: int
    aliases: frozenset[tuple[str, str]]
    signed: SignedAudit
    acted: frozenset[str]
    erased_names: frozenset[str]


class Broken(Exception):
    """The first thing that is wrong with a stream."""

    def __init__(self, where: str, what: str) -> None:
        self.problem = Problem(where, what, HINT)


def walk_stream(engine: Engine, reader: Reader, stream: Stream, actors: Actors, log: LogAudit, tell: Walk) -> Walked:
    """Walk a stream from its first entry to its head, and return what was found; an unreadable row is a problem."""
    audit = _StreamAudit(engine, reader, stream, actors, log)
    problem = None
    try:
        audit.follow(tell)
        audit.compare()
    except Broken as broken:
        problem = broken.problem
    except UNREADABLE as error:
        problem = Problem(audit.name, f"something in it cannot be read, so it was altered: {error}", HINT)
    aliases = audit.aliases if problem is None else _aliases_of(reader, stream)
    acted, erased = frozenset(audit.acted), frozenset(audit.erased_names)
    return Walked(problem, audit.entries, audit.versions.count, frozenset(aliases), audit.signed, acted, erased)


def _aliases_of(reader: Reader, stream: Stream) -> set[tuple[str, str]]:
    """Return the aliases in all versions of a stream whose walk ended early; a body that cannot be read has none."""
    found: set[tuple[str, str]] = set()
    for version in reader.versions(stream):
        try:
            body = from_json(version.body) if version.body is not None else {}
            found |= {(alias, version.id) for alias in body.get("aliases", ())}
        except UNREADABLE:
            continue
    return found


class _StreamAudit:
    """``follow`` checks the chain; ``compare`` then checks the derived tables against the states that the chain gives."""

    def __init__(self, engine: Engine, reader: Reader, stream: Stream, actors: Actors, log: LogAudit) -> None:
        self._reader, self._stream, self._actors = reader, stream, actors
        self._store_id = engine.store.store_id
        self.name = stream.name
        self.entries = 0
        self.versions = Versions(reader, stream)
        self.aliases: set[tuple[str, str]] = set()
        self.acted: set[str] = set()
        self.erased_names: set[str] = set()
        self._amendments = Amendments(reader, stream)
        self._covering = Covering([leaf for _, leaf in log.of_stream(stream.uid)])
        self.signed = SignedAudit(self.name, log.signers, log.of_stream(stream.uid))
        self._removed, self._severed = reader.removals(stream)
        self._last: Entry | None = None
        self._phases = 1
        self._states: fold.States = {}
        self._numbers: dict[str, int] = {}
        self._look_twice: set[int] = set()
        self._by_hand: list[tuple[Entry, str | None]] = []
        self._rejections: list[tuple[Entry, Body | None]] = []

    @cached_property
    def _id_of(self) -> Callable[[str, int], str]:
        return ids_in(self._store_id, self._stream.uid)

    def follow(self, tell: Walk) -> None:
        if self._stream.fault is not None:
            raise Broken(self.name, self._stream.fault)
        for page in read_pages(partial(self._reader.entries, self._stream), lambda one: one.seq):
            for entry in page:
                self._check_chain(entry)
                fold.apply(self._states, entry, *self._read_values(entry))
            tell(len(page))
        self._check_end()

    def _check_chain(self, entry: Entry) -> None:
        if entry.seq != self.entries + 1:
            raise self._report_broken(entry, f"entry {self.entries + 1} is missing: the chain jumps to {entry.seq}")
        if entry.prev_hash != (self._last.hash if self._last else GENESIS):
            raise self._report_broken(entry, "it does not follow the entry before it: prev_hash is another")
        if entry.hash != entry.computed_hash():
            raise self._report_broken(entry, "its fields were changed: they no longer give its hash")
        self.acted.add(entry.actor)
        if entry.actor not in self._actors:
            raise self._report_broken(entry, "the actor of this entry is missing from the table of actors")
        if (fault := self._covering.fault_at(entry.seq, entry.hash)) is not None:
            raise Broken(f"{self.name}, checkpoint", fault)
        self.entries, self._last = entry.seq, entry

    def _check_end(self) -> None:
        """Check the head, the counters and whatever no entry brought."""
        stream, last = self._stream, self._last
        if (self.entries, last.hash if last else GENESIS) != (stream.last_seq, stream.head):
            what = f"the chain ends at entry {self.entries}, the stream says {stream.last_seq} or another hash"
            raise Broken(f"{self.name}, head", what)
        if (fault := self._covering.fault_at_end(self.entries)) is not None:
            raise Broken(f"{self.name}, checkpoint", fault)
        if (left := self.versions.left_over()) is not None:
            what = f"version {left.number} was never entered in the ledger"
            raise Broken(f"{self.name}, memory {left.id}", what)
        self._check_unasked(BEYOND_ALL)
        counted = (last.tick if last else 0, last.at if last else "", self.versions.last)
        if (stream.tick, stream.last_at, stream.last_memory) != counted:
            raise Broken(f"{self.name}, counters", "its tick, time or last number is not that of its last entry")
        if (stream.address is None) != (stream.uid in self.erased_names):
            what = "is gone without an erasure" if stream.address is None else "is back after its erasure"
            raise Broken(f"{self.name}, owner", f"the name of its owner {what}")
        if stream.phase != self._phases:
            raise Broken(f"{self.name}, counters", "its phase is not the one that its entries began")

    def _read_values(self, entry: Entry) -> tuple[Body | None, Body | None]:
        """Return the version or the amendment that an entry brings, checked against its commitment."""
        self._check_unasked(entry.seq)
        if entry.event in BRINGS_VERSION:
            return self._read_version(entry), None
        self._phases += entry.event is Event.PHASE_STARTED
        if entry.event is Event.NAME_ERASED and entry.commitment is not None:
            self.erased_names.add(entry.commitment)
        brings_values = entry.commitment is not None and entry.event not in _COMMITS_TO_NO_VALUES
        brought = self._read_amendment(entry) if brings_values else None
        if entry.event in ABOUT_THE_STREAM:
            self._rejections.append((entry, brought))
        return None, brought

    def _check_unasked(self, seq: int) -> None:
        if (found := self._amendments.unasked_before(seq)) is not None:
            raise Broken(f"{self.name}, entry {found}", "values were added that no entry brought")

    def _read_version(self, entry: Entry) -> Body | None:
        brought = self.versions.of(entry.memory_id)
        if brought is None:
            raise self._report_broken(entry, f"the version of memory {entry.memory_id} is missing")
        version = brought.version
        body, text = (None, None) if version.body is None else self._read(entry, version.body)
        self._check_committed(entry, text, version.salt, entry.memory_id in self._removed)
        self._numbers[version.id] = version.number
        if body is not None:
            self._check_place(entry, version.number, body)
            cut = sorted(cut_seals(body)) if self._severed or was_cut(body) else []
            if cut != self._severed.get(entry.memory_id, []):
                what = f"the links of memory {entry.memory_id} differ from what the ledger recorded"
                raise self._report_broken(entry, what)
            if "signature" in body or ENTRY_ORIGIN in body.get("meta", ()):
                self.signed.judge(entry, body)
            if "aliases" in body:
                self.aliases.update((alias, version.id) for alias in body["aliases"])
        self._check_derived(brought, body)
        return body

    def _read(self, entry: Entry, text: str) -> tuple[Body, str]:
        """Return the body of a version, and the text to which the ledger commits for it."""
        try:
            body = from_json(text)
            return body, read_form(body, text)
        except UNREADABLE:
            raise self._report_altered(entry) from None

    def _check_place(self, entry: Entry, number: int, body: Body) -> None:
        id, address = entry.memory_id, self._stream.address
        if self._id_of(body["kind"], number) != id:
            raise self._report_broken(entry, f"memory {id} does not have the id of its place")
        said = (body["tenant"], body["namespace"], body["space"], body["owner"])
        if address is not None and address != said:
            raise self._report_broken(entry, f"memory {id} was written to another address than its stream's")

    def _read_amendment(self, entry: Entry) -> Body | None:
        found = self._amendments.at(entry.seq)
        if found is None:
            raise self._report_broken(entry, "the values that it brought are missing")
        nameless = entry.event in ABOUT_THE_STREAM and self._stream.address is None
        if found.memory_id != entry.memory_id:
            raise self._report_broken(entry, "the values that it brought are filed under another memory")
        self._check_committed(entry, found.body, found.salt, entry.memory_id in self._removed or nameless)
        if entry.rule.startswith(fold.RELATION_RULE):
            self._by_hand.append((entry, found.body))
        said = from_json(found.body) if found.body is not None else None
        if entry.event is Event.VOUCHED and said is not None and ("signature" in said or fold.TOLD in said):
            self._check_signed(entry, said)
        return said

    def _check_signed(self, entry: Entry, said: Body) -> None:
        """Check the signature of a vouch, unless the content or the voucher's name was erased."""
        name = self._actors[entry.actor][0]
        (stored,) = self._reader.by_ids(self._stream.tenant, [entry.memory_id]).values()
        if stored.body is None:
            return
        if fold.TOLD in said:
            content, origin = stored.body["content"], {"vouchers": said[fold.TOLD]}
            self.signed.judge(entry, {"content": content, "meta": {ENTRY_ORIGIN: origin}})
        elif name is not None and not self.signed.judge_vouch(entry, stored.body["content"], name, said):
            raise self._report_broken(entry, "the signature of whoever vouches does not hold")

    def _check_committed(self, entry: Entry, body: str | None, salt: bytes | None, was_removed: bool) -> None:
        if body is None or salt is None:
            if not was_removed:
                raise self._report_broken(entry, f"the content of memory {entry.memory_id} is gone without an erasure")
        elif was_removed:
            raise self._report_broken(entry, f"the content of memory {entry.memory_id} is back after its removal")
        elif commit_to(salt, body) != entry.commitment:
            raise self._report_altered(entry)

    def _check_derived(self, brought: Brought, body: Body | None) -> None:
        """Check the rows derived from a version. Relations other than its own are checked once all are known."""
        version, said = brought.version, body or {}
        if (column := self._reader.stray_column(version, body)) is not None:
            raise Broken(f"{self.name}, memory {version.id}", f"its {column} is not what its version says")
        if brought.parents != tuple(sorted(set(said.get("parent_refs", ())))):
            where = f"{self.name}, memory number {version.number}"
            raise Broken(where, "what it builds upon is not what its version says")
        if brought.relations != self._expected_relations(version.number, said):
            self._look_twice.add(version.number)

    def _expected_relations(self, number: int, body: Body) -> list[Relation]:
        here = self._stream.number
        return sorted(
            Relation(
                (here, number), (here, self._numbers.get(id, 0)), relation_type, strength, body["created_at"], reason
            )
            for id, relation_type, strength, reason in links_in(body)
        )

    def compare(self) -> None:
        """Check the derived tables against the states that the chain gives."""
        text = TextAudit(self._reader, self._stream)
        for page in read_pages(partial(self._reader.states_after, self._stream), lambda one: one.number):
            for number, terms, state in page:
                expected = self._states.pop(state.id, None)
                if state != expected or self._numbers[state.id] != number:
                    raise self._report_state(state.id, _difference(expected, state))
                if (terms is not None) != (state.status is Status.ACTIVE):
                    where = f"{self.name}, memory number {number}"
                    raise Broken(where, "the text index does not match what is active")
                if terms is not None:
                    text.note(number, terms)
        for id in sorted(self._states):
            raise self._report_state(id, ": it is missing")
        if (fault := text.fault()) is not None:
            raise Broken(f"{self.name}, text index", fault)
        self._check_vectors()
        self._check_relations()
        if set(self._reader.rejections(self._stream)) != rejections_in_force(self._rejections):
            raise Broken(f"{self.name}, rejections", "they are not those that the ledger leaves in force")

    def _check_relations(self) -> None:
        """Check again the relations that differ from what a version says: later entries may have changed them."""
        linked = {self._numbers[entry.memory_id] for entry, _ in self._by_hand if entry.memory_id in self._numbers}
        numbers = sorted(self._look_twice | linked)
        for begin in range(0, len(numbers), AT_ONCE):
            self._check_relations_of(numbers[begin : begin + AT_ONCE])
        if self.versions.alone:
            number = min(self.versions.alone)
            raise Broken(f"{self.name}, memory number {number}", "it is not there, and something is derived from it")

    def _check_relations_of(self, numbers: Sequence[int]) -> None:
        reader, stream, places = self._reader, self._stream, {(self._stream.number, number) for number in numbers}
        versions = [Version(*one[:4]) for number in numbers for one in reader.versions_after(stream, number - 1, 1)]
        ids = {version.id for version in versions}
        by_hand = [(entry, text) for entry, text in self._by_hand if entry.memory_id in ids]
        amendments = {entry.seq: (text, None) for entry, text in by_hand}
        stated = relations_of_stream(reader, stream, versions, [entry for entry, _ in by_hand], amendments)
        found = [one for one in reader.relations_at(stream.tenant, sorted(places))() if one.source in places]
        if stated != sorted(found):
            raise Broken(f"{self.name}, relations", "they are not those that its versions and its ledger say")

    def _check_vectors(self) -> None:
        """Check that every version with content has a vector, if the stream has any, and that no other has one."""
        stream = self._stream
        missing = self._reader.without_vector(stream, stream.generation, 0, 1) if stream.embedder else []
        if missing:
            raise Broken(f"{self.name}, memory number {missing[0][0]}", "it has content but no vector")
        stray = self._reader.stray_vectors(stream)
        if stray:
            raise Broken(f"{self.name}, memory number {stray[0]}", "it has a vector but no content")

    def _report_altered(self, entry: Entry) -> Broken:
        what = f"the content of memory {entry.memory_id} is not what was committed: it was altered"
        return self._report_broken(entry, what)

    def _report_state(self, id: str, how: str) -> Broken:
        return Broken(f"{self.name}, memory {id}", f"its current state is not what the ledger says{how}")

    def _report_broken(self, entry: Entry, what: str) -> Broken:
        return Broken(f"{self.name}, entry {entry.seq} ({entry.event})", what)


def _difference(expected: State | None, current: State) -> str:
    if expected is None:
        return ": it should not be there"
    names = [name for name, value in expected.to_dict().items() if getattr(current, name) != value]
    return f": {', '.join(names or ['number'])}"
