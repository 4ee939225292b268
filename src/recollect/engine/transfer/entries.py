"""Import and export entries with their authors, their sources and their vouchers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from recollect.engine.arguments import check_flags, check_names, check_one, check_word
from recollect.engine.context import Engine
from recollect.engine.lifecycle.changes import archive
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.reading import MAX_PAGE, current, exported_from, place_of
from recollect.engine.transfer.import_terms import Admitted, ImportTerms, decided_by_time
from recollect.engine.transfer.importing import (
    ALREADY,
    REFUSED,
    SAID_BEFORE,
    ImportReport,
    Taken,
    Tally,
    here_already,
    keep_apart,
    says_it_already,
)
from recollect.engine.trust.identities import holder_named, sign_entry, signing_key
from recollect.engine.trust.imported_signatures import Added, ImportedSignatures, add_later_vouches
from recollect.engine.write.drafting import check_expiry, parse_candidate
from recollect.engine.write.ingest import add_many
from recollect.formats.entries import (
    Identity,
    candidate_fields,
    identity_of,
    is_put_away,
    origin_of,
    to_entry,
    version_key,
)
from recollect.formats.entry_files import NAME, Finding, Findings, read_entries
from recollect.formats.entry_files import Readable as Readable
from recollect.model.caller import KINDS, author_of, principal, short_name
from recollect.model.canonical import canonical_json, parse_time
from recollect.model.errors import AmbiguousId, BadInput
from recollect.model.receipt import Plain, Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, Outcome, Status
from recollect.rules.trust.authority import outranks
from recollect.rules.trust.signatures import is_signature
from recollect.stores.protocol import Reader, Stored

_HINT = "Give the path of a file, an open file, or lines of text."


@contextmanager
def opened(given: Readable | str | Path | Iterable[str]) -> Iterator[Readable]:
    """What was given, as an open file. Bytes that are no UTF-8 are told where they stand, so they are let through here."""
    if isinstance(given, str | Path):
        with ExitStack() as stack:
            try:
                stream = stack.enter_context(Path(given).open(encoding="utf-8", errors="surrogateescape", newline=""))
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or "it is not a path"
                raise BadInput(f"cannot be read: {why}.", field=str(given)[:200], hint=_HINT) from None
            yield stream
    elif isinstance(given, Readable):
        yield given
    elif isinstance(given, Iterable) and not isinstance(given, bytes):
        yield _Lines(given)
    else:
        raise BadInput("must be a file or lines.", field="given", hint=_HINT)


class _Lines:
    """Lines as an open file, each with its end; nothing is held but one of them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = enumerate(lines, start=1)

    def read(self, size: int = -1, /) -> str:
        number, line = next(self._lines, (0, ""))
        if not isinstance(line, str):
            raise BadInput("is not text.", field=f"line {number}", hint="Give one entry a line, as text.")
        return line if line.endswith("\n") or not number else f"{line}\n"

    def readline(self, size: int = -1, /) -> str:
        return self.read(size)


EXPORTED = (str(Status.ACTIVE), str(Status.SUPERSEDED), str(Status.ARCHIVED))
"""An entry is superseded, not deleted: so older versions go along. What was forgotten, or waits for a decision, does not."""
MAX_ENTRIES = 100_000
"""How many entries one import takes. All are read and checked before anything is stored."""
BATCH = 500
SHOWN = 100
"""How many findings an error tells."""


# ── checking ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Validation(Plain):
    """How many entries a file holds, and how much is wrong in it."""

    entries: int
    problems: int

    @property
    def ok(self) -> bool:
        return self.problems == 0


def validate(
    source: Readable | str | Path | Iterable[str], tell: Callable[[Finding], None], *, partial: bool = False
) -> Validation:
    """Check a file of entries as it is read, and tell each finding when it is found.

    ``partial``: the file is a part of something, so that parents may be elsewhere.
    """
    findings, problems = Findings(partial=partial), 0
    with opened(source) as stream:
        for read in read_entries(stream):
            for finding in findings.of(read):
                problems += 1
                tell(finding)
    for finding in findings.of_the_whole():
        problems += 1
        tell(finding)
    return Validation(findings.entries, problems)


