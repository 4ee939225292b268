"""Move in: every record of a file or of a program through the gates, with a report on each; a dry run on a copy."""

import hashlib
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
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
from recollect.engine.transfer.entries import archive_untouched, here_already, keep_apart, read_whole, says_it_already
from recollect.engine.transfer.foreign_files import NOTHING, Beside, ForeignLines, opened
from recollect.engine.transfer.import_terms import ImportTerms, decided_by_time
from recollect.engine.transfer.migration import copy_rows
from recollect.engine.trust.imported_signatures import ImportedSignatures, add_later_vouches
from recollect.engine.waiting import waiting
from recollect.engine.write.drafting import check_concepts, parse_candidate
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Answer, Prepared, Refused, addresses_of, prepare
from recollect.formats.entries import identity_of
from recollect.formats.entry_files import NAME as ENTRIES
from recollect.formats.entry_files import Readable
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.formats.registry import to_read
from recollect.model.caller import as_principal
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, OutcomeUnknown
from recollect.model.operation import Node, Op
from recollect.model.receipt import Plain, Receipt
from recollect.model.record import ENTRY_ORIGIN, Candidate, Memory
from recollect.model.vocabulary import Authority, Outcome, Status
from recollect.rules.identity.rejected_values import Claim
from recollect.rules.reasons import plain
from recollect.stores.protocol import Reader, Stored
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.connections import IN_MEMORY

ROWS_IN_MEMORY = 1_000_000
"""About a gigabyte, or a hundred thousand memories."""
NOT_ASKED = ("operations", "traces", "graph_", "thread_")
"""The beginnings of the names of tables that no decision about a memory looks into."""


@contextmanager
def rehearsed(engine: Engine) -> Iterator[Engine]:
    """The same memory through the same caller's eyes, to be written to at will. What was counted stays with the original."""
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder, closing(_copied(engine, Path(folder))) as trying:
        yield trying


def _copied(engine: Engine, folder: Path) -> Engine:
    with engine.read() as reader:
        tables = [table for table in reader.tables() if not table.name.startswith(NOT_ASKED)]
        rows = sum(reader.count_rows(engine.tenant, table) for table in tables)
        place = IN_MEMORY if rows <= ROWS_IN_MEMORY else folder / "copy.db"
        copy = SqliteStore(place, fresh_store_id=engine.store.store_id)
        for table in tables:
            for _ in copy_rows(reader, copy, engine.tenant, table):
                pass
    # vectors of what is only tried out must not be taken for the store's own
    meanings = Meanings(engine.meanings.if_any(engine), engine.policy.recall.vectors_at_hand)
    return replace(engine, store=copy, accesses=AccessCounter(copy), meanings=meanings)


BATCH = 200
"""How many records one transaction takes in: others who write wait no longer than that."""
MAX_SHOWN = 1_000
"""How many refusals, and how many notes, a report tells in full; the numbers of all that were refused are in it."""
GIVE_UP_AFTER = 1_000
"""So many broken records, and more broken than whole ones, are not a file of this format."""
DELETED_HERE = "forgotten:here"
OTHERS_WORDS = "those who vouch for it were not added to the memory that says the same: it is of another author or time"
REFUSED, SKIPPED, ALREADY, SAID_BEFORE = "refused", "skipped", "already_there", "said_before"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Taken(Plain):
    """What became of one record. ``outcome`` is a receipt's, or ``refused``, ``skipped``, ``already_there`` or ``said_before``.

    What was ``said_before`` by somebody else, or at another time, is kept archived, and reinforced what is here. ``note``
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
    """The fields in which the record says more of its own standing than it was granted; ``meta.claimed`` has their values."""
    by_time: str | None = None
    """What its own time decided: whether it is older or newer than another memory of its concept, and which."""
    vouches: int = 0
    """How many new vouches it added to a memory that was there already."""


Each = Callable[[Taken], None]


@dataclass(frozen=True, slots=True)
class ImportReport(Plain):
    """What became of the records. ``numbers`` names every one of them, as ranges, under its outcome.

    ``file`` is empty where lines were given. ``guessed_columns`` are those whose words were taken for the content, where
    nobody said which column holds it. ``notes`` say what of a record that came in could not be kept.
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
    """How many records claim a standing that they were not granted, by field."""
    by_time: tuple[str, ...] = ()
    """Every case in which a record's own time decided which of two memories is the newer one."""
    signed_entries: dict[str, int] = field(default_factory=dict)
    """How many signed entries came in as a whole, by what their signatures are worth here."""
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
    columns: Mapping[str, str] | None = None,
    beside: Beside = NOTHING,
    progress: Progress | None = None,
    each: Each | None = None,
) -> ImportReport:
    """Import a file, by its path or a server's URL, or the lines of a program, in any format that can be read.

    ``place`` is the owner, space, namespace, scope and category of all records, whatever they say themselves. What a record
    says of its own standing is kept as a claim, unless the caller says what to ``believe``: ``place``, ``weight``.
    ``columns`` says which column holds what, for formats that have a map; ``beside`` names a server's table and a history.
    ``each`` is called with what became of every record. A dry run decides everything for real, on a copy of the tenant;
    nobody waits for it.

    A file comes from somebody else; lines can be put right by the caller. So a line that is no record of the format, or has a
    field that makes no sense, is an error that names the line, and then nothing is stored.

    ``whole`` is for entries: nothing is stored unless all of them are sound, and versions are chained. With ``partial`` their
    parents may be elsewhere.
    """
    known = to_read(format)
    mapped = column_options(known, columns)
    terms = ImportTerms(engine, place or {}, believe, mapped.columns)
    if whole:
        if known.name != ENTRIES:
            raise BadInput("only a file of entries is taken in as a whole.", field="whole", hint="Leave it out.")
        with _trying(engine, dry_run) as into:
            records = read_whole(into, terms, source, partial=partial)
            intake, tally = _Intake(into, known, "", terms), Tally(each, progress, len(records))
            return _import_records(into, intake, records, tally, dry_run)
    if partial:
        raise BadInput("is for entries that are taken in as a whole.", field="partial", hint="Give whole as well.")
    with opened(source, known, beside) as found:
        check = bind(_must_be_sound, engine, terms) if isinstance(found, ForeignLines) else None
        total, guessed = _read_through(known, found, mapped, terms, check)
        intake, tally = _Intake(engine, known, found.name, terms), Tally(each, progress, total, guessed)
        with _trying(engine, dry_run) as into:
            return _import_records(into, intake, known.read(found, mapped), tally, dry_run)


