"""Exported conversations, of ChatGPT and of Claude.

Every message becomes one event: who said it, in which conversation, and when. What is longer than a memory may be is
kept in parts, cut where no secret is divided, since half a secret looks like none.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from recollect.formats.fields import as_created_at, describe_refusal, id_of, mapping_of, text_of, without_empty
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.rules.privacy import scan
from recollect.rules.prompt.turn_lines import split_parts
from recollect.rules.trust.provenance import on_a_cycle

SPOKEN_BY = {"user": "user", "human": "user", "assistant": "agent", "tool": "tool"}
"""Who said it. What an export gives as the system's was the service's, not this operator's: an import."""

MAX_MESSAGE_CHARACTERS = 2**18
"""A longer message is a file that was pasted, and no memory."""
OTHER_BRANCH = "is on a branch that was left: another answer was asked for, or the question was changed"
_SURROGATE = re.compile("[\ud800-\udfff]")


def describe_circle(parents: Mapping[str, Any]) -> str | None:
    """Return the error for messages that follow each other in a circle, so that none of them is the first."""
    known = {id: [parent] if isinstance(parent, str) and parent in parents else [] for id, parent in parents.items()}
    found = sorted(on_a_cycle(known))
    if not found:
        return None
    shown = ", ".join(f"{id[:40]!r}" for id in found[:3])
    return f"its messages follow each other in a circle ({shown}): expected a first one that follows none"


def _walk_branch(parents: Mapping[str, Any], last: Any) -> tuple[list[str], Any]:
    """Return the messages from ``last`` back to the first that is known, and the parent that this one names."""
    found = []
    while isinstance(last, str) and last in parents:
        found.append(last)
        last = parents[last]
    return found, last


class Message(NamedTuple):
    """One message. ``skipped`` says why it is not imported, ``refused`` that it is broken."""

    role: str
    text: str = ""
    id: str | None = None
    at: Any = None
    besides: Mapping[str, Any] = {}
    """What else it had, such as the names of files."""
    skipped: str | None = None
    refused: str | None = None


class Conversation(NamedTuple):
    """A conversation's own id and name."""

    format: str
    place: str
    id: str | None
    title: str | None


def _to_records(numbers: Iterator[int], talk: Conversation, place: int | str, message: Message) -> Iterator[Foreign]:
    """Yield a message as one record, or as one for each of its parts; ``numbers`` count the records of the file."""
    where = f"{talk.place}, message {place}"
    refused = message.refused or find_fault(message.text)
    skipped = message.skipped or (None if message.text.strip() else "has no text")
    if refused or skipped:
        yield Foreign(next(numbers), where, id=message.id, skipped=None if refused else skipped, refused=refused)
        return
    pieces = split_long_text(message.text)
    for nth, piece in enumerate(pieces, start=1):
        part = {"part": nth, "parts": len(pieces)} if len(pieces) > 1 else {}
        said = f"{where}, part {nth} of {len(pieces)}" if part else where
        id = f"{message.id}#{nth}" if part and message.id else message.id
        yield Foreign(next(numbers), said, _to_fields(talk, message, piece, part), id)


