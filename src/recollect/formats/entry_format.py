"""Memory entries as a format: one a line, each checked before it is offered to the gates.

Lines are read one by one and in any order. What was superseded or archived is kept for the record, apart from what replaced
it, which may have come before it; ``recollect entry import``, which holds a whole file, makes versions of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recollect.formats import entries
from recollect.formats.entry_checks import CIRCLE, REPLACED_BY_PARENT
from recollect.formats.entry_identity import kept_apart
from recollect.formats.fields import each_line, objects_in, said_at
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.model.canonical import canonical_json
from recollect.model.record import Memory
from recollect.rules.trust.provenance import on_a_cycle

NAME = "entries"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Read twice: once to see which entries supersede each other, and once to take them in."""
    latest: dict[str, str] = {}
    round = _in_a_circle(_noting_latest(source, latest))

    def to_foreign(number: int, place: str, entry: Mapping[str, Any]) -> Foreign:
        found = _foreign(number, place, entry)
        if found.refused is not None or "superseded_by" not in entry:
            return found
        by = entry["superseded_by"]
        if entry["content_hash"] in round:
            return Foreign(number, place, refused=f"superseded_by: {CIRCLE}")
        if by in entry.get("parent_refs", ()) and latest.get(by, _NEVER) <= found.fields["created_at"]:
            return Foreign(number, place, refused=f"superseded_by: {REPLACED_BY_PARENT}")
        return found

    return each_line(source, source.lines(), to_foreign)


_NEVER = "~"
"""Later than any time: where the entry that is named is not in the file, another of its words may be meant."""


def _noting_latest(source: Source, latest: dict[str, str]) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a source, and note when the words of each were said last."""
    for _, value in objects_in(source, source.lines()):
        if not isinstance(value, dict):
            continue
        own, at = str(value.get("content_hash")), said_at(value.get("timestamp")).get("created_at")
        if at is not None:
            latest[own] = max(at, latest.get(own, ""))
        yield value


def _in_a_circle(found: Iterable[Mapping[str, Any]]) -> set[str]:
    """The hashes of entries that supersede each other, of which none stays. Words that came back later do stay."""
    replaced: dict[str, set[str]] = {}
    staying: set[str] = set()
    for entry in found:
        own, by = str(entry.get("content_hash")), entry.get("superseded_by")
        if by is None:
            staying.add(own)
        else:
            replaced.setdefault(own, set()).add(str(by))
    gone = replaced.keys() - staying
    following = {own: sorted(by & gone) for own, by in replaced.items() if own in gone}
    before: dict[str, list[str]] = {}
    for own, by in following.items():
        for one in by:
            before.setdefault(one, []).append(own)
    found_on = on_a_cycle(following)
    return _reached(found_on, following) & _reached(found_on, before)


def _reached(start: Sequence[str], steps: Mapping[str, Iterable[str]]) -> set[str]:
    reached, waiting = set(start), [*start]
    while waiting:
        new = [one for one in steps.get(waiting.pop(), ()) if one not in reached]
        reached.update(new)
        waiting += new
    return reached


def write(memories: Iterable[Memory]) -> Iterator[str]:
    return (canonical_json(entries.to_entry(memory)) + "\n" for memory in memories)


def _foreign(number: int, place: str, entry: Mapping[str, Any]) -> Foreign:
    problems = entries.problems_of(entry)
    if problems:
        return Foreign(number, place, refused=f"{problems[0].path or 'the entry'}: {problems[0].message}")
    fields = entries.candidate_fields(entry)
    history = entries.is_put_away(entry) or "superseded_by" in entry
    fields = kept_apart(entry, fields) if history else fields
    fields["meta"] = {**fields["meta"], ORIGIN: {"format": NAME}}
    return Foreign(number, place, fields, put_away=history, entry=entry)


FORMAT = Format(NAME, "memory entries, JSON lines", read, write)
