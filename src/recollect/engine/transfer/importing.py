"""Move in: every record of a file or of a program through the gates, with a report on each; a dry run on a copy."""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from recollect.engine import operations, retries
from recollect.engine.context import AccessCounter, Engine, visible
from recollect.engine.lifecycle.changes import archive, was_forgotten
from recollect.engine.read.assemble import to_memory
from recollect.engine.read.meaning import Meanings
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import REJECTED_VALUE, rejections_of
from recollect.engine.transfer.foreign_files import NOTHING, Beside, ForeignLines, opened
from recollect.engine.transfer.import_terms import ImportTerms, decided_by_time
from recollect.engine.trust.imported_signatures import ImportedSignatures, add_later_vouches
from recollect.engine.waiting import waiting
from recollect.engine.write.drafting import check_concepts, parse_candidate
from recollect.engine.write.ingest import Writing, add
from recollect.engine.write.preparing import Answer, Prepared, Refused, addresses_of, prepare
from recollect.formats.entries import Identity, identity_of, kept_apart, to_entry
from recollect.formats.entry_files import Readable
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.formats.registry import to_read
from recollect.model.caller import as_principal
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, OutcomeUnknown
from recollect.model.operation import Node, Op
from recollect.model.receipt import Plain, Receipt
from recollect.model.record import ENTRY_ORIGIN, Candidate, Memory
from recollect.model.vocabulary import Kind, Outcome, Space, Status
from recollect.rules.identity.rejected_values import Claim
from recollect.rules.reasons import plain
from recollect.rules.trust.authority import DEFAULT_OWNER
from recollect.stores.protocol import NO_LIMIT, Reader, Store, Stored, Table, Writer
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.connections import IN_MEMORY


def says_it_already(engine: Engine, memory: Memory, entry: Mapping[str, Any]) -> bool:
    """Return whether a memory that an entry reinforced is another one: the same, by somebody else or of another time.

    A bound caller brings no time of its own, so that nobody could tell the next time that its entry is here already.
    """
    return engine.caller.trusted and identity_of(to_entry(memory)) != identity_of(entry)


def here_already(
    engine: Engine, entries: Iterable[Mapping[str, Any]], beside: Memory | None = None
) -> dict[Identity, Memory]:
    """Return those of these entries that are here, as far as the caller may see; or lie where another memory lies."""
    hashes = sorted({str(entry["content_hash"]) for entry in entries})
    with engine.read() as reader:
        found = reader.with_hashes(engine.tenant, hashes, engine.selecting(), NO_LIMIT)
        seen = [to_memory(stored) for stored in found if stored.body is not None and visible(engine, reader, stored)]
    return {identity_of(to_entry(one)): one for one in seen if beside is None or _place_of(one) == _place_of(beside)}


def _place_of(memory: Memory) -> tuple[str, str, str]:
    return memory.namespace, memory.space, memory.owner


def keep_apart(engine: Engine, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> Receipt:
    """Keep who said it and when in a record of its own. It is archived: what was said twice is recalled once."""
    receipt = add(engine, kept_apart(entry, fields))
    if receipt.memory is not None and not receipt.denied:
        archive_untouched(engine, [receipt.memory.id])
    return receipt


def archive_untouched(engine: Engine, ids: Iterable[str]) -> None:
    """Archive those of these memories that are active as they were stored; whoever brought one back since wants it."""
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, sorted(set(ids)))
        active = {id: stored for id, stored in found.items() if stored.state.status is Status.ACTIVE}
        stored_at = {id: reader.entries_about(engine.tenant, id)[0].at for id in active}
    for id, stored in active.items():
        if stored.state.last_modified == stored_at[id]:
            archive(engine, id)


ROWS_IN_MEMORY = 1_000_000
"""About a gigabyte, or a hundred thousand memories."""
REHEARSAL_BATCH = 1_000
NOT_ASKED = ("operations", "traces", "graph_", "thread_")
"""The beginnings of the names of tables that no decision about a memory looks into."""