def split_long_text(text: str, room: int = 0) -> tuple[str, ...]:
    """Return a text in parts that are no longer than a memory may be, with ``room`` bytes to spare."""
    limit = max(MAX_CONTENT_BYTES - room, MAX_CONTENT_BYTES // 2)
    if len(text.encode("utf-8")) <= limit:
        return (text,)
    return split_parts(text, limit, whole=[(hit.start, hit.end) for hit in scan(text)])


def find_fault(text: str) -> str | None:
    """Return why a text cannot be stored, or ``None`` if it can."""
    if len(text) > MAX_MESSAGE_CHARACTERS:
        return f"is longer than {MAX_MESSAGE_CHARACTERS:,} characters"
    return "holds a lone surrogate (invalid UTF-8)" if _SURROGATE.search(text) else None


def _to_fields(talk: Conversation, message: Message, text: str, part: dict[str, int]) -> dict[str, Any]:
    came_from = without_empty(
        {
            "format": talk.format,
            "id": message.id,
            "conversation": talk.id,
            "title": talk.title,
            "created_at": message.at,
            **message.besides,
        }
    )
    fields = {
        "content": text,
        "kind": "episodic",
        "source": SPOKEN_BY.get(message.role, "import"),
        "role": message.role,
        "thread_id": talk.id,
        **as_created_at(message.at),
        "meta": {**part, ORIGIN: came_from},
    }
    return without_empty(fields)


# ChatGPT: ``conversations.json``, in which every conversation is a tree of messages.
CHATGPT_NAME = "chatgpt"


def read_chatgpt(source: Source) -> Iterator[Foreign]:
    numbers = count(1)
    for element in source.elements():
        place = f"conversation {element.number}"
        talk = element.value
        if not isinstance(talk, dict) or not isinstance(talk.get("mapping"), dict):
            why = describe_refusal(talk, "is not a conversation: it has no mapping of messages")
            yield Foreign(next(numbers), place, refused=why)
            continue
        parents = {id: mapping_of(node).get("parent") for id, node in talk["mapping"].items()}
        if (wrong := describe_circle(parents)) is not None:
            yield Foreign(next(numbers), place, refused=wrong)
            continue
        id, title = id_of(talk.get("conversation_id") or talk.get("id")), text_of(talk.get("title"))
        shown, _ = _walk_branch(parents, talk.get("current_node"))
        for number, message in enumerate(_order_messages(talk["mapping"], shown[::-1]), start=1):
            yield from _to_records(numbers, Conversation(CHATGPT_NAME, place, id, title), number, message)


def _order_messages(mapping: Mapping[str, Any], shown: list[str]) -> Iterator[Message]:
    """Yield the branch that the person saw last, from its beginning, then the messages of other branches."""
    if not shown:  # a conversation that does not say where it ended: every message, as they stand
        shown = list(mapping)
    for id in shown:
        if (message := _read_chatgpt_message(mapping[id])) is not None:
            yield message
    seen = set(shown)
    for id, node in mapping.items():
        if id not in seen and (message := _read_chatgpt_message(node)) is not None:
            yield Message(message.role, id=message.id, skipped=message.skipped or OTHER_BRANCH)


def _read_chatgpt_message(node: Any) -> Message | None:
    """Return the message of a node; the root and other joints of the tree have none."""
    message = mapping_of(node).get("message")
    if message is None:
        return None
    if not isinstance(message, dict):
        return Message("", refused="is not an object")
    id, content = id_of(message.get("id")), message.get("content")
    role = str(mapping_of(message.get("author")).get("role", ""))
    if not isinstance(content, dict):
        return Message(role, id=id, refused="has no content")
    if mapping_of(message.get("metadata")).get("is_visually_hidden_from_conversation"):
        return Message(role, id=id, skipped="is not shown in the conversation")
    text, others = _read_chatgpt_text(content)
    return Message(role, text, id, message.get("create_time"), {"not_text": others} if others else {})


def _read_chatgpt_text(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return what was written, and of what kind the parts are that are no text: pictures, sound."""
    pieces = content.get("parts")
    if not isinstance(pieces, list):
        return text_of(content.get("text")) or text_of(content.get("result")) or "", []
    # a part that is not plain text may have words within, such as what was said to it aloud
    texts = [piece if isinstance(piece, str) else text_of(mapping_of(piece).get("text")) for piece in pieces]
    others = [_describe_part(piece) for piece, text in zip(pieces, texts, strict=True) if text is None]
    return "\n".join(text for text in texts if text and text.strip()), others


def _describe_part(piece: Any) -> str:
    return str(piece.get("content_type", "unknown"))[:80] if isinstance(piece, dict) else type(piece).__name__


CHATGPT_FORMAT = Format(
    CHATGPT_NAME,
    "ChatGPT's conversations.json, its folder or the zip",
    read_chatgpt,
    files=r"conversations(-\d+)?\.json",
)


# Claude: ``conversations.json``, a list of conversations with their messages, and ``memories.json``.
CLAUDE_NAME = "claude"
MEMORIES = ("conversations_memory", "project_memories")
"""What Claude itself remembers of all conversations, and of those of each project; in a file of its own."""
ROOT = "00000000-"
"""How the parent of a first message begins: there is none."""
TOO_LONG = f"is a file of more than {MAX_MESSAGE_CHARACTERS:,} characters, and no memory"
_HEADING = re.compile(r"#{1,6} (?P<hashed>[^\n]+)|\*\*(?P<bold>[^*\n]+)\*\*:?")


def read_claude(source: Source) -> Iterator[Foreign]:
    numbers = count(1)
    for element in source.elements():
        talk = element.value
        if isinstance(talk, dict) and any(name in talk for name in MEMORIES):
            yield from _read_memories(numbers, element.place, talk)
            continue
        place = f"conversation {element.number}"
        if not isinstance(talk, dict) or not isinstance(talk.get("chat_messages"), list):
            why = describe_refusal(talk, "is not a conversation: it has no chat_messages")
            yield Foreign(next(numbers), place, refused=why)
            continue
        messages = [one for one in talk["chat_messages"] if isinstance(one, dict)]
        parents = {str(one.get("uuid")): one.get("parent_message_uuid") for one in messages}
        if (wrong := describe_circle(parents)) is not None:
            yield Foreign(next(numbers), place, refused=wrong)
            continue
        about = Conversation(CLAUDE_NAME, place, id_of(talk.get("uuid")), text_of(talk.get("name")))
        last = talk.get("current_leaf_message_uuid") or (messages[-1].get("uuid") if messages else None)
        branch, root = _walk_branch(parents, last)
        shown = set(branch) if isinstance(root, str) and root.startswith(ROOT) else None  # else every message was
        for number, message in enumerate(talk["chat_messages"], start=1):
            found = _read_claude_message(message)
            if shown is not None and found.id not in shown:
                found = Message(found.role, id=found.id, skipped=OTHER_BRANCH, refused=found.refused)
            yield from _to_records(numbers, about, number, found)
            for nth, file in enumerate(_read_attachments(message, found), start=1):
                yield from _to_records(numbers, about, f"{number}, file {nth}", file)


def _read_memories(numbers: Iterator[int], place: str, memories: Mapping[str, Any]) -> Iterator[Foreign]:
    """Yield what Claude remembers, one memory a paragraph. A model wrote it, from many conversations."""
    everywhere, projects = (memories.get(name) for name in MEMORIES)
    said = [(None, everywhere), *(projects.items() if isinstance(projects, dict) else ())]
    for project, text in said:
        where = f"{place}, {'what is remembered' if project is None else f'project {project}'}"
        if wrong := find_fault(text_of(text) or ""):
            yield Foreign(next(numbers), where, refused=wrong)
            continue
        for heading, paragraph in _split_paragraphs(text_of(text) or ""):
            came_from = without_empty(
                {"format": CLAUDE_NAME, "memory_of": project or "all conversations", "heading": heading}
            )
            fields = {"content": paragraph, "source": "agent", "meta": {ORIGIN: came_from}}
            yield Foreign(next(numbers), where, fields)


def _split_paragraphs(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the paragraphs of a text, each with the heading that it stands under."""
    heading = None
    for paragraph in re.split(r"\n\s*\n", text):
        words = paragraph.strip()
        if match := _HEADING.fullmatch(words):
            heading = (match["hashed"] or match["bold"]).strip()
        elif words:
            yield from ((heading, piece) for piece in split_long_text(words))


def _read_claude_message(message: Any) -> Message:
    if not isinstance(message, dict):
        return Message("", refused="is not an object")
    files = [_get_file_name(one) for name in ("attachments", "files") for one in _list_or_empty(message.get(name))]
    others = [_block_type(one) for one in _list_or_empty(message.get("content")) if _block_type(one) != "text"]
    besides = without_empty({"files": [name for name in files if name], "not_text": others[:20]})
    return Message(
        "user" if message.get("sender") == "human" else str(message.get("sender") or ""),
        _read_claude_text(message),
        id_of(message.get("uuid")),
        message.get("created_at"),
        besides,
    )


def _read_attachments(message: Any, found: Message) -> Iterator[Message]:
    """Yield the text of each file that was attached to a message, as a message of its own."""
    attached = _list_or_empty(message.get("attachments")) if isinstance(message, dict) else []
    words = [(one, text_of(one.get("extracted_content"))) for one in attached if isinstance(one, dict)]
    for number, (file, text) in enumerate(words, start=1):
        if text is None:
            continue
        id = f"{found.id}/file-{number}" if found.id is not None else None
        besides = without_empty({"file_name": _get_file_name(file), "attached_to": found.id})
        too_long = TOO_LONG if len(text) > MAX_MESSAGE_CHARACTERS else None
        kept = "" if found.skipped or too_long else text
        yield Message(found.role, kept, id, found.at, besides, skipped=found.skipped or too_long)


def _read_claude_text(message: Mapping[str, Any]) -> str:
    """Return the text blocks of a message; older exports only have its text."""
    blocks = [one for one in _list_or_empty(message.get("content")) if _block_type(one) == "text"]
    texts = [text for one in blocks if (text := text_of(one.get("text")))]
    return "\n".join(texts) if texts else text_of(message.get("text")) or ""


def _block_type(block: Any) -> str:
    return str(block.get("type", "unknown"))[:80] if isinstance(block, dict) else "unknown"


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _get_file_name(value: Any) -> str | None:
    return text_of(value.get("file_name")) if isinstance(value, dict) else None


CLAUDE_FORMAT = Format(
    CLAUDE_NAME,
    "Claude's conversations.json or memories.json, its folder or the zip",
    read_claude,
    files=r"(conversations|memories)(-\d+)?\.json",
)
