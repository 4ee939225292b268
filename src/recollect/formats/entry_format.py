"""Memory entries as a format: one a line, each checked before it is offered to the gates."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats import entries
from recollect.formats.fields import each_line
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.model.canonical import canonical_json
from recollect.model.record import Memory

NAME = "entries"
SUPERSEDED = "is history: superseded by another entry; `recollect entry import` keeps it as an earlier version"
"""Lines are read one by one and in any order, so the one that it was superseded by may have come before it."""


def read(source: Source, options: Options) -> Iterator[Foreign]:
    return each_line(source, source.lines(), _foreign)


def write(memories: Iterable[Memory]) -> Iterator[str]:
    return (canonical_json(entries.to_entry(memory)) + "\n" for memory in memories)


def _foreign(number: int, place: str, entry: Mapping[str, Any]) -> Foreign:
    problems = entries.problems_of(entry)
    if problems:
        return Foreign(number, place, refused=f"{problems[0].path or 'the entry'}: {problems[0].message}")
    if entries.is_put_away(entry):
        return Foreign(number, place, skipped="was archived")
    if entry.get("superseded_by"):
        return Foreign(number, place, skipped=SUPERSEDED)
    fields = entries.candidate_fields(entry)
    return Foreign(number, place, {**fields, "meta": {**fields["meta"], ORIGIN: {"format": NAME}}})


FORMAT = Format(NAME, "memory entries, JSON lines", read, write)