def _trying(engine: Engine, dry_run: bool) -> AbstractContextManager[Engine]:
    """Return the engine that takes the records in: for a dry run, one on a copy of the tenant."""
    return rehearsed(engine) if dry_run else nullcontext(engine)


def _import_records(
    engine: Engine, intake: "_Intake", records: Iterable[Foreign], tally: "Tally", dry_run: bool
) -> ImportReport:
    """Take the records in, batch by batch, and return the report."""
    wanted = iter(records)
    while batch := [intake.asked(engine, record) for record in islice(wanted, BATCH)]:
        for taken in _for_the_record(engine, intake, batch, _surely_kept(engine, batch)):
            tally.note(taken)
    return tally.report(intake, dry_run)


def column_options(format: Format, columns: Mapping[str, str] | None) -> Options:
    """Return what the user said of columns, for a format that has any."""
    if columns and not format.mapped:
        raise BadInput(f"{format.name} has no columns to map.", field="map", hint="csv and jsonl have.")
    return Options(dict(columns or {}))


def _read_through(
    format: Format, source: Source, options: Options, terms: ImportTerms, check: Callable[[Foreign], None] | None
) -> tuple[int, tuple[str, ...]]:
    """Read everything once. What is wrong with the file is an error now, and not in the middle of an import.

    ``check`` may raise for a single record, too. The answer is how many records there are, and which columns were guessed
    to hold their words.
    """
    read = broken = 0
    guessed: dict[str | None, None] = {}
    for record in format.read(source, options):
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
    return read, tuple(column for column in guessed if column is not None)


def _must_be_sound(engine: Engine, terms: ImportTerms, record: Foreign) -> None:
    if record.refused is not None:
        raise BadInput(f"{record.refused}.", field=record.place, hint="Put it right, or leave it out.")
    if record.skipped is not None:
        return
    try:
        check_concepts(parse_candidate(engine, terms.admit(engine, record.fields).fields))
    except BadInput as error:
        place = f"{record.place}.{error.field}" if error.field else record.place
        raise BadInput(error.message, field=place, hint=error.hint) from None


class _Asked(NamedTuple):
    """A record that asks to be remembered, and the key under which its answer is kept."""

    record: Foreign
    candidate: Candidate
    key: str
    asked: Candidate
    """The candidate without the name of the file, and without those who vouch for it: the same export may be saved under
    another name, and the same record may come with more of them."""
    claimed: tuple[str, ...] = ()
    vouchers: Sequence[Mapping[str, Any]] = ()
    chosen: frozenset[str] = frozenset()
    """The fields in which the command, or a believed file, says where the record goes."""

    def is_stored_as(self, memory: Memory) -> bool:
        """Return whether a memory has these words, and lies where the record is to go."""
        candidate = self.candidate
        stated = self.chosen & candidate.model_fields_set
        same_place = all(getattr(memory, name) == getattr(candidate, name) for name in stated)
        return same_place and memory.content == candidate.content and memory.status is not Status.SOFT_DELETED

    def taken(self, outcome: str, receipt: Receipt) -> Taken:
        id = receipt.memory.id if receipt.memory is not None else None
        record, note = self.record, None if outcome == REFUSED else self.record.note
        claimed = () if outcome == REFUSED else self.claimed
        decided = decided_by_time(self.asked.created_at, receipt) if outcome != ALREADY else None
        return Taken(record.number, record.place, outcome, receipt.reasons, receipt.detail, id, note, claimed, decided)


