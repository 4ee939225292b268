"""Convert LangGraph's checkpoints into the rows that a store keeps, and back. Nothing here reads or writes a store.

The values of the channels are packed one by one and known by their digest, so that versions which share a value share
its bytes, and no numbering of channel versions can make one value pass for another.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from recollect.engine.graphs import Values, Where
from recollect.model.canonical import check_text
from recollect.model.errors import BadInput, StoreCorrupt
from recollect.model.policy import Privacy
from recollect.rules.privacy.gate import denied_types
from recollect.stores.protocol import ROOT, GraphCheckpoint, GraphVersion, GraphWrite, Packed

DEFAULT_USER = "default"
MAX_NAME = 512
"""Bytes in the name of a user, a thread, a namespace, a version or a channel: parts of keys, which databases bound."""


def to_config(at: Where) -> RunnableConfig:
    """Return the configuration that leads to a version. The user is named unless it is the default one."""
    configurable = {"thread_id": at.thread_id, "checkpoint_ns": at.ns, "checkpoint_id": at.id}
    return {"configurable": configurable if at.user_id == DEFAULT_USER else {**configurable, "user_id": at.user_id}}


def read_place(settings: Privacy, config: RunnableConfig, user_id: str) -> Where:
    """Return what a run's configuration points at."""
    configurable = config.get("configurable", {})
    thread_id = configurable.get("thread_id")
    if thread_id is None or thread_id == "":
        raise BadInput(
            "is missing.", field="configurable.thread_id", hint='Run with {"configurable": {"thread_id": "…"}}.'
        )
    id = configurable.get("checkpoint_id")
    return Where(
        check_kept_name(settings, "user_id", user_id),
        check_kept_name(settings, "thread_id", thread_id),
        check_kept_name(settings, "checkpoint_ns", configurable.get("checkpoint_ns") or ROOT),
        check_name("checkpoint_id", id) if id else None,
    )


def check_kept_name(settings: Privacy, field: str, name: Any) -> str:
    """Return a name that will be stored; it must pass the privacy rules for stored text as well."""
    text = check_name(field, name)
    if denied_types(text, settings):
        raise BadInput("holds sensitive data.", field=f"configurable.{field}", hint="It is kept: use another name.")
    return text


def check_name(field: str, name: Any) -> str:
    """Return a name as it may stand in a key: text without control characters, of bounded length. Numbers become text."""
    text = str(name)
    try:
        check_text(text)
    except ValueError as error:
        raise BadInput(f"{error}.", field=f"configurable.{field}") from None
    if len(text.encode("utf-8")) > MAX_NAME:
        raise BadInput(f"is longer than {MAX_NAME:,} bytes.", field=f"configurable.{field}", hint="Use a shorter id.")
    return text


_HINT = "`delete_thread` removes its thread; a backup may have it whole."


def pack(serde: SerializerProtocol, value: Any) -> Packed:
    kind, data = serde.dumps_typed(value)
    return Packed(kind, bytes(data))


def unpack(serde: SerializerProtocol, packed: Packed) -> Any:
    """Return a stored value; raise ``StoreCorrupt`` for one that its own serializer cannot read."""
    try:
        return serde.loads_typed((packed.type, packed.data))
    except Exception as error:  # whatever the serializer raises
        raise StoreCorrupt(f"a stored value of a graph cannot be read: {error}.", hint=_HINT) from error


def digest(packed: Packed) -> str:
    """Return the name of a packed value: equal for equal bytes of the same type, and for nothing else."""
    return hashlib.sha256(packed.type.encode("utf-8") + b"\x00" + packed.data).hexdigest()


def pack_checkpoint(
    settings: Privacy,
    serde: SerializerProtocol,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    ns: str,
    parent_id: str | None,
    at: str,
) -> tuple[GraphCheckpoint, Values]:
    """Return a version and the values of its channels, ready to be stored."""
    values = {check_name("channel", name): pack(serde, value) for name, value in checkpoint["channel_values"].items()}
    rest = {name: value for name, value in checkpoint.items() if name != "channel_values"}
    run_id = metadata.get("run_id")
    replayed = metadata.get("counters_since_delta_snapshot") or {}  # by LangGraph, from the writes of earlier versions
    version = GraphVersion(
        ns=ns,
        id=check_name("checkpoint_id", checkpoint["id"]),
        parent_id=parent_id,
        run_id=None if run_id is None else check_kept_name(settings, "run_id", run_id),
        saved_at=at,
        rebuilt=tuple(sorted(set(replayed) - set(values))),
    )
    packed = GraphCheckpoint(version, pack(serde, rest), pack(serde, dict(metadata)))
    return packed, {channel: (digest(value), value) for channel, value in values.items()}


def pack_writes(
    serde: SerializerProtocol, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
) -> list[GraphWrite]:
    """Return what one task wrote, numbered as LangGraph numbers it: special channels have places of their own."""
    return [
        GraphWrite(task_id, WRITES_IDX_MAP.get(channel, number), task_path, channel, pack(serde, value))
        for number, (channel, value) in enumerate(writes)
    ]


def unpack_checkpoint(
    serde: SerializerProtocol,
    at: Where,
    packed: GraphCheckpoint,
    values: Mapping[str, Packed],
    writes: Sequence[GraphWrite],
) -> CheckpointTuple:
    """Return a version as LangGraph reads it."""
    channel_values = {channel: unpack(serde, value) for channel, value in values.items()}
    checkpoint = cast(Checkpoint, {**unpack(serde, packed.body), "channel_values": channel_values})
    parent = packed.version.parent_id
    return CheckpointTuple(
        config=to_config(at),
        checkpoint=checkpoint,
        metadata=unpack(serde, packed.metadata),
        parent_config=to_config(at._replace(id=parent)) if parent else None,
        pending_writes=[(write.task_id, write.channel, unpack(serde, write.value)) for write in writes],
    )
