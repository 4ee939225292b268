"""Claude's data export: ``conversations.json``, a list of conversations with their messages in order."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.formats.conversations import Conversation, Counting, Message
from recollect.formats.fields import id_of, text_of, without_empty
from recollect.formats.protocol import Foreign, Format, Options, Source

NAME = "claude"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    counting = Counting()
    for element in source.elements():
        place = f"conversation {element.number}"
        talk = element.value
        if not isinstance(talk, dict) or not isinstance(talk.get("chat_messages"), list):
            yield counting.broken(place, "is not a conversation: it has no chat_messages")
            continue
        about = Conversation(NAME, place, id_of(talk.get("uuid")), text_of(talk.get("name")))
        for number, message in enumerate(talk["chat_messages"], start=1):
            yield from counting.foreign(about, number, _message(message))


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


FORMAT = Format(NAME, "Claude's conversations.json, its folder or the zip", read, files=r"conversations\.json")
