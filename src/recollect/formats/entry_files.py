"""Files of memory entries: read one at a time, checked against each other, and offered to the gates as a format.

Nothing is held but the entry at hand, which has a size limit: a list of a billion elements, or one endless line, costs
no more memory than an honest file. What cannot be read is reported with its number and line, and is no exception.
"""

import json
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

from recollect.formats import entries
from recollect.formats.decoding import JsonText, Unreadable, note_repeated_fields
from recollect.formats.entries import find_problems, isolate_fields
from recollect.formats.fields import as_created_at, mapping_of, parse_lines, read_each_line, writes_lines
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source
from recollect.model.canonical import parse_time
from recollect.rules.trust.provenance import Circle, circles, on_a_cycle

MAX_ENTRY_CHARACTERS = 1_000_000
"""Content has 10,240 bytes at most, and what surrounds it has limits too: whatever is longer is no entry."""
CHUNK = 65_536
MAX_DIGITS = 400
_BLANK = " \t\r\n"


@runtime_checkable
class Readable(Protocol):
    """An open text file."""

    def read(self, size: int = ..., /) -> str: ...
    def readline(self, size: int = ..., /) -> str: ...


class Read(NamedTuple):
    """One entry of a file: its number from 1 on, the line it begins on, and its value, or what is wrong with it."""

    number: int
    line: int
    value: Any
    problem: str | None = None


def read_entries(stream: Readable) -> Iterator[Read]:
    """Yield every entry of a file in order. A broken line is reported and skipped; a broken list ends where it breaks."""
    source = _Source(stream)
    if source.peek() == "[":
        yield from _read_list(source)
    elif source.is_lines():
        yield from _read_lines(source)
    else:
        yield from _read_objects(source)


