"""What is wrong in a file of entries: in each of them, and between them.

An entry is told about as soon as it is read. What takes the whole file (that it is there twice, that a parent is missing,
that parents go round in a circle) is told at the end; until then a few hashes of each entry are all that is kept.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from recollect.formats.entries import problems_of
from recollect.formats.entry_files import Read
from recollect.formats.fields import mapping_of
from recollect.model.canonical import parse_time
from recollect.rules.trust.provenance import Circle, circles

CIRCLE = "is superseded by an entry that it supersedes itself: expected one that came later and stays"

REPLACED_BY_PARENT = "is one of its parents: what an entry builds upon came before it, and cannot replace it"


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


At = tuple[datetime, int]
"""When an entry was said, and its number: no two are the same."""
Placed = tuple[At, int]
"""When, and its place among those that were noted."""


class _Noted(NamedTuple):
    """What is kept of a sound entry."""

    number: int
    line: int
    at: At
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
        parents = self._all_parents()
        for place, circle in circles(parents).items():
            told = f"builds upon an entry that builds upon it: {self._around(place, circle)}"
            yield self._finding(place, "parent_refs", told)
        for place in self._replaced_by_parents(parents):
            yield self._finding(place, "superseded_by", REPLACED_BY_PARENT)

    def _finding(self, place: int, path: str, message: str) -> Finding:
        return Finding(self._noted[place].number, self._noted[place].line, path, message)

    def _around(self, place: int, circle: Circle[int]) -> str:
        """The entries of a circle by their numbers, from one of them back to it."""
        between = [other for other in circle.nodes if other != place]
        hidden = circle.size - 1 - len(between)
        names = [str(self._noted[other].number) for other in (place, *between)]
        more = [f"… ({hidden:,} more)"] if hidden else []
        return f"entries {' → '.join([*names, *more, names[0]])}"

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
        alike = self._in_order()
        following = {place: self._following(noted, alike) for place, noted in enumerate(self._noted)}
        for place, circle in circles(following).items():
            yield self._finding(place, "superseded_by", f"{CIRCLE} ({self._around(place, circle)})")

    def _replaced_by_parents(self, parents: Mapping[int, Sequence[int]]) -> Iterator[int]:
        """Yield the entries that build upon the very entry that supersedes them: it cannot be both older and newer."""
        alike = self._in_order()
        for place, noted in enumerate(self._noted):
            if noted.superseded_by in noted.parents and set(self._following(noted, alike)) & set(parents[place]):
                yield place

    def _in_order(self) -> dict[bytes, list[Placed]]:
        """The entries of each content, by their time: sorted once, since one content may be there many times."""
        return {one: sorted((self._noted[n].at, n) for n in places) for one, places in self._by_hash.items()}

    def _following(self, noted: _Noted, in_order: Mapping[bytes, list[Placed]]) -> list[int]:
        """The entry that is meant by ``superseded_by``: the first that came later, else the last before it."""
        alike = in_order.get(noted.superseded_by, []) if noted.superseded_by is not None else []
        later = _first_after(alike, noted.at)
        return [later] if later is not None else [place for _, place in alike[-1:]]

    def _all_parents(self) -> dict[int, list[int]]:
        """What each entry builds upon: of several with the content that it names, the last before it, else the first after."""
        alike = self._in_order()
        return {
            place: [
                other
                for parent in noted.parents
                if (other := _meant(alike.get(parent, []), noted.at)) is not None and other != place
            ]
            for place, noted in enumerate(self._noted)
        }

    # For an import, once the file is known to be sound: places count from 0, in the order of the file.

    def replacements(self) -> list[tuple[int, int]]:
        """Each entry that another one of the file supersedes, with that one; the oldest first.

        Of several with the words of the replacement: one that names the old one as a parent, from the same place, else one
        that names it, else one from the same place; of these the first that came later.
        """
        hashes = {place: content_hash for content_hash, places in self._by_hash.items() for place in places}
        by_fit = self._by_fit(hashes)
        pairs = []
        for place, noted in enumerate(self._noted):
            if (new := noted.superseded_by) is None:
                continue
            old = hashes[place]
            for fit in ((new, old, noted.home), (new, old, None), (new, None, noted.home), (new, None, None)):
                if (later := _first_after(by_fit.get(fit, []), noted.at)) is not None:
                    pairs.append((place, later))
                    break
        return sorted(pairs, key=lambda pair: self._noted[pair[0]].at)

    def _by_fit(self, hashes: Mapping[int, bytes]) -> dict[Hashable, list[Placed]]:
        """Those that may replace another, by their words, a parent that they name, and their home; each also without these."""
        wanted = {noted.superseded_by for noted in self._noted}
        found: dict[Hashable, list[Placed]] = {}
        for place in sorted((n for n, own in hashes.items() if own in wanted), key=lambda n: self._noted[n].at):
            noted, own = self._noted[place], hashes[place]
            for parent in (None, *noted.parents):
                for home in (None, noted.home):
                    found.setdefault((own, parent, home), []).append((noted.at, place))
        return found

    def parents_first(self) -> list[int]:
        """The places of all entries, each after what it builds upon and what it supersedes, else by their time."""
        before = self._all_parents()
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


def _first_after(in_order: Sequence[Placed], at: At) -> int | None:
    """The first that came later."""
    after = bisect_right(in_order, at, key=lambda one: one[0])
    return in_order[after][1] if after < len(in_order) else None


def _meant(in_order: Sequence[Placed], at: At) -> int | None:
    """Which one is meant by whoever names it, as ``rules.provenance.meant_by`` has it, of many that are in order."""
    after = bisect_right(in_order, at, key=lambda one: one[0])
    before = after - 1 if after and in_order[after - 1][0] == at else after
    if before:
        return in_order[before - 1][1]
    return in_order[after][1] if after < len(in_order) else None
