"""ChatGPT's data export: ``conversations.json``, in which every conversation is a tree of messages."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.formats.conversations import OTHER_BRANCH, Conversation, Counting, Message, circle
from recollect.formats.fields import id_of, refusal, text_of
from recollect.formats.protocol import Foreign, Format, Options, Source

NAME = "chatgpt"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    counting = Counting()
    for element in source.elements():
        place = f"conversation {element.number}"
        talk = element.value
        if not isinstance(talk, dict) or not isinstance(talk.get("mapping"), dict):
            yield counting.broken(place, refusal(talk, "is not a conversation: it has no mapping of messages"))
            continue
        if (wrong := circle(_parents(talk["mapping"]))) is not None:
            yield counting.broken(place, wrong)
            continue
        about = Conversation(
            NAME, place, id_of(talk.get("conversation_id") or talk.get("id")), text_of(talk.get("title"))
        )
        for number, message in enumerate(_messages(talk), start=1):
            yield from counting.foreign(about, number, message)


def _messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    """The branch that the person saw last, from its beginning; then what is on others."""
    mapping = talk["mapping"]
    shown = _branch(mapping, talk.get("current_node"))
    if not shown:  # a conversation that does not say where it ended: every message, as they stand
        shown = list(mapping)
    for id in shown:
        if (message := _message(mapping[id])) is not None:
            yield message
    seen = set(shown)
    for id, node in mapping.items():
        if id not in seen and (message := _message(node)) is not None:
            yield Message(message.role, id=message.id, skipped=message.skipped or OTHER_BRANCH)


def _parents(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {id: node.get("parent") if isinstance(node, dict) else None for id, node in mapping.items()}


def _branch(mapping: Mapping[str, Any], last: Any) -> list[str]:
    """The nodes from the first to ``last``."""
    found: dict[str, None] = {}
    while isinstance(last, str) and last in mapping:
        found[last] = None
        node = mapping[last]
        last = node.get("parent") if isinstance(node, dict) else None
    return list(reversed(found))


def _message(node: Any) -> Message | None:
    """The message of a node; the root and other joints of the tree have none."""
    message = node.get("message") if isinstance(node, dict) else None
    if message is None:
        return None
    if not isinstance(message, dict):
        return Message("", refused="is not an object")
    author, content = message.get("author"), message.get("content")
    role = str(author.get("role", "")) if isinstance(author, dict) else ""
    id = id_of(message.get("id"))
    if not isinstance(content, dict):
        return Message(role, id=id, refused="has no content")
    if _hidden(message):
        return Message(role, id=id, skipped="is not shown in the conversation")
    text, others = _text(content)
    return Message(role, text, id, message.get("create_time"), {"not_text": others} if others else {})


def _hidden(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation"))


def _text(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """What was written, and of what kind the parts are that are no text: pictures, sound."""
    pieces = content.get("parts")
    if not isinstance(pieces, list):
        return text_of(content.get("text")) or text_of(content.get("result")) or "", []
    texts = [piece if isinstance(piece, str) else _within(piece) for piece in pieces]
    others = [_kind(piece) for piece, text in zip(pieces, texts, strict=True) if text is None]
    return "\n".join(text for text in texts if text and text.strip()), others


def _within(piece: Any) -> str | None:
    """The words of a part that is not plain text, such as what was said to it aloud."""
    return text_of(piece.get("text")) if isinstance(piece, dict) else None


def _kind(piece: Any) -> str:
    return str(piece.get("content_type", "unknown"))[:80] if isinstance(piece, dict) else type(piece).__name__


FORMAT = Format(NAME, "ChatGPT's conversations.json, its folder or the zip", read, files=r"conversations(-\d+)?\.json")
