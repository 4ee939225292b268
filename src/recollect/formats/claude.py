"""Claude's data export: ``conversations.json``, a list of conversations with their messages, and ``memories.json``."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.formats.conversations import (
    MAX_MESSAGE_CHARACTERS,
    OTHER_BRANCH,
    Conversation,
    Counting,
    Message,
    circle,
    pieces_of,
    unfit,
)
from recollect.formats.fields import id_of, refusal, text_of, without_empty
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source

NAME = "claude"
MEMORIES = ("conversations_memory", "project_memories")
"""What Claude itself remembers of all conversations, and of those of each project; in a file of its own."""
ROOT = "00000000-"
"""How the parent of a first message begins: there is none."""
TOO_LONG = f"is a file of more than {MAX_MESSAGE_CHARACTERS:,} characters, and no memory"
_HEADING = re.compile(r"#{1,6} (?P<hashed>[^\n]+)|\*\*(?P<bold>[^*\n]+)\*\*:?")


def read(source: Source, options: Options) -> Iterator[Foreign]:
    counting = Counting()
    for element in source.elements():
        talk = element.value
        if isinstance(talk, dict) and any(name in talk for name in MEMORIES):
            yield from _remembered(counting, element.place, talk)
            continue
        place = f"conversation {element.number}"
        if not isinstance(talk, dict) or not isinstance(talk.get("chat_messages"), list):
            yield counting.broken(place, refusal(talk, "is not a conversation: it has no chat_messages"))
            continue
        if (wrong := circle(_parents(talk))) is not None:
            yield counting.broken(place, wrong)
            continue
        about = Conversation(NAME, place, id_of(talk.get("uuid")), text_of(talk.get("name")))
        shown = _branch(talk)
        for number, message in enumerate(talk["chat_messages"], start=1):
            found = _message(message)
            if shown is not None and found.id not in shown:
                found = Message(found.role, id=found.id, skipped=OTHER_BRANCH, refused=found.refused)
            yield from counting.foreign(about, number, found)
            for nth, file in enumerate(_pasted(message, found), start=1):
                yield from counting.foreign(about, f"{number}, file {nth}", file)


def _parents(talk: Mapping[str, Any]) -> dict[str, Any]:
    messages = [one for one in talk["chat_messages"] if isinstance(one, dict)]
    return {str(one.get("uuid")): one.get("parent_message_uuid") for one in messages}


def _branch(talk: Mapping[str, Any]) -> set[str] | None:
    """The ids of the messages that the person saw last; nothing where the export does not say which follows which."""
    messages = [one for one in talk["chat_messages"] if isinstance(one, dict)]
    parents = _parents(talk)
    last = talk.get("current_leaf_message_uuid") or (messages[-1].get("uuid") if messages else None)
    found: set[str] = set()
    while isinstance(last, str) and last in parents:
        found.add(last)
        last = parents[last]
    return found if isinstance(last, str) and last.startswith(ROOT) else None


def _remembered(counting: Counting, place: str, memories: Mapping[str, Any]) -> Iterator[Foreign]:
    """What Claude remembers, a paragraph a memory: a model wrote it, from many conversations."""
    everywhere, projects = (memories.get(name) for name in MEMORIES)
    said = [(None, everywhere), *(projects.items() if isinstance(projects, dict) else ())]
    for project, text in said:
        where = f"{place}, {'what is remembered' if project is None else f'project {project}'}"
        if wrong := unfit(text_of(text) or ""):
            yield counting.broken(where, wrong)
            continue
        for heading, paragraph in _paragraphs(text_of(text) or ""):
            came = without_empty({"format": NAME, "memory_of": project or "all conversations", "heading": heading})
            yield counting.plain(where, {"content": paragraph, "source": "agent", "meta": {ORIGIN: came}})


def _paragraphs(text: str) -> Iterator[tuple[str | None, str]]:
    """The paragraphs of a text, each with the heading that it stands under."""
    heading = None
    for paragraph in re.split(r"\n\s*\n", text):
        words = paragraph.strip()
        if match := _HEADING.fullmatch(words):
            heading = (match["hashed"] or match["bold"]).strip()
        elif words:
            yield from ((heading, piece) for piece in pieces_of(words))


def _message(message: Any) -> Message:
    if not isinstance(message, dict):
        return Message("", refused="is not an object")
    files = [_file_name(one) for name in ("attachments", "files") for one in _listed(message.get(name))]
    others = [_type(one) for one in _listed(message.get("content")) if _type(one) != "text"]
    besides = without_empty({"files": [name for name in files if name], "not_text": others[:20]})
    return Message(
        "user" if message.get("sender") == "human" else str(message.get("sender") or ""),
        _text(message),
        id_of(message.get("uuid")),
        message.get("created_at"),
        besides,
    )


def _pasted(message: Any, found: Message) -> Iterator[Message]:
    """The words of the files that were attached to a message, each as a message of its own: so they were said."""
    attached = _listed(message.get("attachments")) if isinstance(message, dict) else []
    words = [(one, text_of(one.get("extracted_content"))) for one in attached if isinstance(one, dict)]
    for number, (file, text) in enumerate(words, start=1):
        if text is None:
            continue
        id = f"{found.id}/file-{number}" if found.id is not None else None
        besides = without_empty({"file_name": _file_name(file), "attached_to": found.id})
        too_long = TOO_LONG if len(text) > MAX_MESSAGE_CHARACTERS else None
        kept = "" if found.skipped or too_long else text
        yield Message(found.role, kept, id, found.at, besides, skipped=found.skipped or too_long)


def _text(message: Mapping[str, Any]) -> str:
    """The text blocks of a message; older exports only have its text."""
    blocks = [one for one in _listed(message.get("content")) if _type(one) == "text"]
    texts = [text for one in blocks if (text := text_of(one.get("text")))]
    return "\n".join(texts) if texts else text_of(message.get("text")) or ""


def _type(block: Any) -> str:
    return str(block.get("type", "unknown"))[:80] if isinstance(block, dict) else "unknown"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _file_name(value: Any) -> str | None:
    return text_of(value.get("file_name")) if isinstance(value, dict) else None


FORMAT = Format(
    NAME,
    "Claude's conversations.json or memories.json, its folder or the zip",
    read,
    files=r"(conversations|memories)(-\d+)?\.json",
)
