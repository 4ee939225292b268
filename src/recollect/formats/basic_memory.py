"""Basic Memory's notes: a folder of Markdown files, each with front matter, observations, relations and prose.

``- [category] words #tag (context)`` is an observation, which may leave out the category if it has a tag, and
``- type [[Other note]] (context)`` a relation, wherever they stand; every other paragraph is prose. Each becomes a memory that
names its note, since alone it would not say what it is about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recollect.formats.conversations import pieces_of
from recollect.formats.fields import said_at, text_of, texts_of, without_empty
from recollect.formats.protocol import ORIGIN, Document, Foreign, Format, Options, Source

NAME = "basic-memory"
SUFFIX = ".md"
MAX_TAGS = 60
_OBSERVATION = re.compile(r"\[(?P<category>[^\[\]()]+)\]\s+(?P<text>\S.*)")
_RELATION = re.compile(r"(?P<type>[^\[\]]*)\[\[(?P<target>[^\[\]]+)\]\](?P<rest>.*)")
_BULLETS = ("- ", "* ")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^#{1,6}\s")
_TASK = re.compile(r"[xX]|[^\w]|\d{1,3}:\d\d(:\d\d)?([.,]\d{1,3})?( - \d.*)?")
"""What stands in the brackets of a task, or of a time in a transcript: neither is an observation."""
_DIRECTIVE = re.compile(r"\s#bm:links_to\s*$")
"""Says how a link is to be counted, and nothing about the matter."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that a note says, from a line on."""

    line: int
    fields: dict[str, Any]
    piece: int = 1


def read(source: Source, options: Options) -> Iterator[Foreign]:
    number = 0
    for document in source.documents(SUFFIX):
        for found in _note(document):
            number += 1
            place = f"{document.path}, line {found.line}" if isinstance(found, _Part) else document.path
            if isinstance(found, _Part):
                yield Foreign(number, place, found.fields, f"{document.path}#{found.line}.{found.piece}")
            elif document.problem:
                yield Foreign(number, place, refused=found)
            else:
                yield Foreign(number, place, skipped=found)


def _note(document: Document) -> Iterator[_Part | str]:
    """What a note says, or in words why it says nothing."""
    if document.problem:
        yield document.problem
        return
    about = _About.of(document)
    said: list[_Part | str] = [*_parts(document.text, about, document.first_line)]
    yield from said or ["has no text"]


@dataclass(frozen=True, slots=True)
class _About:
    """What a note is called and where it is."""

    title: str
    type: str
    tags: list[str]
    origin: dict[str, Any]

    @classmethod
    def of(cls, document: Document) -> "_About":
        front = document.front
        title = text_of(front.get("title")) or document.path.rsplit("/", 1)[-1].removesuffix(SUFFIX)
        kept = {name: front.get(name) for name in ("title", "type", "permalink", "created", "modified")}
        others = {name: value for name, value in front.items() if name not in kept and name != "tags"}
        came = without_empty({"format": NAME, "note": document.path, **kept, "front_matter": others})
        return cls(title, text_of(front.get("type")) or "note", _tags(front.get("tags")), came)

    def memory(self, text: str, **more: Any) -> dict[str, Any]:
        content = text if self.title.lower() in text.lower() else f"{self.title}: {text}"
        tags = list(dict.fromkeys([*self.tags, *more.pop("tags", [])]))[:MAX_TAGS]
        came = {**self.origin, **more.pop("origin", {})}
        time = said_at(self.origin.get("modified"), self.origin.get("created"))
        fields = {"content": content, "tags": tags, "source": "import", **time, "meta": {ORIGIN: came}, **more}
        return without_empty({"entities": [{"name": self.title, "type": self.type}], **fields})


def _tags(value: Any) -> list[str]:
    given = value.split(",") if isinstance(value, str) else texts_of(value)
    return [tag.strip().removeprefix("#") for tag in given if tag.strip().removeprefix("#")]


def _parts(text: str, about: _About, first_line: int) -> Iterator[_Part]:
    prose: list[str] = []
    began, fenced = first_line, False
    for number, line in enumerate([*text.split("\n"), ""], start=first_line):
        fenced ^= bool(_FENCE.match(line))
        said = line.strip()
        found = _marked(said[2:].lstrip(), about) if not fenced and said.startswith(_BULLETS) else None
        ends = found is not None or (not fenced and (not line.strip() or bool(_HEADING.match(line))))
        if ends:
            yield from _prose(prose, began, about)
            prose = []
            if found is not None:
                yield _Part(number, found)
            continue
        began = number if not prose else began
        prose.append(line)
    yield from _prose(prose, began, about)


def _marked(said: str, about: _About) -> dict[str, Any] | None:
    """The observation or the relation that a bullet is, if it is one."""
    said = _DIRECTIVE.sub("", said)
    return _observation(said, about) or _relation(said, about) or _tagged(said, about)


def _observation(said: str, about: _About) -> dict[str, Any] | None:
    match = _OBSERVATION.fullmatch(said)
    if match is None or _TASK.fullmatch(match["category"]):
        return None
    return _observed(match["text"], match["category"].strip(), about)


def _tagged(said: str, about: _About) -> dict[str, Any] | None:
    """A bullet with a tag is an observation without a category, unless it is a task."""
    task = said.startswith("[") and _TASK.fullmatch(said[1 : max(1, said.find("]"))])
    return _observed(said, None, about) if _TAG.search(said) and not task and "[[" not in said else None


def _observed(said: str, category: str | None, about: _About) -> dict[str, Any]:
    text, context = _and_context(said)
    came = without_empty({"category": category, "context": context})
    return about.memory(text, tags=[*([category] if category else []), *_TAG.findall(text)], origin=came)


def _and_context(said: str) -> tuple[str, str | None]:
    """What is said, and what stands in brackets at its end."""
    begin = said.rfind(" (")
    if begin <= 0 or not said.endswith(")") or ")" in said[begin:-1]:
        return said, None
    return said[:begin].rstrip(), said[begin + 2 : -1].strip()


def _relation(said: str, about: _About) -> dict[str, Any] | None:
    match = _RELATION.fullmatch(said)
    rest = match["rest"].strip() if match else ""
    if match is None or (rest and not (rest.startswith("(") and rest.endswith(")"))):
        return None
    type, target = match["type"].strip().strip("\"'") or "relates to", match["target"].strip()
    edge = {"from": about.title, "to": target, "type": type}
    came = without_empty({"context": rest[1:-1].strip()})
    return about.memory(f"{about.title} {type.replace('_', ' ')} {target}", relationships=[edge], origin=came)


def _prose(lines: list[str], began: int, about: _About) -> Iterator[_Part]:
    text = "\n".join(lines).strip()
    room = len(f"{about.title}: ".encode())
    for count, piece in enumerate(pieces_of(text, room) if text else (), start=1):
        yield _Part(began, about.memory(piece), count)


FORMAT = Format(NAME, "a folder of Basic Memory's Markdown notes", read)