@contextmanager
def rehearsed(engine: Engine) -> Iterator[Engine]:
    """The same memory through the same caller's eyes, to be written to at will. What was counted stays with the original."""
    with (
        tempfile.TemporaryDirectory(prefix="recollect-") as folder,
        closing(_with_store(engine, _copied(engine, Path(folder)))) as trying,
    ):
        yield trying


def _copied(engine: Engine, folder: Path) -> Store:
    with engine.read() as reader:
        tables = [table for table in reader.tables() if not table.name.startswith(NOT_ASKED)]
        rows = sum(reader.count_rows(engine.tenant, table) for table in tables)
        place = IN_MEMORY if rows <= ROWS_IN_MEMORY else folder / "copy.db"
        copy = SqliteStore(place, fresh_store_id=engine.store.store_id)
        for table in tables:
            _copy(reader, copy, engine.tenant, table)
    return copy


def _copy(reader: Reader, copy: Store, tenant: str, table: Table) -> None:
    places = [table.columns.index(column) for column in table.key]
    after: tuple[object, ...] | None = None
    while batch := reader.rows_after(tenant, table, after, REHEARSAL_BATCH):
        with copy.write(tenant) as writer:
            writer.put_rows(table, batch)
        after = tuple(batch[-1][place] for place in places)


def _with_store(engine: Engine, copy: Store) -> Engine:
    """Vectors of what is only tried out must not be taken for the store's own."""
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

VALIDATE = "`recollect entry validate` checks the file."

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
    source: str | Path | Readable | Iterable[str],
    *,
    format: str,
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
    """Bring in a file, by its path or a server's URL, or a program's lines, in any format that can be read.

    ``whole`` is for entries: nothing is stored unless all of them are sound, and versions are chained. With ``partial`` their
    parents may be elsewhere.
    """
    if whole:
        from recollect.engine.transfer.entries import import_entries
        from recollect.formats.entry_files import NAME

        if format != NAME:
            raise BadInput("only a file of entries is taken in as a whole.", field="whole", hint="Leave it out.")
        if dry_run:
            raise BadInput("a file that is taken in as a whole has no dry run.", field="dry_run", hint=VALIDATE)
        return import_entries(engine, source, place=place or {}, partial=partial, believe=believe)
    if partial:
        raise BadInput("is for entries that are taken in as a whole.", field="partial", hint="Give whole as well.")
    if isinstance(source, str | Path):
        return import_file(
            engine,
            format,
            source,
            dry_run=dry_run,
            columns=columns,
            beside=beside,
            options=place,
            believe=believe,
            progress=progress,
            each=each,
        )
    if dry_run or columns or beside != NOTHING or each is not None:
        raise BadInput("lines of text are read as they are.", field="source", hint="Give a path for these options.")
    return import_lines(engine, format, lines_of(source), place, believe)


def import_file(
    engine: Engine,
    format: str,
    path: str | Path,
    *,
    dry_run: bool = False,
    columns: Mapping[str, str] | None = None,
    beside: Beside = NOTHING,
    options: Mapping[str, Any] | None = None,
    believe: Iterable[str] = (),
    progress: Progress | None = None,
    each: Each | None = None,
) -> ImportReport:
    """Bring a file in, or with ``dry_run`` find out what would become of it.

    ``columns`` says which column holds what, for formats that have a map; ``beside`` names a server's table and a history;
    ``options`` are the owner, space, namespace, scope and category of all records, whatever they say themselves. What the
    file says of its own standing is kept as a claim, unless somebody says what to ``believe``: ``place``, ``weight``.
    ``each`` is told of every record. A dry run decides everything for real, on a copy of the tenant; nobody waits for it.
    """
    known = to_read(format)
    mapped = column_options(known, columns)
    terms = ImportTerms(engine, options or {}, believe, mapped.columns)
    with opened(path, known, beside) as source:
        total, guessed = _read_through(known, source, mapped, terms)
        tally = Tally(each, progress, total)
        for taken in _taken(engine, _Intake(engine, known, source, terms), known.read(source, mapped), dry_run):
            tally.note(taken)
        return tally.report(known.name, source.name, guessed, dry_run)


