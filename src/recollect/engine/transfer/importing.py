"""Import the records of a file or of a program through the gates, with a report on each; a dry run works on a copy."""

import hashlib
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial as bind
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from recollect.engine import operations, retries
from recollect.engine.context import AccessCounter, Engine, visible
from recollect.engine.lifecycle.changes import was_forgotten
from recollect.engine.read.assemble import to_memory
from recollect.engine.read.meaning import Meanings
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import REJECTED_VALUE, rejections_of
from recollect.engine.transfer.entries import archive_untouched, find_entries, is_another, keep_apart, read_whole
from recollect.engine.transfer.foreign_files import ForeignLines, Named, open_source
from recollect.engine.transfer.import_terms import ImportTerms, decided_by_time
from recollect.engine.transfer.migration import copy_rows
from recollect.engine.trust.imported_signatures import ImportedSignatures, add_later_vouches
from recollect.engine.waiting import waiting_rows
from recollect.engine.write.drafting import check_concepts, parse_candidate
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Answer, Prepared, Refused, addresses_of, prepare
from recollect.formats.entries import identity_of
from recollect.formats.entry_files import NAME as ENTRIES
from recollect.formats.entry_files import Readable
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source
from recollect.formats.registry import find_readable
from recollect.model.caller import as_principal
from recollect.model.canonical import Plain, canonical_json
from recollect.model.errors import BadInput, OutcomeUnknown
from recollect.model.operation import Node, Op
from recollect.model.receipt import Receipt
from recollect.model.record import ENTRY_ORIGIN, TIME_UNKNOWN, Candidate, Memory, is_undated
from recollect.model.vocabulary import Authority, Outcome, Status
from recollect.rules.identity.rejected_values import Claim
from recollect.rules.reasons import plain
from recollect.stores.protocol import Reader, Stored
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.connections import IN_MEMORY

ROWS_IN_MEMORY = 1_000_000
"""About a gigabyte, or a hundred thousand memories."""
NOT_ASKED = ("operations", "traces", "graph_", "thread_")
"""Prefixes of the tables that no decision about a memory reads."""


@contextmanager
def open_copy(engine: Engine) -> Iterator[Engine]:
    """Yield an engine on a temporary copy of the tenant, for the same caller. What was counted stays with the original."""
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        with engine.read() as reader:
            tables = [table for table in reader.tables() if not table.name.startswith(NOT_ASKED)]
            rows = sum(reader.count_rows(engine.tenant, table) for table in tables)
            place = IN_MEMORY if rows <= ROWS_IN_MEMORY else Path(folder) / "copy.db"
            copy = SqliteStore(place, fresh_store_id=engine.store.store_id)
            for table in tables:
                for _ in copy_rows(reader, copy, engine.tenant, table):
                    pass
        # vectors of a dry run must not be taken for the store's own
        meanings = Meanings(engine.meanings.if_any(engine), engine.policy.recall.vectors_at_hand)
        with closing(replace(engine, store=copy, accesses=AccessCounter(copy), meanings=meanings)) as trying:
            yield trying


BATCH = 200
"""How many records one transaction takes in: other writers wait no longer than that."""
MAX_SHOWN = 1_000
"""How many refusals, and how many notes, a report has in full; it has the numbers of all refused records."""
GIVE_UP_AFTER = 1_000
"""After so many broken records, if they are the majority, the file is taken for one of another format."""
DELETED_HERE = "forgotten:here"
OTHERS_WORDS = "those who vouch for it were not added to the memory that says the same: it is of another author or time"
REFUSED, SKIPPED, ALREADY, SAID_BEFORE = "refused", "skipped", "already_there", "said_before"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Taken(Plain):
    """The outcome of one record: a receipt's, or ``refused``, ``skipped``, ``already_there`` or ``said_before``.

    A record ``said_before`` by somebody else, or at another time, is kept archived, and reinforced the memory here. ``note``
    says what of it could not be kept.
    """

    number: int
    place: str
    outcome: str
    reasons: tuple[str, ...] = ()
    detail: str | None = None
    memory_id: str | None = None
    note: str | None = None
    claimed: tuple[str, ...] = ()
    """The fields in which the record claims more than it was granted; ``meta.claimed`` has their values."""
    by_time: str | None = None
    """What the record's own time decided: that it is older or newer than another memory of its concept, and which."""
    vouches: int = 0
    """How many new vouches it added to a memory that was there already."""


