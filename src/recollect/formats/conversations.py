"""Exported conversations, of ChatGPT and of Claude.

Every message becomes one event: who said it, in which conversation, and when. What is longer than a memory may be is
kept in parts, cut where no secret is divided, since half a secret looks like none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from recollect.formats.fields import as_created_at, id_of, mapping_of, refusal, text_of, without_empty
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
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


def circle(parents: Mapping[str, Any]) -> str | None:
    """Return what is wrong with messages that follow each other in a circle: which came first, nobody can tell."""
    known = {id: [parent] if isinstance(parent, str) and parent in parents else [] for id, parent in parents.items()}
    found = sorted(on_a_cycle(known))
    if not found:
        return None
    shown = ", ".join(f"{id[:40]!r}" for id in found[:3])
    return f"its messages follow each other in a circle ({shown}): expected a first one that follows none"


def _branch(parents: Mapping[str, Any], last: Any) -> tuple[list[str], Any]:
    """Return the messages from ``last`` back to the first that is known, and the parent that this one names."""
    found = []
    while isinstance(last, str) and last in parents:
        found.append(last)
        last = parents[last]
    return found, last


@dataclass(frozen=True, slots=True)
class Message:
    """One message. ``skipped`` says why it does not come along; ``refused`` that it is broken."""

    role: str
    text: str = ""
    id: str | None = None
    at: Any = None
    besides: dict[str, Any] = field(default_factory=dict)
    """What else it had, such as the names of files."""
    skipped: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's own id and name."""

    format: str
    place: str
    id: str | None
    title: str | None


class Counting:
    """Numbers the messages of all conversations of a file."""

    def __init__(self) -> None:
        self._next = count(1).__next__

    def foreign(self, talk: Conversation, place: int | str, message: Message) -> Iterator[Foreign]:
        """Yield a message as one record, or as one for each of its parts."""
        where = f"{talk.place}, message {place}"
        refused = message.refused or unfit(message.text)
        skipped = message.skipped or (None if message.text.strip() else "has no text")
        if refused or skipped:
            yield Foreign(self._next(), where, id=message.id, skipped=None if refused else skipped, refused=refused)
            return
        pieces = pieces_of(message.text)
        for nth, piece in enumerate(pieces, start=1):
            part = {"part": nth, "parts": len(pieces)} if len(pieces) > 1 else {}
            said = f"{where}, part {nth} of {len(pieces)}" if part else where
            id = f"{message.id}#{nth}" if part and message.id else message.id
            yield Foreign(self._next(), said, _fields(talk, message, piece, part), id)

    def plain(self, place: str, fields: Mapping[str, Any] = {}, *, refused: str | None = None) -> Foreign:
        """Return a record that is no message, or a broken conversation."""
        return Foreign(self._next(), place, fields, refused=refused)