def import_lines(
    engine: Engine,
    format: str,
    lines: Iterable[str],
    options: Mapping[str, Any] | None = None,
    believe: Iterable[str] = (),
) -> ImportReport:
    """Bring in what a program has as lines of text, the same way as a file.

    Unlike a file from elsewhere, the lines can be put right by whoever gives them: one that is no record of the format, or
    has a field that makes no sense, is an error that names the line, and then nothing is stored at all.
    """
    known, terms = to_read(format), ImportTerms(engine, options or {}, believe)
    source = ForeignLines(lines)
    total, guessed = _read_through(known, source, Options(), terms, partial(_must_be_sound, engine, terms))
    tally = Tally(None, None, total)
    for taken in _taken(engine, _Intake(engine, known, source, terms), known.read(source, Options())):
        tally.note(taken)
    return tally.report(known.name, source.name, guessed)


def lines_of(source: Readable | Iterable[str]) -> Iterable[str]:
    """Return an open file, or any lines, line by line."""
    return iter(source.readline, "") if isinstance(source, Readable) else source


def column_options(format: Format, columns: Mapping[str, str] | None) -> Options:
    """Return what the user said of columns, for a format that has any."""
    if columns and not format.mapped:
        raise BadInput(f"{format.name} has no columns to map.", field="map", hint="csv and jsonl have.")
    return Options(dict(columns or {}))


# ── before anything is stored ───────────────────────────────────────────────────────────────────────────────────