Each = Callable[[Taken], None]


@dataclass(frozen=True, slots=True)
class ImportReport(Plain):
    """The outcomes of the records. ``numbers`` lists the records of each outcome, as ranges.

    ``file`` is empty if lines were given. ``guessed_columns`` are those that were taken for the content because no column
    was named. ``notes`` say what of an imported record could not be kept.
    """

    format: str
    file: str
    dry_run: bool
    read: int
    outcomes: dict[str, int]
    numbers: dict[str, str]
    reasons: dict[str, int]
    refused: tuple[Taken, ...]
    guessed_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    claimed: dict[str, int] = field(default_factory=dict)
    """How many records claim something that they were not granted, by field."""
    by_time: tuple[str, ...] = ()
    """Every case in which a record's own time decided which of two memories is the newer one."""
    signed_entries: dict[str, int] = field(default_factory=dict)
    """How many signed entries were imported, by what their signatures are worth here."""
    signed_vouches: dict[str, int] = field(default_factory=dict)
    vouches_added: int = 0
    """How many new vouches were added to memories that were there already."""

    @property
    def all_malformed(self) -> bool:
        """Whether not one record is of the format: perhaps the whole file is of another."""
        return self.read > 0 and self.reasons.get("malformed") == self.read


def import_source(
    engine: Engine,
    format: str,
    source: str | Path | Readable | Iterable[str],
    *,
    whole: bool = False,
    partial: bool = False,
    dry_run: bool = False,
    place: Mapping[str, Any] | None = None,
    believe: Iterable[str] = (),
    only_owner: str | None = None,
    columns: Mapping[str, str] | None = None,
    table: str | None = None,
    history: str | Path | None = None,
    progress: Progress | None = None,
    each: Each | None = None,
) -> ImportReport:
    """Import a source as :meth:`recollect.Recollect.import_` describes, in any format that can be read.

    ``place`` overrides the owner, space, namespace, scope and category of all records; ``each`` is called with the outcome of
    every record. A dry run makes every decision, on a copy of the tenant, and blocks nobody.

    A file comes from somebody else, but lines can be corrected by the caller. So a line that is no record of the format, or
    has a wrong field, is an error that names the line, and then nothing is stored.
    """
    known = find_readable(format)
    named = Named(columns, table, history)
    named.check(source, known)
    terms = ImportTerms(engine, place or {}, believe, columns or {}, only_owner)
    if whole:
        if only_owner is not None:
            raise BadInput(
                "is not for a file that is taken in as a whole.", field="only_owner", hint="Leave whole out."
            )
        if known.name != ENTRIES:
            raise BadInput("only a file of entries is taken in as a whole.", field="whole", hint="Leave it out.")
        with open_copy(engine) if dry_run else nullcontext(engine) as into:
            records = read_whole(into, terms, source, partial=partial)
            intake, tally = _Intake(into, known, "", terms), Tally(each, progress, len(records))
            return _import_records(into, intake, records, tally, dry_run)
    if partial:
        raise BadInput("is for entries that are taken in as a whole.", field="partial", hint="Give whole as well.")
    with open_source(source, known, named) as found:
        check = bind(_check_sound, engine, terms) if isinstance(found, ForeignLines) else None
        total, guessed = _read_through(known, found, terms, check)
        intake, tally = _Intake(engine, known, found.name, terms), Tally(each, progress, total, guessed)
        with open_copy(engine) if dry_run else nullcontext(engine) as into:
            return _import_records(into, intake, known.read(found), tally, dry_run)