class _Decoder(json.JSONDecoder):
    """Strict JSON: what the standard library lets pass, and others would read otherwise, is noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        pairs = partial(note_repeated_fields, self.notes)
        super().__init__(object_pairs_hook=pairs, parse_constant=self._constant, parse_int=self._integer)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        self.notes.clear()
        return super().raw_decode(s, idx)

    @property
    def note(self) -> str | None:
        """What is wrong with the last value although it can be read."""
        return self.notes[0] if self.notes else None

    def _constant(self, word: str) -> None:
        self.notes.append(f"{word} is not JSON: expected a number")

    def _integer(self, digits: str) -> int:
        if len(digits) > MAX_DIGITS:
            self.notes.append(f"a number has {len(digits):,} digits")
            return 0
        return int(digits)


class _Source(JsonText):
    """A file of entries: lines, one list, or objects one after another."""

    def __init__(self, stream: Readable) -> None:
        self.decoder = _Decoder()
        super().__init__(iter(lambda: stream.read(CHUNK), ""), self.decoder, MAX_ENTRY_CHARACTERS)
        self.read_more()
        self.text = self.text.removeprefix("\ufeff")

    def is_lines(self) -> bool:
        """Return whether every line is an entry: the first is one by itself, or it is broken and the second begins one."""
        while "\n" not in self.text and self.remaining <= MAX_ENTRY_CHARACTERS and self.read_more():
            pass
        line, _, rest = self.text[self.at :].partition("\n")
        try:
            return self.decoder.raw_decode(line)[1] == len(line.rstrip(_BLANK))
        except (ValueError, RecursionError):
            return rest.lstrip(_BLANK)[:1] in ("{", "")

    def take_line(self) -> str | None:
        """Return the next line without its end; ``None`` if it is longer than any entry, and was passed over."""
        size, found = 0, self.text.find("\n", self.at)
        while found < 0 and not self.ended:
            if self.remaining > MAX_ENTRY_CHARACTERS:
                size, self.at = size + self.remaining, len(self.text)
            self.read_more()
            found = self.text.find("\n", self.at)
        end = found if found >= 0 else len(self.text)
        line = self.text[self.at : end]
        self.advance_to(end)
        return line if size + len(line) <= MAX_ENTRY_CHARACTERS else None


def _read_lines(source: _Source) -> Iterator[Read]:
    number = 0
    while source.peek():
        line, number = source.line, number + 1
        text = source.take_line()
        if text is None:
            yield Read(number, line, None, f"is longer than {MAX_ENTRY_CHARACTERS:,} characters: no entry is")
        else:
            yield _read_line(source.decoder, number, line, text.rstrip(_BLANK))


def _read_line(decoder: _Decoder, number: int, line: int, text: str) -> Read:
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        return Read(number, line, None, f"is not JSON at character {error.pos + 1}: {error.msg}")
    except RecursionError:
        return Read(number, line, None, "is nested too deeply")
    if end != len(text):
        return Read(
            number, line, None, f"has something after its end, at character {end + 1}: expected one entry a line"
        )
    return Read(number, line, value, decoder.note)


def _read_list(source: _Source) -> Iterator[Read]:
    """Yield the elements of one list, and nothing after it."""
    source.advance_to(source.at + 1)
    number = 0
    while (following := source.peek()) != "]":
        number += 1
        if number > 1:
            if following != ",":
                yield _broken_read(number, source.line, "the list is not closed: expected , or ]")
                return
            source.advance_to(source.at + 1)
            source.peek()
        read = _read_value(source, number)
        yield read
        if read.problem is not None and read.value is None:
            return
    source.advance_to(source.at + 1)
    if source.peek():
        yield _broken_read(number + 1, source.line, "something follows the list")


def _read_objects(source: _Source) -> Iterator[Read]:
    number = 0
    while source.peek():
        number += 1
        read = _read_value(source, number)
        yield read
        if read.problem is not None and read.value is None:
            return


def _read_value(source: _Source, number: int) -> Read:
    line = source.line
    try:
        return Read(number, line, source.value(), source.decoder.note)
    except Unreadable as error:
        return _broken_read(number, error.line, str(error))


def _broken_read(number: int, line: int, what: str) -> Read:
    return Read(number, line, None, f"{what}. The rest of the file was not read")


# What is wrong in a file: in each entry, and between them.
# An entry is reported as soon as it is read. What takes the whole file (that it is there twice, that a parent is missing,
# that parents go round in a circle) is reported at the end; until then a few hashes of each entry are all that is kept.
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
"""When an entry was said, and its place among the noted entries."""


class _Noted(NamedTuple):
    """What is kept of a sound entry."""

    number: int
    line: int
    at: At
    parents: tuple[bytes, ...]
    superseded_by: bytes | None
    home: int
    """Stands for the place and the name that a memory of Recollect had."""


def hash_home(entry: Mapping[str, Any]) -> int:
    """Return a hash of the place and the name that an entry from Recollect states; other entries share one."""
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

    def check_entry(self, read: Read) -> Iterator[Finding]:
        """Yield what is wrong with one entry. A sound one is kept in mind."""
        self.entries += 1
        if read.problem is not None:
            yield Finding(read.number, read.line, "", read.problem)
            return
        found = find_problems(read.value)
        yield from (Finding(read.number, read.line, *problem) for problem in found)
        if not found:
            yield from self._remember_entry(read)

    def _remember_entry(self, read: Read) -> Iterator[Finding]:
        entry = read.value
        content_hash, at = bytes.fromhex(entry["content_hash"]), parse_time(entry["timestamp"])
        same = self._seen.setdefault((content_hash, entry["author"]["id"], at), read.number)
        if same != read.number:
            yield Finding(read.number, read.line, "content_hash", f"is entry {same} again: same words, author and time")
            return
        parents = tuple(bytes.fromhex(one) for one in entry.get("parent_refs", ()))
        replaced = bytes.fromhex(entry["superseded_by"]) if "superseded_by" in entry else None
        self._by_hash.setdefault(content_hash, []).append(len(self._noted))
        self._noted.append(_Noted(read.number, read.line, (at, read.number), parents, replaced, hash_home(entry)))

    def check_file(self) -> Iterator[Finding]:
        """Yield what is wrong between the entries."""
        if not self._partial:
            yield from self._find_dangling()
            yield from self._find_version_circles()
        parents = self._resolve_parents()
        for place, circle in circles(parents).items():
            message = f"builds upon an entry that builds upon it: {self._describe_circle(place, circle)}"
            yield self._make_finding(place, "parent_refs", message)
        for place in self._find_replaced_by_parents(parents):
            yield self._make_finding(place, "superseded_by", REPLACED_BY_PARENT)

    def _make_finding(self, place: int, path: str, message: str) -> Finding:
        return Finding(self._noted[place].number, self._noted[place].line, path, message)

    def _describe_circle(self, place: int, circle: Circle[int]) -> str:
        """Return the entries of a circle by their numbers, from one of them back to it."""
        between = [other for other in circle.nodes if other != place]
        hidden = circle.size - 1 - len(between)
        names = [str(self._noted[other].number) for other in (place, *between)]
        more = [f"… ({hidden:,} more)"] if hidden else []
        return f"entries {' → '.join([*names, *more, names[0]])}"

    def _find_dangling(self) -> Iterator[Finding]:
        for noted in self._noted:
            named = {f"parent_refs[{nth}]": parent for nth, parent in enumerate(noted.parents)}
            for path, one in {**named, "superseded_by": noted.superseded_by}.items():
                if one is not None and one not in self._by_hash:
                    message = f"no entry of the file has the content hash {one.hex()[:12]}…"
                    yield Finding(noted.number, noted.line, path, message)

    def _find_version_circles(self) -> Iterator[Finding]:
        """Find entries that supersede each other, so that none would be left. In a part of a file, another entry may be meant."""
        alike = self._sort_by_time()
        following = {place: self._find_replacement(noted, alike) for place, noted in enumerate(self._noted)}
        for place, circle in circles(following).items():
            yield self._make_finding(place, "superseded_by", f"{CIRCLE} ({self._describe_circle(place, circle)})")

    def _find_replaced_by_parents(self, parents: Mapping[int, Sequence[int]]) -> Iterator[int]:
        """Yield the entries that build upon the very entry that supersedes them: it cannot be both older and newer."""
        alike = self._sort_by_time()
        for place, noted in enumerate(self._noted):
            if noted.superseded_by in noted.parents and set(self._find_replacement(noted, alike)) & set(parents[place]):
                yield place

    def _sort_by_time(self) -> dict[bytes, list[Placed]]:
        """Return the entries of each content, by their time: sorted once, since one content may be there many times."""
        return {one: sorted((self._noted[n].at, n) for n in places) for one, places in self._by_hash.items()}

    def _find_replacement(self, noted: _Noted, in_order: Mapping[bytes, list[Placed]]) -> list[int]:
        """Return the entry that is meant by ``superseded_by``: the first that came later, else the last before it."""
        alike = in_order.get(noted.superseded_by, []) if noted.superseded_by is not None else []
        later = _first_after(alike, noted.at)
        return [later] if later is not None else [place for _, place in alike[-1:]]

    def _resolve_parents(self) -> dict[int, list[int]]:
        """Return the parents of each entry: of several with the named content, the last before it, else the first after."""
        alike = self._sort_by_time()
        return {
            place: [
                other
                for parent in noted.parents
                if (other := _find_named(alike.get(parent, []), noted.at)) is not None and other != place
            ]
            for place, noted in enumerate(self._noted)
        }

    # For an import, once the file is known to be sound: places count from 0, in the order of the file.

    def find_replacements(self) -> list[tuple[int, int]]:
        """Return each entry that another one of the file supersedes, with that one; the oldest first.

        Of several with the words of the replacement: one that names the old one as a parent, from the same place, else one
        that names it, else one from the same place; of these the first that came later.
        """
        hashes = {place: content_hash for content_hash, places in self._by_hash.items() for place in places}
        by_fit = self._group_by_fit(hashes)
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

    def _group_by_fit(self, hashes: Mapping[int, bytes]) -> dict[Hashable, list[Placed]]:
        """Group possible replacements by content, named parent and home, each also without parent or home."""
        wanted = {noted.superseded_by for noted in self._noted}
        found: dict[Hashable, list[Placed]] = {}
        for place in sorted((n for n, own in hashes.items() if own in wanted), key=lambda n: self._noted[n].at):
            noted, own = self._noted[place], hashes[place]
            for parent in (None, *noted.parents):
                for home in (None, noted.home):
                    found.setdefault((own, parent, home), []).append((noted.at, place))
        return found

    def order_parents_first(self) -> list[int]:
        """Return the places of all entries, each after what it builds upon and what it supersedes, else by their time."""
        before = self._resolve_parents()
        for old, new in self.find_replacements():
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
    """Return the first entry whose time is after ``at``."""
    after = bisect_right(in_order, at, key=lambda one: one[0])
    return in_order[after][1] if after < len(in_order) else None


def _find_named(in_order: Sequence[Placed], at: At) -> int | None:
    """Return the entry that a name means among entries in order, as ``rules.provenance.meant_by`` decides."""
    after = bisect_right(in_order, at, key=lambda one: one[0])
    before = after - 1 if after and in_order[after - 1][0] == at else after
    if before:
        return in_order[before - 1][1]
    return in_order[after][1] if after < len(in_order) else None


# Entries as a format: one a line, each checked before it is offered to the gates.
# Lines are read one by one and in any order. What was superseded or archived is kept for the record, apart from what replaced
# it, which may have come before it; ``recollect entry import``, which holds a whole file, makes versions of them.
NAME = "entries"


def read(source: Source) -> Iterator[Foreign]:
    """Read twice: once to see which entries supersede each other, and once to take them in."""
    latest: dict[str, str] = {}
    round = _find_circles(_note_latest(source, latest))

    def to_foreign(number: int, place: str, entry: Mapping[str, Any]) -> Foreign:
        found = _to_foreign(number, place, entry)
        if found.refused is not None or "superseded_by" not in entry:
            return found
        by = entry["superseded_by"]
        if entry["content_hash"] in round:
            return Foreign(number, place, refused=f"superseded_by: {CIRCLE}")
        if by in entry.get("parent_refs", ()) and latest.get(by, _NEVER) <= found.fields["created_at"]:
            return Foreign(number, place, refused=f"superseded_by: {REPLACED_BY_PARENT}")
        return found

    return read_each_line(source, source.lines(), to_foreign)


_NEVER = "~"
"""Later than any time: where the entry that is named is not in the file, another of its words may be meant."""


def _note_latest(source: Source, latest: dict[str, str]) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a source, and note when the words of each were said last."""
    for _, value in parse_lines(source, source.lines()):
        if not isinstance(value, dict):
            continue
        own, at = str(value.get("content_hash")), as_created_at(value.get("timestamp")).get("created_at")
        if at is not None:
            latest[own] = max(at, latest.get(own, ""))
        yield value


def _find_circles(found: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the hashes of entries that supersede each other, of which none stays. Words that came back later do stay."""
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
    return _reach_all(found_on, following) & _reach_all(found_on, before)


def _reach_all(start: Sequence[str], steps: Mapping[str, Iterable[str]]) -> set[str]:
    reached, waiting = set(start), [*start]
    while waiting:
        new = [one for one in steps.get(waiting.pop(), ()) if one not in reached]
        reached.update(new)
        waiting += new
    return reached


def _to_foreign(number: int, place: str, entry: Mapping[str, Any]) -> Foreign:
    problems = entries.find_problems(entry)
    if problems:
        return Foreign(number, place, refused=f"{problems[0].path or 'the entry'}: {problems[0].message}")
    fields = entries.candidate_fields(entry)
    history = entries.is_put_away(entry) or "superseded_by" in entry
    fields = isolate_fields(entry, fields) if history else fields
    fields["meta"] = {**fields["meta"], ORIGIN: {"format": NAME}}
    return Foreign(number, place, fields, put_away=history, entry=entry)


FORMAT = Format(NAME, "memory entries, JSON lines", read, writes_lines(entries.to_entry))