def pieces_of(text: str, room: int = 0) -> tuple[str, ...]:
    """Return a text in parts that are no longer than a memory may be, with ``room`` bytes to spare."""
    limit = max(MAX_CONTENT_BYTES - room, MAX_CONTENT_BYTES // 2)
    if len(text.encode("utf-8")) <= limit:
        return (text,)
    return split_parts(text, limit, whole=[(hit.start, hit.end) for hit in scan(text)])


def unfit(text: str) -> str | None:
    """Return why what was said cannot be kept."""
    if len(text) > MAX_MESSAGE_CHARACTERS:
        return f"is longer than {MAX_MESSAGE_CHARACTERS:,} characters"
    return "holds a lone surrogate (invalid UTF-8)" if _SURROGATE.search(text) else None


def _fields(talk: Conversation, message: Message, text: str, part: dict[str, int]) -> dict[str, Any]:
    came = without_empty(
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
        "meta": {**part, ORIGIN: came},
    }
    return without_empty(fields)


# ── ChatGPT: ``conversations.json``, in which every conversation is a tree of messages ────────────────────────────────


CHATGPT_NAME = "chatgpt"


def read_chatgpt(source: Source, options: Options) -> Iterator[Foreign]:
    counting = Counting()
    for element in source.elements():
        place = f"conversation {element.number}"
        talk = element.value
        if not isinstance(talk, dict) or not isinstance(talk.get("mapping"), dict):
            why = refusal(talk, "is not a conversation: it has no mapping of messages")
            yield counting.plain(place, refused=why)
            continue
        parents = {id: mapping_of(node).get("parent") for id, node in talk["mapping"].items()}
        if (wrong := circle(parents)) is not None:
            yield counting.plain(place, refused=wrong)
            continue
        id, title = id_of(talk.get("conversation_id") or talk.get("id")), text_of(talk.get("title"))
        shown, _ = _branch(parents, talk.get("current_node"))
        for number, message in enumerate(_messages(talk["mapping"], shown[::-1]), start=1):
            yield from counting.foreign(Conversation(CHATGPT_NAME, place, id, title), number, message)


def _messages(mapping: Mapping[str, Any], shown: list[str]) -> Iterator[Message]:
    """Yield the branch that the person saw last, from its beginning; then what is on others."""
    if not shown:  # a conversation that does not say where it ended: every message, as they stand
        shown = list(mapping)
    for id in shown:
        if (message := _chatgpt_message(mapping[id])) is not None:
            yield message
    seen = set(shown)
    for id, node in mapping.items():
        if id not in seen and (message := _chatgpt_message(node)) is not None:
            yield Message(message.role, id=message.id, skipped=message.skipped or OTHER_BRANCH)


def _chatgpt_message(node: Any) -> Message | None:
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
    text, others = _chatgpt_text(content)
    return Message(role, text, id, message.get("create_time"), {"not_text": others} if others else {})


def _chatgpt_text(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return what was written, and of what kind the parts are that are no text: pictures, sound."""
    pieces = content.get("parts")
    if not isinstance(pieces, list):
        return text_of(content.get("text")) or text_of(content.get("result")) or "", []
    # a part that is not plain text may have words within, such as what was said to it aloud
    texts = [piece if isinstance(piece, str) else text_of(mapping_of(piece).get("text")) for piece in pieces]
    others = [_kind(piece) for piece, text in zip(pieces, texts, strict=True) if text is None]
    return "\n".join(text for text in texts if text and text.strip()), others


def _kind(piece: Any) -> str:
    return str(piece.get("content_type", "unknown"))[:80] if isinstance(piece, dict) else type(piece).__name__


CHATGPT_FORMAT = Format(
    CHATGPT_NAME,
    "ChatGPT's conversations.json, its folder or the zip",
    read_chatgpt,
    files=r"conversations(-\d+)?\.json",
)


# ── Claude: ``conversations.json``, a list of conversations with their messages, and ``memories.json`` ────────────────


CLAUDE_NAME = "claude"
MEMORIES = ("conversations_memory", "project_memories")
"""What Claude itself remembers of all conversations, and of those of each project; in a file of its own."""
ROOT = "00000000-"
"""How the parent of a first message begins: there is none."""
TOO_LONG = f"is a file of more than {MAX_MESSAGE_CHARACTERS:,} characters, and no memory"
_HEADING = re.compile(r"#{1,6} (?P<hashed>[^\n]+)|\*\*(?P<bold>[^*\n]+)\*\*:?")


def read_claude(source: Source, options: Options) -> Iterator[Foreign]:
    counting = Counting()
    for element in source.elements():
        talk = element.value
        if isinstance(talk, dict) and any(name in talk for name in MEMORIES):
            yield from _remembered(counting, element.place, talk)
            continue
        place = f"conversation {element.number}"
        if not isinstance(talk, dict) or not isinstance(talk.get("chat_messages"), list):
            yield counting.plain(place, refused=refusal(talk, "is not a conversation: it has no chat_messages"))
            continue
        messages = [one for one in talk["chat_messages"] if isinstance(one, dict)]
        parents = {str(one.get("uuid")): one.get("parent_message_uuid") for one in messages}
        if (wrong := circle(parents)) is not None:
            yield counting.plain(place, refused=wrong)
            continue
        about = Conversation(CLAUDE_NAME, place, id_of(talk.get("uuid")), text_of(talk.get("name")))
        last = talk.get("current_leaf_message_uuid") or (messages[-1].get("uuid") if messages else None)
        branch, root = _branch(parents, last)
        shown = set(branch) if isinstance(root, str) and root.startswith(ROOT) else None  # else the order is not told
        for number, message in enumerate(talk["chat_messages"], start=1):
            found = _claude_message(message)
            if shown is not None and found.id not in shown:
                found = Message(found.role, id=found.id, skipped=OTHER_BRANCH, refused=found.refused)
            yield from counting.foreign(about, number, found)
            for nth, file in enumerate(_pasted(message, found), start=1):
                yield from counting.foreign(about, f"{number}, file {nth}", file)


def _remembered(counting: Counting, place: str, memories: Mapping[str, Any]) -> Iterator[Foreign]:
    """Yield what Claude remembers, a paragraph a memory: a model wrote it, from many conversations."""
    everywhere, projects = (memories.get(name) for name in MEMORIES)
    said = [(None, everywhere), *(projects.items() if isinstance(projects, dict) else ())]
    for project, text in said:
        where = f"{place}, {'what is remembered' if project is None else f'project {project}'}"
        if wrong := unfit(text_of(text) or ""):
            yield counting.plain(where, refused=wrong)
            continue
        for heading, paragraph in _paragraphs(text_of(text) or ""):
            came = without_empty(
                {"format": CLAUDE_NAME, "memory_of": project or "all conversations", "heading": heading}
            )
            yield counting.plain(where, {"content": paragraph, "source": "agent", "meta": {ORIGIN: came}})


def _paragraphs(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the paragraphs of a text, each with the heading that it stands under."""
    heading = None
    for paragraph in re.split(r"\n\s*\n", text):
        words = paragraph.strip()
        if match := _HEADING.fullmatch(words):
            heading = (match["hashed"] or match["bold"]).strip()
        elif words:
            yield from ((heading, piece) for piece in pieces_of(words))


def _claude_message(message: Any) -> Message:
    if not isinstance(message, dict):
        return Message("", refused="is not an object")
    files = [_file_name(one) for name in ("attachments", "files") for one in _listed(message.get(name))]
    others = [_type(one) for one in _listed(message.get("content")) if _type(one) != "text"]
    besides = without_empty({"files": [name for name in files if name], "not_text": others[:20]})
    return Message(
        "user" if message.get("sender") == "human" else str(message.get("sender") or ""),
        _claude_text(message),
        id_of(message.get("uuid")),
        message.get("created_at"),
        besides,
    )


def _pasted(message: Any, found: Message) -> Iterator[Message]:
    """Yield the words of the files that were attached to a message, each as a message of its own: so they were said."""
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


def _claude_text(message: Mapping[str, Any]) -> str:
    """Return the text blocks of a message; older exports only have its text."""
    blocks = [one for one in _listed(message.get("content")) if _type(one) == "text"]
    texts = [text for one in blocks if (text := text_of(one.get("text")))]
    return "\n".join(texts) if texts else text_of(message.get("text")) or ""


def _type(block: Any) -> str:
    return str(block.get("type", "unknown"))[:80] if isinstance(block, dict) else "unknown"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _file_name(value: Any) -> str | None:
    return text_of(value.get("file_name")) if isinstance(value, dict) else None


CLAUDE_FORMAT = Format(
    CLAUDE_NAME,
    "Claude's conversations.json or memories.json, its folder or the zip",
    read_claude,
    files=r"(conversations|memories)(-\d+)?\.json",
)