def _read_through(
    format: Format,
    source: Source,
    options: Options,
    terms: ImportTerms,
    check: Callable[[Foreign], None] | None = None,
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


# ── one record ──────────────────────────────────────────────────────────────────────────────────────────────────


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

    def taken(self, outcome: str, receipt: Receipt) -> Taken:
        id = receipt.memory.id if receipt.memory is not None else None
        record, note = self.record, None if outcome == REFUSED else self.record.note
        claimed = () if outcome == REFUSED else self.claimed
        decided = decided_by_time(self.asked.created_at, receipt) if outcome != ALREADY else None
        return Taken(record.number, record.place, outcome, receipt.reasons, receipt.detail, id, note, claimed, decided)


class _Intake:
    """What one import knows of the records before: the file's name, if it has one, and which ids it has met."""

    def __init__(self, engine: Engine, format: Format, source: Source, terms: ImportTerms) -> None:
        self._format, self._file, self._terms = format.name, source.name, terms
        self._signatures = ImportedSignatures(engine)
        self._seen: dict[int, int] = {}

    def asked(self, engine: Engine, record: Foreign) -> _Asked | Taken:
        """Return a record as a candidate, or what is wrong with it."""
        if record.refused is not None:
            return Taken(record.number, record.place, REFUSED, ("malformed",), record.refused)
        if record.skipped is not None:
            return Taken(record.number, record.place, SKIPPED, (), record.skipped)
        try:
            admitted = self._terms.admit(engine, record.fields)
            asked = self._signatures.believed(parse_candidate(engine, admitted.fields))
        except BadInput as error:
            return _bad(record, error)
        if _is_over(engine, record, asked):
            return Taken(record.number, record.place, SKIPPED, (), f"it expired: {asked.expires_at:%Y-%m-%d %H:%M} UTC")
        if (fault := self._signatures.fault(asked)) is not None:
            return Taken(record.number, record.place, REFUSED, ("signature",), fault)
        vouchers, said = _without_vouchers(asked)
        key = self._key(record, said)
        if record.id is not None and self._seen.setdefault(_short(record.id), _short(key)) != _short(key):
            why = "another record of this file has the same id and says something else"
            return Taken(record.number, record.place, REFUSED, ("duplicate_id",), why)
        came = {**asked.meta.get(ORIGIN, {}), **({"file": self._file} if self._file else {})}
        candidate = asked.model_copy(update={"meta": {**asked.meta, ORIGIN: came}})
        return _Asked(record, candidate, key, said, admitted.claimed, vouchers)

    def vouched_since(self, engine: Engine, one: _Asked, here: Memory, became: Taken) -> Taken:
        """Add those who vouch for a record to the memory that it is; to one of another author or time, none of them."""
        if not one.vouchers or not engine.caller.trusted:
            return became
        if not _is_that(here, one.asked):
            return replace(became, note=became.note or OTHERS_WORDS)
        added = add_later_vouches(engine, here, one.vouchers, self._signatures)
        return replace(became, vouches=added.vouches, note=became.note or added.detail)

    def _key(self, record: Foreign, asked: Candidate) -> str:
        """Return the key of a record, the same in every copy of the file: by its id, or else by its place."""
        said = asked.model_dump(mode="json", exclude_unset=True)
        name = record.id if record.id is not None else record.number
        text = canonical_json([self._format, name, said])
        return f"import:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _is_over(engine: Engine, record: Foreign, asked: Candidate) -> bool:
    """Return whether its time was over where it comes from. What is kept for the record only may be."""
    return asked.expires_at is not None and not record.put_away and asked.expires_at < engine.clock()


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


# ── taking in ───────────────────────────────────────────────────────────────────────────────────────────────────


def _taken(engine: Engine, intake: _Intake, records: Iterable[Foreign], dry_run: bool = False) -> Iterator[Taken]:
    """Yield what becomes of every record, in the order in which they are taken in; a dry run takes them into a copy."""
    wanted = iter(records)
    with rehearsed(engine) if dry_run else nullcontext(engine) as into:
        while batch := [intake.asked(into, record) for record in islice(wanted, BATCH)]:
            yield from _for_the_record(into, intake, batch, _surely_kept(into, batch))


def _for_the_record(
    engine: Engine, intake: _Intake, batch: Sequence[_Asked | Taken], taken: Sequence[Taken]
) -> Iterator[Taken]:
    """Archive what is history, keep an entry apart that only reinforced another one, add new vouches; yield what became of each.

    After an interruption, what is already there is seen to again.
    """
    for one, became in zip(batch, taken, strict=True):
        if not isinstance(one, _Asked) or became.memory_id is None or became.outcome == REFUSED:
            yield became
        elif one.record.put_away:
            archive_untouched(engine, [became.memory_id])
            yield became
        elif became.outcome in (str(Outcome.REINFORCED), ALREADY) and (one.record.entry is not None or one.vouchers):
            yield _met_again(engine, intake, one, became)
        else:
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
    here = _known_here(engine, [one for one in batch if isinstance(one, _Asked)])
    answers = [(None, one) if isinstance(one, Taken) else _answer(engine, one, here) for one in batch]
    waiting(engine).flush_traces(engine.tenant)
    with engine.write(addresses_of(answer for _, answer in answers if isinstance(answer, Prepared))) as writer:
        return _settled(engine, writer, answers)


_Answered = tuple[_Asked | None, Answer | Taken]


class _Here(NamedTuple):
    """What this store knows of the records of a batch that were its own memories once."""

    deleted: Mapping[str, str] = {}
    """The ids of those that were deleted since, and why they stay so."""
    said: frozenset[tuple[str, str, str]] = frozenset()
    """The id, content and person of each event, and of each line of a session, that is still here.

    A statement meets the memory of its key. An event has no key to meet, and a session's facts would become a person's."""


def _known_here(engine: Engine, batch: Sequence[_Asked]) -> _Here:
    ids = sorted({alias for one in batch for alias in one.candidate.aliases})
    if not ids:
        return _Here()
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, ids).values()
        deleted = {one.state.id: _why_deleted(engine, reader, one) for one in found if _is_deleted(engine, reader, one)}
        seen = [(to_memory(one), visible(engine, reader, one)) for one in found if one.body is not None]
    own = engine.caller.user  # whose sessions are theirs, though they are not all open to this caller
    said = [
        one
        for one, is_open in seen
        if (is_open and one.kind in _EVENTS) or (one.space == Space.SESSION and (is_open or one.user_id == own))
    ]
    return _Here(
        deleted, frozenset((one.id, one.content, _person_of(one)) for one in said if one.status == Status.ACTIVE)
    )