# ── out ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def export_entries(
    engine: Engine,
    *,
    owner: str | None = None,
    space: str | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    status: str | Sequence[str] | None = None,
    sign_as: str | None = None,
    key_file: Path | None = None,
) -> Iterator[str]:
    """Yield every memory that the caller may see as one line of canonical JSON, the oldest first: parents before children.

    Only ``prod`` unless asked otherwise. Who may see what is decided as for any read: an export crosses no border. What
    somebody wrote and nobody has signed is signed with their key, if they ``sign_as`` themselves.
    """
    statuses = _exported(status)
    signer = holder_named(engine, sign_as) if sign_as is not None else None
    private = signing_key(engine, signer, key_file) if signer is not None else None
    with engine.read() as reader:
        where = exported_from(engine, reader, owner, space, include_namespaces)
        if signer not in (None, sign_as, engine.caller.principal):
            _check_nobody_else_is_meant(engine, reader, str(signer), equal={"status": statuses}, **where)
        ids = _in_order(engine, reader, statuses, **where)
        for start in range(0, len(ids), MAX_PAGE):
            found = as_seen(engine, reader, [*reader.by_ids(engine.tenant, ids[start : start + MAX_PAGE]).values()])
            following = _hashes(engine, reader, [stored.state.superseded_by_id for stored in found])
            for stored in found:
                entry = to_entry(to_memory(stored), following.get(stored.state.superseded_by_id or ""))
                own = private is not None and author_of(stored.body or {}) == signer and "signature" not in entry
                yield canonical_json(sign_entry(entry, private) if own and private is not None else entry) + "\n"


