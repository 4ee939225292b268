"""Import and export entries with their authors, their sources and their vouchers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from recollect.engine.arguments import check_flags, check_names, check_word
from recollect.engine.context import Engine, visible
from recollect.engine.lifecycle.changes import archive
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.reading import MAX_PAGE, current, place_of, select_exported
from recollect.engine.transfer.import_terms import ImportTerms
from recollect.engine.trust.identities import resolve_holder, sign_entry, signing_key
from recollect.engine.write.drafting import check_expiry, parse_candidate
from recollect.engine.write.ingest import add
from recollect.formats.entries import (
    Identity,
    candidate_fields,
    identity_of,
    is_put_away,
    isolate_fields,
    origin_of,
    to_entry,
    version_key,
)
from recollect.formats.entry_files import Finding, Findings, read_entries
from recollect.formats.entry_files import Readable as Readable
from recollect.formats.protocol import Foreign
from recollect.model.caller import KINDS, author_of, principal, short_name
from recollect.model.canonical import Plain, canonical_json
from recollect.model.errors import AmbiguousId, BadInput
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, Status
from recollect.rules.trust.authority import outranks
from recollect.rules.trust.signatures import is_signature
from recollect.stores.protocol import NO_LIMIT, Reader

_HINT = "Give the path of a file, an open file, or lines of text."


@contextmanager
def open_text(given: Readable | str | Path | Iterable[str]) -> Iterator[Readable]:
    """Open a file or lines as text. Bytes that are no UTF-8 pass here; the reader of entries reports their line."""
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
    """Lines as an open file, one at a time, each with its end."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = enumerate(lines, start=1)

    def read(self, size: int = -1, /) -> str:
        number, line = next(self._lines, (0, ""))
        if not isinstance(line, str):
            raise BadInput("is not text.", field=f"line {number}", hint="Give one entry a line, as text.")
        return line if line.endswith("\n") or not number else f"{line}\n"

    readline = read


EXPORTED = (str(Status.ACTIVE), str(Status.SUPERSEDED), str(Status.ARCHIVED))
"""The statuses of exported entries: older versions are exported, forgotten and waiting memories are not."""
MAX_ENTRIES = 100_000
"""How many entries one import takes. All are read and checked before anything is stored."""
BATCH = 500
SHOWN = 100
"""How many findings an error lists."""


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
    """Check a file of entries as it is read, and call ``tell`` with each finding.

    ``partial``: the file is a part of something, so that parents may be elsewhere.
    """
    findings, problems = Findings(partial=partial), 0
    with open_text(source) as stream:
        in_each = (finding for read in read_entries(stream) for finding in findings.check_entry(read))
        for finding in chain(in_each, findings.check_file()):
            problems += 1
            tell(finding)
    return Validation(findings.entries, problems)


def export_entries(
    engine: Engine, status: str | Sequence[str] | None, *, sign_as: str | None, key_file: Path | None, **asked: Any
) -> Iterator[str]:
    """Yield every memory that the caller may see as one line of canonical JSON, the oldest first: parents before children.

    ``asked`` is passed to :func:`select_exported`. The caller sees what it sees in any read: an export crosses no border. With
    ``sign_as`` the unsigned entries of that author are signed with the author's key.
    """
    statuses = _check_statuses(status)
    signer = resolve_holder(engine, sign_as) if sign_as is not None else None
    private = signing_key(engine, signer, key_file) if signer is not None else None
    with engine.read() as reader:
        where = select_exported(engine, reader, **asked)
        if signer not in (None, sign_as, engine.caller.principal):
            _check_unambiguous(engine, reader, str(signer), equal={"status": statuses}, **where)
        ids = _sort_exported(engine, reader, statuses, **where)
        for start in range(0, len(ids), MAX_PAGE):
            found = as_seen(engine, reader, [*reader.by_ids(engine.tenant, ids[start : start + MAX_PAGE]).values()])
            newer = reader.by_ids(engine.tenant, sorted({one.state.superseded_by_id or "" for one in found} - {""}))
            following = {id: one.body["content_hash"] for id, one in newer.items() if one.body is not None}
            for stored in found:
                entry = to_entry(to_memory(stored), following.get(stored.state.superseded_by_id or ""))
                own = private is not None and author_of(stored.body or {}) == signer and "signature" not in entry
                yield canonical_json(sign_entry(entry, private) if own and private is not None else entry) + "\n"


