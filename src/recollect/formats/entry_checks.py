"""What is wrong in a file of entries: in each of them, and between them.

An entry is told about as soon as it is read. What takes the whole file (that it is there twice, that a parent is missing,
that parents go round in a circle) is told at the end; until then a few hashes of each entry are all that is kept.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from recollect.formats.entries import problems_of
from recollect.formats.entry_files import Read
from recollect.formats.fields import mapping_of
from recollect.model.canonical import parse_time
from recollect.rules.provenance import meant_by, on_a_cycle

CIRCLE = "is superseded by an entry that it supersedes itself: expected one that came later and stays"


class Finding(NamedTuple):
    """One thing that is wrong: in which entry, on which line it begins, where in it, and what was expected."""

    entry: int
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        return f"entry {self.entry} (line {self.line}){f', {self.path}' if self.path else ''}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


class _Noted(NamedTuple):
    """What is kept of a sound entry."""

    number: int
    line: int
    at: tuple[datetime, int]
    parents: tuple[bytes, ...]
    superseded_by: bytes | None
    home: int
    """Stands for the place and the name that a memory of Recollect had."""


def home_of(entry: Mapping[str, Any]) -> int:
    """A number for where a memory of Recollect was, and under which name; others have none."""
    known = mapping_of(entry.get("metadata", {}).get("recollect"))
    return hash(tuple(str(known.get(name)) for name in _HOME))


_HOME = ("namespace", "space", "owner", "scope", "canonical_key", "key", "topic_id")


class Findings:
    """Collects what is wrong while a file is read, and what is wrong with the whole of it."""

    def __init__(self, *, partial: bool = False) -> None:
        self._partial = partial
        self._noted: list[_Noted] = []
        self._by_hash: dict[bytes, list[int]] = {}
        self._seen: dict[tuple[bytes, str, datetime], int] = {}
        self.entries = 0

    def of(self, read: Read) -> Iterator[Finding]:
        """What is wrong with one entry. A sound one is kept in mind."""
        self.entries += 1
        if read.problem is not None:
            yield Finding(read.number, read.line, "", read.problem)
            return
        found = problems_of(read.value)
        yield from (Finding(read.number, read.line, *problem) for problem in found)
        if not found:
            yield from self._note(read)

    def _note(self, read: Read) -> Iterator[Finding]:
        entry = read.value
        content_hash, at = bytes.fromhex(entry["content_hash"]), parse_time(entry["timestamp"])
        same = self._seen.setdefault((content_hash, entry["author"]["id"], at), read.number)
        if same != read.number:
            yield Finding(read.number, read.line, "content_hash", f"is entry {same} again: same words, author and time")
            return
        parents = tuple(bytes.fromhex(one) for one in entry.get("parent_refs", ()))
        replaced = bytes.fromhex(entry["superseded_by"]) if "superseded_by" in entry else None
        self._by_hash.setdefault(content_hash, []).append(len(self._noted))
        self._noted.append(_Noted(read.number, read.line, (at, read.number), parents, replaced, home_of(entry)))

    def of_the_whole(self) -> Iterator[Finding]:
        """What is wrong between the entries."""
        if not self._partial:
            yield from self._dangling()
            yield from self._circles_of_versions()
        for place in on_a_cycle({place: self._parents(place) for place in range(len(self._noted))}):
            noted = self._noted[place]
            yield Finding(noted.number, noted.line, "parent_refs", "builds upon an entry that builds upon it")

    def _dangling(self) -> Iterator[Finding]:
        for noted in self._noted:
            for nth, parent in enumerate(noted.parents):
                if parent not in self._by_hash:
                    told = f"no entry of the file has the content hash {parent.hex()[:12]}…"
                    yield Finding(noted.number, noted.line, f"parent_refs[{nth}]", told)
            if noted.superseded_by is not None and noted.superseded_by not in self._by_hash:
                told = f"no entry of the file has the content hash {noted.superseded_by.hex()[:12]}…"
                yield Finding(noted.number, noted.line, "superseded_by", told)

    def _circles_of_versions(self) -> Iterator[Finding]:
        """Entries that supersede each other: none of them would be left. In a part of a file, another may be meant."""
        following = {place: self._following(place) for place in range(len(self._noted))}
        for place in on_a_cycle({place: [] if other is None else [other] for place, other in following.items()}):
            noted = self._noted[place]
            yield Finding(noted.number, noted.line, "superseded_by", CIRCLE)

    def _following(self, place: int) -> int | None:
        """The entry that is meant by ``superseded_by``: the first that came later, else the last before it."""
        noted = self._noted[place]
        alike = self._by_hash.get(noted.superseded_by, ()) if noted.superseded_by is not None else ()
        in_order = sorted(alike, key=lambda other: self._noted[other].at)
        later = (other for other in in_order if self._noted[other].at > noted.at)
        return next(later, in_order[-1] if in_order else None)

    def _meant(self, place: int, content_hash: bytes) -> int | None:
        alike = [other for other in self._by_hash.get(content_hash, ()) if other != place]
        return meant_by(self._noted[place].at, [(self._noted[other].at, other) for other in alike])

    def _parents(self, place: int) -> list[int]:
        found = [self._meant(place, parent) for parent in self._noted[place].parents]
        return [other for other in found if other is not None]

    # For an import, once the file is known to be sound: places count from 0, in the order of the file.

    def replacements(self) -> list[tuple[int, int]]:
        """Each entry that another one of the file supersedes, with that one; the oldest first."""
        hashes = {place: content_hash for content_hash, places in self._by_hash.items() for place in places}
        pairs = []
        for place, noted in enumerate(self._noted):
            following = self._by_hash.get(noted.superseded_by, []) if noted.superseded_by is not None else []
            later = [other for other in following if self._noted[other].at > noted.at]
            if later:
                pairs.append((place, min(later, key=lambda other: self._fit(noted, hashes[place], other))))
        return sorted(pairs, key=lambda pair: self._noted[pair[0]].at)

    def _fit(self, old: _Noted, content_hash: bytes, other: int) -> tuple[bool, bool, tuple[datetime, int]]:
        """Of several with the words of the replacement: the one that names the old one as a parent, from the same place."""
        new = self._noted[other]
        return content_hash not in new.parents, old.home != new.home, new.at

    def parents_first(self) -> list[int]:
        """The places of all entries, each after what it builds upon and what it supersedes, else by their time."""
        before: dict[int, list[int]] = {place: self._parents(place) for place in range(len(self._noted))}
        for old, new in self.replacements():
            before[new].append(old)
        order: dict[int, None] = {}
        for start in sorted(before, key=lambda place: self._noted[place].at):
            path = {start: iter(before[start])}
            while path:
                place, rest = next(reversed(path.items()))
                waiting = next((other for other in rest if other not in order and other not in path), None)
                if waiting is None:
                    order[place] = None
                    del path[place]
                else:
                    path[waiting] = iter(before[waiting])
        return list(order)