def _import_records(
    engine: Engine, intake: "_Intake", records: Iterable[Foreign], tally: "Tally", dry_run: bool
) -> ImportReport:
    """Take the records in, batch by batch, and return the report."""
    remaining = iter(records)
    while batch := [intake.check(engine, record) for record in islice(remaining, BATCH)]:
        try:
            written = _write_batch(engine, batch)
        except OutcomeUnknown:  # the commit may have happened: a second try finds by the keys what was written
            written = _write_batch(engine, batch)
        for taken in _follow_up(engine, intake, batch, written):
            tally.note(taken)
    return tally.report(intake, dry_run)


def _read_through(
    format: Format, source: Source, terms: ImportTerms, check: Callable[[Foreign], None] | None
) -> tuple[int, tuple[str, ...]]:
    """Read everything once, so that a wrong file is an error now, and not in the middle of an import.

    ``check`` may raise for a single record, too. Return how many records there are, and which columns were guessed to hold
    their content.
    """
    read = broken = 0
    guessed: dict[str | None, None] = {}
    for record in format.read(source):
        read += 1
        guessed[record.guessed] = None
        terms.note_owner(record.fields)
        if check is not None:
            check(record)
        broken += record.refused is not None
        if broken >= GIVE_UP_AFTER and broken * 2 > read:
            raise BadInput(
                f"{broken:,} of the first {read:,} records are broken; the last: {record.refused}.",
                field=f"{source.name}, {record.place}",
                hint=f"Is it a file of the format {format.name}?",
            )
    terms.check_owners()
    return read, tuple(column for column in guessed if column is not None)


def _check_sound(engine: Engine, terms: ImportTerms, record: Foreign) -> None:
    if record.refused is not None:
        raise BadInput(f"{record.refused}.", field=record.place, hint="Put it right, or leave it out.")
    if record.skipped is not None or terms.is_another_persons(record.fields):
        return
    try:
        check_concepts(parse_candidate(engine, terms.admit(engine, record.fields).fields))
    except BadInput as error:
        place = f"{record.place}.{error.field}" if error.field else record.place
        raise BadInput(error.message, field=place, hint=error.hint) from None


class _Asked(NamedTuple):
    """A record that is to be imported, and the key under which its answer is kept."""

    record: Foreign
    candidate: Candidate
    key: str
    asked: Candidate
    """The candidate without the file's name and without vouchers: the same export may come under another name, and the same
    record with more vouchers."""
    claimed: tuple[str, ...] = ()
    vouchers: Sequence[Mapping[str, Any]] = ()
    chosen: frozenset[str] = frozenset()
    """The fields in which the command, or a believed file, states where the record goes."""

    def is_stored_as(self, memory: Memory) -> bool:
        """Return whether a memory has the record's content, and is where the record is to go."""
        candidate = self.candidate
        stated = self.chosen & candidate.model_fields_set
        same_place = all(getattr(memory, name) == getattr(candidate, name) for name in stated)
        return same_place and memory.content == candidate.content and memory.status is not Status.SOFT_DELETED

    def taken(self, outcome: str, receipt: Receipt) -> Taken:
        id = receipt.memory.id if receipt.memory is not None else None
        record, note = self.record, None if outcome == REFUSED else self.record.note
        claimed = () if outcome == REFUSED else self.claimed
        said_at = None if is_undated(self.candidate.meta) else self.asked.created_at
        decided = decided_by_time(said_at, receipt) if outcome != ALREADY else None
        return Taken(record.number, record.place, outcome, receipt.reasons, receipt.detail, id, note, claimed, decided)