def _check_statuses(status: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the given statuses that entries can have."""
    if status is None:
        return EXPORTED
    asked = [status] if isinstance(status, str) else check_names("status", status)
    known = {check_word("status", Status, one) for one in asked}
    return tuple(one for one in EXPORTED if one in known)


def _check_unambiguous(engine: Engine, reader: Reader, signer: str, **where: Any) -> None:
    """Raise if another principal of the signer's name wrote an exported entry, which would be left unsigned."""
    name = short_name(signer)
    others = tuple(one for kind in KINDS if (one := principal(kind, name)) != signer)
    found = reader.select(engine.tenant, engine.selecting(**where, authors=others), 1) if where["streams"] else []
    if found:
        other = author_of(found[0].body or {})
        message = f"{name!r} may be {signer} or {other}, and each wrote some of what is exported."
        raise AmbiguousId(message, field="sign_as", hint="Give the one that you mean.")


def _sort_exported(engine: Engine, reader: Reader, statuses: Sequence[str], **where: Any) -> list[str]:
    """Return the ids of what is exported, by the time it was said, so that the same memories always give the same file."""
    placed: list[tuple[str, str, str]] = []
    before: tuple[str, int, int] | None = None
    while where["streams"]:
        selection = engine.selecting(**where, equal={"status": statuses}, before=before)
        page = reader.select(engine.tenant, selection, MAX_PAGE, damaged=True)
        whole = [stored for stored in page if stored.damage is None]
        for stored in current(engine, reader, whole):
            if str(stored.state.status) in statuses:
                body = stored.body or {}
                said_at = origin_of(body.get("meta", {})).get("timestamp") or body["created_at"]
                placed.append((said_at, body["content_hash"], stored.state.id))
        if len(page) < MAX_PAGE:
            break
        before = place_of(page[-1])
    return [id for _, _, id in sorted(placed)]


class _Wanted(NamedTuple):
    """An entry to be imported: its place in the file, and the fields of its candidate."""

    number: int
    line: int
    entry: Mapping[str, Any]
    fields: dict[str, Any]
    put_away: bool = False
    replaces: Mapping[str, Any] | None = None
    """The entry of the file of which it is the next version."""


def read_whole(
    engine: Engine, terms: ImportTerms, source: Readable | str | Path | Iterable[str], *, partial: bool = False
) -> list[Foreign]:
    """Return the entries of a file or of lines as records: parents before children, versions chained.

    A file with an unsound entry is an error that names every problem. An entry that supersedes another does so here too; if
    both are here already, the superseded one is archived.
    """
    check_flags(partial=partial)
    parse_candidate(engine, {"content": "A wrong place is an error before any entry is read", **terms.options})
    with open_text(source) as stream:
        findings, entries = _read_all(stream, partial=partial)
    wanted = [_Wanted(number, line, entry, candidate_fields(entry)) for number, line, entry in entries]
    for one in wanted:
        terms.note_owner(one.fields)
    terms.check_owners()
    refused = {place for place, one in enumerate(wanted) if not _is_admitted(engine, terms, one)}
    wanted = _chain_versions(wanted, findings, refused)
    in_order = [wanted[place] for place in findings.order_parents_first()]
    _join_versions(engine, in_order)
    for start in range(0, len(in_order), BATCH):
        _archive_superseded(engine, terms, in_order[start : start + BATCH])
    return [
        Foreign(one.number, f"line {one.line}", one.fields, put_away=one.put_away, entry=one.entry) for one in in_order
    ]


def _read_all(stream: Readable, *, partial: bool) -> tuple[Findings, list[tuple[int, int, Mapping[str, Any]]]]:
    findings, entries, wrong = Findings(partial=partial), [], []
    for read in read_entries(stream):
        wrong += [*findings.check_entry(read)]
        entries.append((read.number, read.line, read.value))
        if len(entries) > MAX_ENTRIES:
            hint = "Split the file, or import it without --whole, which reads any number."
            raise BadInput(f"more than {MAX_ENTRIES:,} entries.", field="entries", hint=hint)
        if len(wrong) > SHOWN:
            break
    wrong += [*findings.check_file()]
    if wrong:
        shown = "\n".join(f"  {finding}" for finding in wrong[:SHOWN])
        raise BadInput(
            f"nothing was imported:\n{shown}\n", field="entries", hint="`recollect entry validate` shows every problem."
        )
    return findings, entries


def _is_admitted(engine: Engine, terms: ImportTerms, one: _Wanted) -> bool:
    """Return whether a sound entry can become a memory here."""
    try:
        admitted = terms.admit(engine, one.fields)
        if not (is_put_away(one.entry) or "superseded_by" in one.entry):
            check_expiry(engine, parse_candidate(engine, admitted.fields))
    except BadInput:
        return False
    return True


def _chain_versions(wanted: Sequence[_Wanted], findings: Findings, refused: Collection[int]) -> list[_Wanted]:
    """Give an entry and the one that supersedes it one key, so that they become versions of one concept.

    If an entry supersedes several, the oldest becomes its earlier version, and the others are archived. So is one that a
    signed entry supersedes without naming it as a parent: the next version names it, and the signature covers the parents.
    """
    chained: dict[int, int] = {}
    for old, new in findings.find_replacements():
        if old in refused or new in refused:
            continue
        before, after, entry = wanted[old].fields, wanted[new].fields, wanted[new].entry
        alike = KIND_CLASS[Kind(before["kind"])] is KIND_CLASS[Kind(after["kind"])]
        names_it = wanted[old].entry["content_hash"] in entry.get("parent_refs", ())
        if "change" not in after and alike and (names_it or not is_signature(entry.get("signature"))):
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


def _join_versions(engine: Engine, in_order: Sequence[_Wanted]) -> None:
    """Give an entry the key under which its earlier version is here already, so that it becomes the next version."""
    later = [one for one in in_order if one.replaces is not None]
    keys: dict[Identity, str] = {}
    for start in range(0, len(later), BATCH):
        here = find_entries(engine, [one.replaces for one in later[start : start + BATCH] if one.replaces is not None])
        keys |= {one: memory.canonical_key for one, memory in here.items() if memory.status is Status.ACTIVE}
    for one in later:
        key = keys.get(identity_of(one.replaces)) if one.replaces is not None else None
        if key is not None and "key" not in one.fields and "topic_id" not in one.fields:
            one.fields["canonical_key"] = keys.setdefault(identity_of(one.entry), key)


def _archive_superseded(engine: Engine, terms: ImportTerms, batch: Sequence[_Wanted]) -> None:
    """Archive the memories here that were superseded since, by an entry elsewhere or by another memory here."""
    if not engine.caller.trusted:  # other callers may not report on memories that they did not write
        return
    here = find_entries(engine, [*(one.entry for one in batch), *(one.replaces for one in batch if one.replaces)])
    active = {one: memory for one, memory in here.items() if memory.status is Status.ACTIVE}
    elsewhere = {identity_of(one.entry) for one in batch if one.put_away and "superseded_by" in one.entry}
    both_here = {identity_of(one.replaces) for one in batch if one.replaces and identity_of(one.entry) in active}
    granted = {identity_of(one.entry): one for one in batch}
    for known in sorted((elsewhere | both_here) & active.keys()):
        one, authority = granted.get(known), Authority.AI_INFERRED
        if one is not None and _is_admitted(engine, terms, one):
            authority = parse_candidate(engine, terms.admit(engine, one.fields).fields).authority or authority
        if not outranks(active[known].authority, authority, engine.policy.conflict.authority_order):
            archive(engine, active[known].id)


def is_another(engine: Engine, memory: Memory, entry: Mapping[str, Any]) -> bool:
    """Return whether the memory that an entry reinforced is of another author or another time than the entry.

    A bound caller brings no time of its own, so that the next import could not recognise its entry.
    """
    return engine.caller.trusted and identity_of(to_entry(memory)) != identity_of(entry)


def find_entries(
    engine: Engine, entries: Iterable[Mapping[str, Any]], near: Memory | None = None
) -> dict[Identity, Memory]:
    """Return the memories that these entries are, if the caller may see them; only in the stream of ``near``, if given."""
    hashes = sorted({str(entry["content_hash"]) for entry in entries})
    with engine.read() as reader:
        found = reader.with_hashes(engine.tenant, hashes, engine.selecting(), NO_LIMIT)
        seen = [to_memory(stored) for stored in found if stored.body is not None and visible(engine, reader, stored)]
    if near is not None:
        stream = near.namespace, near.space, near.owner
        seen = [one for one in seen if (one.namespace, one.space, one.owner) == stream]
    return {identity_of(to_entry(one)): one for one in seen}


def keep_apart(engine: Engine, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> Receipt:
    """Keep an entry's author and time in a memory of its own, archived so that the content is recalled once."""
    receipt = add(engine, isolate_fields(entry, fields))
    if receipt.memory is not None and not receipt.denied:
        archive_untouched(engine, [receipt.memory.id], receipt.memory.authority)
    return receipt


def archive_untouched(engine: Engine, ids: Iterable[str], authority: Authority) -> None:
    """Archive those of these memories that are active, unchanged since they were stored, and of no higher authority.

    A memory that a person restored since stays.
    """
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, sorted(set(ids)))
        active = {id: stored for id, stored in found.items() if stored.state.status is Status.ACTIVE}
        stored_at = {id: reader.entries_about(engine.tenant, id)[0].at for id in active}
    for id, stored in active.items():
        believed_more = outranks(Authority(stored.state.authority), authority, engine.policy.conflict.authority_order)
        if stored.state.last_modified == stored_at[id] and not believed_more:
            archive(engine, id)