class _Intake:
    """What one import knows of the records before: the file's name, if it has one, and which ids it has met."""

    def __init__(self, engine: Engine, format: Format, file: str, terms: ImportTerms) -> None:
        self.format, self.file, self._terms = format.name, file, terms
        self.signatures = ImportedSignatures(engine)
        self._seen: dict[int, int] = {}

    def asked(self, engine: Engine, record: Foreign) -> _Asked | Taken:
        """Return a record as a candidate, or what is wrong with it."""
        if record.refused is not None:
            return Taken(record.number, record.place, REFUSED, ("malformed",), record.refused)
        if record.skipped is not None:
            return Taken(record.number, record.place, SKIPPED, (), record.skipped)
        try:
            admitted = self._terms.admit(engine, record.fields)
            asked = self.signatures.grant_authority(parse_candidate(engine, admitted.fields))
        except BadInput as error:
            return _bad(record, error)
        is_over = asked.expires_at is not None and asked.expires_at < engine.clock()
        if is_over and not record.put_away:  # what is kept for the record only may be over where it comes from
            return Taken(record.number, record.place, SKIPPED, (), f"it expired: {asked.expires_at:%Y-%m-%d %H:%M} UTC")
        if (fault := self.signatures.fault(asked)) is not None:
            return Taken(record.number, record.place, REFUSED, ("signature",), fault)
        vouchers, said = _without_vouchers(asked)
        key = self._key(record, said)
        if record.id is not None and self._seen.setdefault(_short(record.id), _short(key)) != _short(key):
            why = "another record of this file has the same id and says something else"
            return Taken(record.number, record.place, REFUSED, ("duplicate_id",), why)
        came = {**asked.meta.get(ORIGIN, {}), **({"file": self.file} if self.file else {})}
        candidate = asked.model_copy(update={"meta": {**asked.meta, ORIGIN: came}}) if came else asked
        return _Asked(record, candidate, key, said, admitted.claimed, vouchers, self._terms.chosen)

    def vouched_since(self, engine: Engine, one: _Asked, here: Memory, became: Taken) -> Taken:
        """Add those who vouch for a record to the memory that it is; to one of another author or time, none of them."""
        if not one.vouchers or not engine.caller.trusted:
            return became
        if not _is_that(here, one.asked):
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
    """Return those who vouch for a record elsewhere, and the candidate without them."""
    origin = asked.meta.get(ENTRY_ORIGIN)
    if not isinstance(origin, Mapping) or not origin.get("vouchers"):
        return (), asked
    rest = {name: value for name, value in origin.items() if name != "vouchers"}
    return origin["vouchers"], asked.model_copy(update={"meta": {**asked.meta, ENTRY_ORIGIN: rest}})


def _is_that(here: Memory, asked: Candidate) -> bool:
    """Return whether a memory is this record: the same words of the same author at the same time."""
    if asked.author is None or asked.created_at is None:
        return False
    said = asked.content, as_principal(asked.author.id), asked.created_at
    return (here.content, as_principal(here.author.id), here.created_at) == said