class _Intake:
    """Turns the records of one import into candidates; knows the file's name and the ids that it has met."""

    def __init__(self, engine: Engine, format: Format, file: str, terms: ImportTerms) -> None:
        self.format, self.file, self._terms = format.name, file, terms
        self.signatures = ImportedSignatures(engine)
        self._seen: dict[int, int] = {}

    def check(self, engine: Engine, record: Foreign) -> _Asked | Taken:
        """Return a record as a candidate, or its outcome if it is refused or skipped."""
        if record.refused is not None:
            return _refuse(record, "malformed", record.refused)
        if record.skipped is not None:
            return Taken(record.number, record.place, SKIPPED, (), record.skipped)
        if self._terms.is_another_persons(record.fields):
            return Taken(record.number, record.place, SKIPPED, (), f"it is not of {self._terms.only_owner}")
        try:
            admitted = self._terms.admit(engine, record.fields)
            asked = self.signatures.grant_authority(parse_candidate(engine, admitted.fields))
        except BadInput as error:
            return _refuse_input(record, error)
        is_over = asked.expires_at is not None and asked.expires_at < engine.clock()
        if is_over and not record.put_away:  # a record that is archived may have expired where it comes from
            return Taken(record.number, record.place, SKIPPED, (), f"it expired: {asked.expires_at:%Y-%m-%d %H:%M} UTC")
        if (fault := self.signatures.fault(asked)) is not None:
            return _refuse(record, "signature", fault)
        vouchers, said = _without_vouchers(asked)
        key = self._key(record, said)
        if record.id is not None and self._seen.setdefault(_short(record.id), _short(key)) != _short(key):
            return _refuse(
                record, "duplicate_id", "another record of this file has the same id and says something else"
            )
        origin = {**asked.meta.get(ORIGIN, {}), **({"file": self.file} if self.file else {})}
        if (
            asked.created_at is None or not engine.caller.trusted
        ):  # a bound caller's file may not say how old its words are
            origin |= TIME_UNKNOWN
        candidate = asked.model_copy(update={"meta": {**asked.meta, ORIGIN: origin}}) if origin else asked
        return _Asked(record, candidate, key, said, admitted.claimed, vouchers, self._terms.chosen)

    def add_vouches(self, engine: Engine, one: _Asked, here: Memory, became: Taken) -> Taken:
        """Add a record's vouches to the memory that it is; a memory of another author or time gets none of them."""
        if not one.vouchers or not engine.caller.trusted:
            return became
        asked = one.asked
        is_same = asked.author is not None and (here.content, as_principal(here.author.id), here.created_at) == (
            asked.content,
            as_principal(asked.author.id),
            asked.created_at,
        )
        if not is_same:
            return replace(became, note=became.note or OTHERS_WORDS)
        added = add_later_vouches(engine, here, one.vouchers, self.signatures)
        refused = f"{added.detail} ({added.reason})" if added.reason is not None else None
        return replace(became, vouches=added.vouches, note=became.note or refused)

    def _key(self, record: Foreign, asked: Candidate) -> str:
        """Return the key of a record, the same in every copy of the file: by its id, or else by its place."""
        said = asked.model_dump(mode="json", exclude_unset=True)
        name = record.id if record.id is not None else record.number
        text = canonical_json([self.format, name, said])
        return f"import:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _without_vouchers(asked: Candidate) -> tuple[Sequence[Mapping[str, Any]], Candidate]:
    """Return a record's vouchers, and the candidate without them."""
    origin = asked.meta.get(ENTRY_ORIGIN)
    if not isinstance(origin, Mapping) or not origin.get("vouchers"):
        return (), asked
    rest = {name: value for name, value in origin.items() if name != "vouchers"}
    return origin["vouchers"], asked.model_copy(update={"meta": {**asked.meta, ENTRY_ORIGIN: rest}})