def _exported(status: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return those of the statuses that are asked for which entries can have."""
    if status is None:
        return EXPORTED
    asked = [status] if isinstance(status, str) else check_names("status", status)
    known = {check_word("status", Status, one) for one in asked}
    return tuple(one for one in EXPORTED if one in known)


def _check_nobody_else_is_meant(engine: Engine, reader: Reader, signer: str, **where: Any) -> None:
    """Raise if another principal of the signer's name wrote something that is exported, and would be left unsigned."""
    name = short_name(signer)
    others = tuple(one for kind in KINDS if (one := principal(kind, name)) != signer)
    found = reader.select(engine.tenant, engine.selecting(**where, authors=others), 1) if where["streams"] else []
    if found:
        other = author_of(found[0].body or {})
        message = f"{name!r} may be {signer} or {other}, and each wrote some of what is exported."
        raise AmbiguousId(message, field="sign_as", hint="Give the one that you mean.")


def _in_order(engine: Engine, reader: Reader, statuses: Sequence[str], **where: Any) -> list[str]:
    """Return the ids of what is exported, by when it was said, so that the same memories always give the same file."""
    placed: list[tuple[str, str, str]] = []
    before: tuple[str, int, int] | None = None
    while where["streams"]:
        selection = engine.selecting(**where, equal={"status": statuses}, before=before)
        page = reader.select(engine.tenant, selection, MAX_PAGE, damaged=True)
        whole = [stored for stored in page if stored.damage is None]
        placed += [_placed(stored) for stored in current(engine, reader, whole) if str(stored.state.status) in statuses]
        if len(page) < MAX_PAGE:
            break
        before = place_of(page[-1])
    return [id for _, _, id in sorted(placed)]


def _placed(stored: Stored) -> tuple[str, str, str]:
    body = stored.body or {}
    return origin_of(body.get("meta", {})).get("timestamp") or body["created_at"], body["content_hash"], stored.state.id


def _hashes(engine: Engine, reader: Reader, ids: Sequence[str | None]) -> dict[str, str]:
    found = reader.by_ids(engine.tenant, sorted({id for id in ids if id is not None}))
    return {id: stored.body["content_hash"] for id, stored in found.items() if stored.body is not None}


# ── in ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Wanted(NamedTuple):
    """An entry on its way in: where it stood in the file, and the candidate that it became."""

    number: int
    line: int
    entry: Mapping[str, Any]
    fields: dict[str, Any]
    put_away: bool = False
    replaces: Mapping[str, Any] | None = None
    """The entry of the file whose next version it is to be."""

    def taken(self, outcome: str, reasons: tuple[str, ...] = (), detail: str | None = None) -> Taken:
        return Taken(self.number, f"line {self.line}", outcome, reasons, detail)


def import_entries(
    engine: Engine,
    source: Readable | str | Path | Iterable[str],
    *,
    place: Mapping[str, Any],
    partial: bool = False,
    believe: Iterable[str] = (),
) -> ImportReport:
    """Take in entries, from a file, open or by its path, or from lines.

    Everything is checked before anything is stored, then each goes through the gates.

    A file with an unsound entry is not taken in at all. A sound entry that says more than a memory here holds, or that a
    gate stops, is refused alone, and told in the answer.

    An entry that supersedes another does so here too. One that is here already, by the same author and of the same time, is
    left as it is, so that an import that was interrupted can be run again; only if the file says that it was superseded
    since, it is superseded here as well, and those who vouched for it since are added. Vouches that come along are kept as
    told, and weigh nothing here. ``place`` says where the entries go, whatever they say themselves.
    What an entry says of its own standing is kept as a claim, unless somebody says what to ``believe``: ``place``, ``weight``.
    """
    check_flags(partial=partial)
    given = {name: check_one(name, value) for name, value in place.items()}
    terms = ImportTerms(engine, given, believe)
    parse_candidate(engine, {"content": "A wrong place is an error before any entry is read", **given})
    with opened(source) as stream:
        findings, entries = _read_all(stream, partial=partial)
    tally = _Tally(ImportedSignatures(engine), Tally(None, None, len(entries)))
    wanted = [_Wanted(number, line, entry, candidate_fields(entry)) for number, line, entry in entries]
    for one in wanted:
        terms.note_owner(one.fields)
    problems: dict[int, str] = {}
    for place_in_file, one in enumerate(wanted):
        admitted = _admitted(engine, terms, one)
        if isinstance(admitted, str):
            problems[place_in_file] = admitted
        else:
            wanted[place_in_file] = one._replace(fields=admitted.fields)
            tally.records.claimed.update(admitted.claimed)
    wanted = _chain_versions(wanted, findings, problems)
    in_order = [wanted[place] for place in findings.parents_first() if place not in problems]
    _join_versions(engine, in_order)
    for refused, why in problems.items():
        tally.deny(wanted[refused], "bad_input", why)
    for start in range(0, len(in_order), BATCH):
        _take_in(engine, in_order[start : start + BATCH], tally)
    return tally.report()


@dataclass(slots=True)
class _Tally:
    """What becomes of the entries as they pass."""

    signatures: ImportedSignatures
    records: Tally
    vouches_added: int = 0

    def deny(self, one: _Wanted, reason: str, detail: str | None) -> None:
        self.records.note(one.taken(REFUSED, (reason,), detail))

    def took(self, one: _Wanted, receipt: Receipt) -> None:
        decided = decided_by_time(parse_time(one.fields["created_at"]), receipt)
        self.records.note(replace(one.taken(str(receipt.outcome), receipt.reasons), by_time=decided))

    def said_before(self, one: _Wanted, receipt: Receipt) -> None:
        if receipt.denied:
            self.deny(one, receipt.reasons[0], receipt.detail)
        else:
            self.records.note(one.taken(SAID_BEFORE, receipt.reasons))

    def met_again(self, one: _Wanted, added: Added) -> None:
        """Count an entry that is here already, and the vouches that it brought, or why they were refused."""
        self.vouches_added += added.vouches
        self.records.note(one.taken(ALREADY))
        if added.reason is not None:
            self.records.refused.append(one.taken(REFUSED, (added.reason,), added.detail))

    def report(self) -> ImportReport:
        entries, vouches = (dict(sorted(found.items())) for found in (self.signatures.entries, self.signatures.vouches))
        found = self.records.report(NAME)
        return replace(found, signed_entries=entries, signed_vouches=vouches, vouches_added=self.vouches_added)


def _read_all(stream: Readable, *, partial: bool) -> tuple[Findings, list[tuple[int, int, Mapping[str, Any]]]]:
    findings, entries, wrong = Findings(partial=partial), [], []
    for read in read_entries(stream):
        wrong += [*findings.of(read)]
        entries.append((read.number, read.line, read.value))
        if len(entries) > MAX_ENTRIES:
            hint = "Split the file, or import it without --whole, which reads any number."
            raise BadInput(f"more than {MAX_ENTRIES:,} entries.", field="entries", hint=hint)
        if len(wrong) > SHOWN:
            break
    wrong += [*findings.of_the_whole()]
    if wrong:
        shown = "\n".join(f"  {finding}" for finding in wrong[:SHOWN])
        raise BadInput(
            f"nothing was imported:\n{shown}\n", field="entries", hint="`recollect entry validate` shows every problem."
        )
    return findings, entries


def _admitted(engine: Engine, terms: ImportTerms, one: _Wanted) -> Admitted | str:
    """Return the fields of an entry as they are granted, or why a sound entry cannot become a memory here."""
    try:
        admitted = terms.admit(engine, one.fields)
        if not (is_put_away(one.entry) or "superseded_by" in one.entry):
            check_expiry(engine, parse_candidate(engine, admitted.fields))
    except BadInput as error:
        return f"{error.field}: {error.message}" if error.field else error.message
    return admitted


def _chain_versions(wanted: Sequence[_Wanted], findings: Findings, refused: Collection[int]) -> list[_Wanted]:
    """Give an entry and the one that supersedes it one name, so that they become versions of one concept.

    Of several that one entry supersedes the oldest becomes its version before; the others are put away. So is one that a
    signed entry supersedes without naming it: its next version would build upon it, and that was not signed.
    """
    chained: dict[int, int] = {}
    for old, new in findings.replacements():
        if old in refused or new in refused:
            continue
        before, after = wanted[old].fields, wanted[new].fields
        alike = KIND_CLASS[Kind(before["kind"])] is KIND_CLASS[Kind(after["kind"])]
        if "change" not in after and alike and _may_build_upon(wanted[new].entry, wanted[old].entry):
            chained[old] = new
            after["change"] = "update"
            if "key" not in before and "topic_id" not in before:
                before.setdefault("canonical_key", version_key(wanted[old].entry["content_hash"]))
                after["canonical_key"] = before["canonical_key"]
    before_it = {new: wanted[old].entry for old, new in chained.items()}
    return [
        one._replace(
            put_away=is_put_away(one.entry) or ("superseded_by" in one.entry and place not in chained),
            replaces=before_it.get(place),
        )
        for place, one in enumerate(wanted)
    ]


def _may_build_upon(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether an entry may gain this parent: a signature covers the parents that there were."""
    return not is_signature(new.get("signature")) or old["content_hash"] in new.get("parent_refs", ())


def _join_versions(engine: Engine, in_order: Sequence[_Wanted]) -> None:
    """Give an entry the name under which the one before it is here already, so that it becomes its next version."""
    later = [one for one in in_order if one.replaces is not None]
    names: dict[Identity, str] = {}
    for start in range(0, len(later), BATCH):
        here = here_already(engine, [one.replaces for one in later[start : start + BATCH] if one.replaces is not None])
        names |= {one: memory.canonical_key for one, memory in here.items() if memory.status is Status.ACTIVE}
    for one in later:
        name = names.get(identity_of(one.replaces)) if one.replaces is not None else None
        if name is not None and "key" not in one.fields and "topic_id" not in one.fields:
            one.fields["canonical_key"] = names.setdefault(identity_of(one.entry), name)


def _take_in(engine: Engine, batch: Sequence[_Wanted], tally: _Tally) -> None:
    here = here_already(engine, [*(one.entry for one in batch), *(one.replaces for one in batch if one.replaces)])
    _put_away_superseded(engine, batch, here)
    new: list[_Wanted] = []
    for one in batch:
        if identity_of(one.entry) in here:
            _meet_again(engine, one, here[identity_of(one.entry)], tally)
        elif (fault := tally.signatures.fault(candidate := parse_candidate(engine, one.fields))) is not None:
            tally.deny(one, "signature", fault)
        else:
            new.append(one._replace(fields=one.fields | tally.signatures.believed_fields(candidate)))
    for one, receipt in zip(new, add_many(engine, [one.fields for one in new]), strict=True):
        if receipt.denied:
            tally.deny(one, receipt.reasons[0], receipt.detail)
            continue
        if _is_said_already(engine, one, receipt):
            tally.said_before(one, keep_apart(engine, one.entry, one.fields))
            continue
        tally.took(one, receipt)
        if receipt.memory is not None and one.put_away and _is_active(engine, receipt.memory.id):
            archive(engine, receipt.memory.id)


def _is_active(engine: Engine, id: str) -> bool:
    """Return whether it is active still: of one batch, a later entry may have superseded it."""
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, [id]).get(id)
    return found is not None and found.state.status is Status.ACTIVE


def _is_said_already(engine: Engine, one: _Wanted, receipt: Receipt) -> bool:
    """Return whether an entry brought nothing but weight to another one."""
    if receipt.outcome is not Outcome.REINFORCED or receipt.memory is None:
        return False
    return says_it_already(engine, receipt.memory, one.entry)


def _meet_again(engine: Engine, one: _Wanted, here: Memory, tally: _Tally) -> None:
    """Leave an entry that is here already as it is, and add the vouches that it gained elsewhere since."""
    tally.met_again(one, add_later_vouches(engine, here, one.entry.get("vouchers", ()), tally.signatures))


def _put_away_superseded(engine: Engine, batch: Sequence[_Wanted], here: Mapping[Identity, Memory]) -> None:
    """Archive what is here already and was superseded since: by something elsewhere, or by what is here already too."""
    active = {one: memory for one, memory in here.items() if memory.status is Status.ACTIVE}
    elsewhere = {identity_of(one.entry) for one in batch if one.put_away and "superseded_by" in one.entry}
    both_here = {identity_of(one.replaces) for one in batch if one.replaces and identity_of(one.entry) in active}
    order = engine.policy.conflict.authority_order
    granted = {identity_of(one.entry): _authority_of(engine, one) for one in batch}
    for one in sorted((elsewhere | both_here) & active.keys()):
        believed_more = outranks(active[one].authority, granted.get(one, Authority.AI_INFERRED), order)
        if engine.caller.trusted and not believed_more:  # others bring no news of what they did not write
            archive(engine, active[one].id)


def _authority_of(engine: Engine, one: _Wanted) -> Authority:
    """Return what an entry is believed here."""
    return parse_candidate(engine, one.fields).authority or Authority.AI_INFERRED