_EVENTS = (Kind.SHORT_TERM, Kind.EPISODIC)


def _person_of(one: Memory | Candidate) -> str:
    """Return whose memory it is: a session is its user's, and nobody's in particular where it names none."""
    return str(one.owner) if one.space == Space.USER else one.user_id or DEFAULT_OWNER


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


def _answer(engine: Engine, one: _Asked, here: _Here) -> _Answered:
    """Return what the gates say to a record. What was deleted here is not brought back by a file, and nothing happens twice."""
    for alias in one.candidate.aliases:
        if alias in here.deleted:
            why = here.deleted[alias]
            return None, Taken(one.record.number, one.record.place, REFUSED, (why,), plain(why))
        if (alias, one.candidate.content, _person_of(one.candidate)) in here.said:
            return None, Taken(one.record.number, one.record.place, ALREADY, memory_id=alias)
    try:
        return one, prepare(engine, one.candidate)
    except BadInput as error:
        return None, _bad(one.record, error)


def _settled(engine: Engine, writer: Writer, answers: Sequence[_Answered]) -> list[Taken]:
    """Act on every answer within the transaction, and say what became of each record."""
    writing = Writing(engine, writer)
    taken = [_settle(writing, one, answer) for one, answer in answers]
    writing.finish()
    return taken


def _settle(writing: Writing, one: _Asked | None, answer: Answer | Taken) -> Taken:
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


# ── the report ──────────────────────────────────────────────────────────────────────────────────────────────────


class _Ranges:
    """Numbers, most of which follow one another, in either direction."""

    def __init__(self) -> None:
        self._found: list[list[int]] = []

    def add(self, number: int) -> None:
        last = self._found[-1] if self._found else None
        if last is not None and number in (last[0] - 1, last[1] + 1):
            last[number > last[1]] = number
        else:
            self._found.append([number, number])

    def __str__(self) -> str:
        return ", ".join(f"{low}-{high}" if high > low else str(low) for low, high in self._joined())

    def _joined(self) -> Iterator[tuple[int, int]]:
        ordered = sorted(self._found)
        low, high = ordered[0]
        for begin, end in ordered[1:]:
            if begin > high + 1:
                yield low, high
                low = begin
            high = end
        yield low, high


@dataclass(slots=True)
class Tally:
    """Counts what became of the records as they pass."""

    each: Each | None
    progress: Progress | None
    total: int
    read: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    numbers: dict[str, _Ranges] = field(default_factory=dict)
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
        self.numbers.setdefault(taken.outcome, _Ranges()).add(taken.number)
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

    def report(self, format: str, file: str = "", guessed: tuple[str, ...] = (), dry_run: bool = False) -> ImportReport:
        numbers = {outcome: str(found) for outcome, found in sorted(self.numbers.items())}
        counts = dict(sorted(self.outcomes.items()))
        return ImportReport(
            format,
            file,
            dry_run,
            self.read,
            counts,
            numbers,
            dict(sorted(self.reasons.items())),
            tuple(self.refused),
            guessed,
            tuple(self.notes),
            dict(sorted(self.claimed.items())),
            tuple(self.by_time),
            vouches_added=self.vouches,
        )