def _short(text: str) -> int:
    """Return eight bytes that stand for a text: a million ids take a few dozen megabytes."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _refuse(record: Foreign, code: str, detail: str) -> Taken:
    return Taken(record.number, record.place, REFUSED, (code,), detail)


def _refuse_input(record: Foreign, error: BadInput) -> Taken:
    return _refuse(record, "bad_input", f"{error.field}: {error.message}" if error.field else error.message)


def _follow_up(
    engine: Engine, intake: _Intake, batch: Sequence[_Asked | Taken], taken: Sequence[Taken]
) -> Iterator[Taken]:
    """Archive history, keep an entry apart that only reinforced another one, and add new vouches; yield the outcomes.

    After an interruption this is done again for records that are already there.
    """
    for one, became in zip(batch, taken, strict=True):
        if not isinstance(one, _Asked) or became.memory_id is None or became.outcome == REFUSED:
            yield became
            continue
        if became.outcome in (str(Outcome.REINFORCED), ALREADY) and (one.record.entry is not None or one.vouchers):
            became = _merge_entry(engine, intake, one, became)
        if one.record.put_away and became.outcome not in (SAID_BEFORE, REFUSED):
            archive_untouched(engine, [became.memory_id or ""], one.candidate.authority or Authority.AI_INFERRED)
        yield became


def _merge_entry(engine: Engine, intake: _Intake, one: _Asked, became: Taken) -> Taken:
    """Add the vouches of a record to the memory that it is, or keep an entry apart that another memory says already."""
    with engine.read() as reader:
        stored = reader.by_ids(engine.tenant, [became.memory_id or ""]).get(became.memory_id or "")
    if stored is None or stored.body is None:
        return became
    here, entry = to_memory(stored), one.record.entry
    if entry is None or not is_another(engine, here, entry):
        return intake.add_vouches(engine, one, here, became)
    known = find_entries(engine, [entry], here).get(identity_of(entry))
    if known is not None:
        return intake.add_vouches(engine, one, known, replace(became, outcome=ALREADY, memory_id=known.id))
    receipt = keep_apart(engine, entry, one.candidate.model_dump(exclude_unset=True))
    return one.taken(REFUSED if receipt.denied else SAID_BEFORE, receipt)


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _write_batch(engine: Engine, batch: Sequence[_Asked | Taken]) -> list[Taken]:
    """Write a batch in one transaction; return the outcomes."""
    own = _find_own(engine, [one for one in batch if isinstance(one, _Asked)])
    answers = [(None, one) if isinstance(one, Taken) else _answer(engine, one, own) for one in batch]
    waiting_rows(engine).flush_traces(engine.tenant)
    with engine.write(addresses_of(answer for _, answer in answers if isinstance(answer, Prepared))) as writer:
        writing = Writing(engine, writer)
        taken = [_settle(writing, one, answer) for one, answer in answers]
        writing.finish()
        return taken


_Answered = tuple[_Asked | None, Answer | Taken]


def _find_own(engine: Engine, batch: Sequence[_Asked]) -> dict[str, Taken]:
    """Return the outcomes of the records of a batch that this store exported itself, by their keys.

    A record whose memory was deleted since is refused: a file does not bring it back. A record is a memory's own if it
    has the same content and the same place.
    """
    ids = sorted({alias for one in batch for alias in one.candidate.aliases})
    entries = [one.record.entry for one in batch if one.record.entry is not None]
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, ids)
        deleted = {id: _why_deleted(engine, reader, one) for id, one in found.items()}
        there = {id: one for id, one in found.items() if deleted[id] is None and one.body is not None}
        seen = {id: to_memory(one) for id, one in there.items() if visible(engine, reader, one)}
    alike = find_entries(engine, entries) if entries else {}
    decided: dict[str, Taken] = {}
    for one in batch:
        record, aliases = one.record, one.candidate.aliases
        why = next((deleted[alias] for alias in aliases if deleted.get(alias) is not None), None)
        entry = [alike.get(identity_of(record.entry))] if record.entry is not None else []
        known = [memory for memory in (*map(seen.get, aliases), *entry) if memory is not None]
        same = next((memory.id for memory in known if one.is_stored_as(memory)), None)
        if why is not None:
            decided[one.key] = _refuse(record, why, plain(why))
        elif same is not None:
            decided[one.key] = Taken(record.number, record.place, ALREADY, memory_id=same)
    return decided


def _why_deleted(engine: Engine, reader: Reader, stored: Stored) -> str | None:
    """Return why a deleted memory does not come back, its value is rejected or it was forgotten; ``None`` if it is there."""
    state = stored.state
    was_deleted = state.status is Status.SOFT_DELETED and was_forgotten(reader, engine.tenant, state.id)
    if not was_deleted and not state.removed:
        return None
    address = reader.stream_numbered(engine.tenant, stored.stream).address
    if stored.body is None or address is None:
        return DELETED_HERE
    claim = Claim.of_memory(address, stored.body, stored.state.canonical_key)
    return REJECTED_VALUE if rejections_of(engine, reader, claim) else DELETED_HERE


def _answer(engine: Engine, one: _Asked, own: Mapping[str, Taken]) -> _Answered:
    """Return the gates' answer to a record, unless this store knows it as its own."""
    if one.key in own:
        return None, own[one.key]
    try:
        return one, prepare(engine, one.candidate)
    except BadInput as error:
        return None, _refuse_input(one.record, error)