def _short(text: str) -> int:
    """Eight bytes that stand for a text: a million ids are remembered in a few dozen megabytes."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _bad(record: Foreign, error: BadInput) -> Taken:
    detail = f"{error.field}: {error.message}" if error.field else error.message
    return Taken(record.number, record.place, REFUSED, ("bad_input",), detail)


def _for_the_record(
    engine: Engine, intake: _Intake, batch: Sequence[_Asked | Taken], taken: Sequence[Taken]
) -> Iterator[Taken]:
    """Archive what is history, keep an entry apart that only reinforced another one, add new vouches; yield what became of each.

    After an interruption, what is already there is seen to again.
    """
    for one, became in zip(batch, taken, strict=True):
        if not isinstance(one, _Asked) or became.memory_id is None or became.outcome == REFUSED:
            yield became
            continue
        if became.outcome in (str(Outcome.REINFORCED), ALREADY) and (one.record.entry is not None or one.vouchers):
            became = _met_again(engine, intake, one, became)
        if one.record.put_away and became.outcome not in (SAID_BEFORE, REFUSED):
            archive_untouched(engine, [became.memory_id or ""], one.candidate.authority or Authority.AI_INFERRED)
        yield became


def _met_again(engine: Engine, intake: _Intake, one: _Asked, became: Taken) -> Taken:
    with engine.read() as reader:
        stored = reader.by_ids(engine.tenant, [became.memory_id or ""]).get(became.memory_id or "")
    if stored is None or stored.body is None:
        return became
    here, entry = to_memory(stored), one.record.entry
    if entry is None or not says_it_already(engine, here, entry):
        return intake.vouched_since(engine, one, here, became)
    beside = here_already(engine, [entry], here).get(identity_of(entry))
    if beside is not None:
        return intake.vouched_since(engine, one, beside, replace(became, outcome=ALREADY, memory_id=beside.id))
    receipt = keep_apart(engine, entry, one.candidate.model_dump(exclude_unset=True))
    return one.taken(REFUSED if receipt.denied else SAID_BEFORE, receipt)


def _surely_kept(engine: Engine, batch: Sequence[_Asked | Taken]) -> list[Taken]:
    """Keep a batch, and again if its commit got no answer: the keys tell what took place."""
    try:
        return _kept(engine, batch)
    except OutcomeUnknown:
        return _kept(engine, batch)


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _kept(engine: Engine, batch: Sequence[_Asked | Taken]) -> list[Taken]:
    own = _look_up_own(engine, [one for one in batch if isinstance(one, _Asked)])
    answers = [(None, one) if isinstance(one, Taken) else _answer(engine, one, own) for one in batch]
    waiting(engine).flush_traces(engine.tenant)
    with engine.write(addresses_of(answer for _, answer in answers if isinstance(answer, Prepared))) as writer:
        writing = Writing(engine, writer)
        taken = [_settle(writing, one, answer) for one, answer in answers]
        writing.finish()
        return taken


_Answered = tuple[_Asked | None, Answer | Taken]


def _look_up_own(engine: Engine, batch: Sequence[_Asked]) -> dict[str, Taken]:
    """Return what becomes of the records of a batch that this store exported itself, by their keys.

    One whose memory was deleted since is refused: a file does not bring it back. One whose memory says the same, where the
    record is to go, is that memory.
    """
    ids = sorted({alias for one in batch for alias in one.candidate.aliases})
    told = [one.record.entry for one in batch if one.record.entry is not None]
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, ids)
        gone = {id: _why_deleted(engine, reader, one) for id, one in found.items() if _is_deleted(engine, reader, one)}
        there = {id: one for id, one in found.items() if id not in gone and one.body is not None}
        seen = {id: to_memory(one) for id, one in there.items() if visible(engine, reader, one)}
    alike = here_already(engine, told) if told else {}
    decided: dict[str, Taken] = {}
    for one in batch:
        record, aliases = one.record, one.candidate.aliases
        why = next((gone[alias] for alias in aliases if alias in gone), None)
        entry = [alike.get(identity_of(record.entry))] if record.entry is not None else []
        known = [memory for memory in (*map(seen.get, aliases), *entry) if memory is not None]
        same = next((memory.id for memory in known if one.is_stored_as(memory)), None)
        if why is not None:
            decided[one.key] = Taken(record.number, record.place, REFUSED, (why,), plain(why))
        elif same is not None:
            decided[one.key] = Taken(record.number, record.place, ALREADY, memory_id=same)
    return decided


def _is_deleted(engine: Engine, reader: Reader, stored: Stored) -> bool:
    state = stored.state
    put_away = state.status is Status.SOFT_DELETED and was_forgotten(reader, engine.tenant, state.id)
    return put_away or bool(state.removed)


def _why_deleted(engine: Engine, reader: Reader, stored: Stored) -> str:
    """Return the reason for which a deleted memory does not come back: its value is rejected, or else it was forgotten."""
    address = reader.stream_numbered(engine.tenant, stored.stream).address
    if stored.body is None or address is None:
        return DELETED_HERE
    claim = Claim.of_memory(address, stored.body, stored.state.canonical_key)
    return REJECTED_VALUE if rejections_of(engine, reader, claim) else DELETED_HERE


def _answer(engine: Engine, one: _Asked, own: Mapping[str, Taken]) -> _Answered:
    """Return what the gates say to a record, unless this store knows it as its own."""
    if one.key in own:
        return None, own[one.key]
    try:
        return one, prepare(engine, one.candidate)
    except BadInput as error:
        return None, _bad(one.record, error)


def _settle(writing: Writing, one: _Asked | None, answer: Answer | Taken) -> Taken:
    """Act on an answer within the transaction, and say what became of its record."""
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
    """Counts what became of the records as they pass."""

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