def _settle(writing: Writing, one: _Asked | None, answer: Answer | Taken) -> Taken:
    """Act on an answer within the transaction, and return the outcome of its record."""
    if isinstance(answer, Taken):
        return answer
    assert one is not None, "an answer of the gates is to a record"
    if isinstance(answer, Refused):
        return one.taken(REFUSED, writing.write(answer))
    earlier = retries.earlier_answer(writing.engine, writing.writer, one.key, one.asked)
    if earlier is not None:
        return one.taken(ALREADY, earlier)
    receipt = writing.write(answer)
    retries.keep_answer(writing.engine, writing.writer, one.key, receipt, writing.at, one.asked)
    return one.taken(REFUSED if receipt.denied else str(receipt.outcome), receipt)


def _as_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as ranges.

    >>> _as_ranges([3, 1, 2, 7])
    '1-3, 7'
    """
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number <= ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{low}-{high}" if high > low else str(low) for low, high in ranges)


@dataclass(slots=True)
class Tally:
    """Counts the outcomes of the records."""

    each: Each | None
    progress: Progress | None
    total: int
    guessed: tuple[str, ...] = ()
    read: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    numbers: "dict[str, array[int]]" = field(default_factory=dict)
    refused: list[Taken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    claimed: Counter[str] = field(default_factory=Counter)
    by_time: list[str] = field(default_factory=list)
    vouches: int = 0

    def note(self, taken: Taken) -> None:
        self.read += 1
        self.outcomes[taken.outcome] += 1
        self.claimed.update(taken.claimed)
        self.vouches += taken.vouches
        self.numbers.setdefault(taken.outcome, array("Q")).append(taken.number)
        if taken.outcome == REFUSED:
            self.reasons[taken.reasons[0]] += 1
            if len(self.refused) < MAX_SHOWN:
                self.refused.append(taken)
        if taken.note is not None and len(self.notes) < MAX_SHOWN:
            self.notes.append(f"record {taken.number} ({taken.place}): {taken.note}")
        if taken.by_time is not None:
            self.by_time.append(f"record {taken.number} ({taken.place}): {taken.by_time}")
        if self.each is not None:
            self.each(taken)
        if self.progress is not None:
            self.progress(self.read, self.total)

    def report(self, intake: _Intake, dry_run: bool) -> ImportReport:
        numbers = {outcome: _as_ranges(found) for outcome, found in sorted(self.numbers.items())}
        return ImportReport(
            format=intake.format,
            file=intake.file,
            dry_run=dry_run,
            read=self.read,
            outcomes=_in_order(self.outcomes),
            numbers=numbers,
            reasons=_in_order(self.reasons),
            refused=tuple(self.refused),
            guessed_columns=self.guessed,
            notes=tuple(self.notes),
            claimed=_in_order(self.claimed),
            by_time=tuple(self.by_time),
            signed_entries=_in_order(intake.signatures.entries),
            signed_vouches=_in_order(intake.signatures.vouches),
            vouches_added=self.vouches,
        )


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))
