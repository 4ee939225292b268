"""Memory entries: the portable form of a memory, with who said it, what it builds upon and who vouches for it.

``find_problems`` says what is wrong with one entry, by the path of each field. ``to_entry`` makes an entry of a memory, and
``candidate_fields`` makes the fields of a candidate of an entry. What an entry has no field for is under
``metadata.recollect``. What the next store decides by itself (its own time, id and vouchers) is kept as the entry states it,
so that an imported entry is exported unchanged. ``memory-entry-schema.json`` in this folder is the published form.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from recollect.formats.fields import drop_fields, mapping_of, to_plain
from recollect.model.caller import short_name
from recollect.model.canonical import canonical_json, check_json, check_text, format_time, parse_time
from recollect.model.fields import EXPORTED
from recollect.model.record import (
    ENTRY_ORIGIN,
    MAX_CONTENT_BYTES,
    MAX_JSON_BYTES,
    MAX_NAME,
    MAX_PARENTS,
    MAX_VOUCHERS_BYTES,
    Memory,
    name_fault,
)
from recollect.model.vocabulary import Kind, Status
from recollect.rules.identity.keys import FALLBACK
from recollect.rules.ledger.content_ids import cid_of_hash, hash_of_cid
from recollect.rules.trust.signatures import bytes_of_entry, bytes_of_voucher, fault_of, is_signature

_DRAWN = re.compile(r"Entry-Version-[0-9a-f]{12}", re.IGNORECASE)
"""A key that was drawn here, which is no name and is never exported."""
Identity = tuple[str, str, str]
"""What makes two entries the same: words, author and time."""


def identity_of(entry: Mapping[str, Any]) -> Identity:
    return entry["content_hash"], entry["author"]["id"], entry["timestamp"]


def version_key(content_hash: str) -> str:
    """Return the key of an entry without a name, and of its later versions; it is computed again at every import.

    It outlives the first version, so it holds no part of that version's hash, and is never exported.
    """
    return f"Entry-Version-{hashlib.sha256(content_hash.encode()).hexdigest()[:12]}"


def isolate_fields(entry: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry that is kept for the record, under a key that nothing else has or replaces.

    The key that it had is kept in its origin, and exported again.
    """
    identity = canonical_json(identity_of(entry))
    origin = {**fields["meta"][ENTRY_ORIGIN], **{name: fields[name] for name in ("canonical_key",) if name in fields}}
    others = {name: value for name, value in fields.items() if name != "change"}
    return {**others, "canonical_key": version_key(identity), "meta": {**fields["meta"], ENTRY_ORIGIN: origin}}


MEMORY_TYPES = ("episodic", "semantic", "procedural", "insight")
VERIFIED = ("accurate", "useful", "valid")
MAX_TAGS = 64
MAX_VOUCHERS = 1_024
MAX_METADATA_BYTES = 131_072
MAX_SENTENCE = 1_000

_HASH = re.compile(r"[0-9a-f]{64}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)


class Problem(NamedTuple):
    """What is wrong with an entry: where in it, and what was expected there. Values are not repeated."""

    path: str
    message: str


Found = Iterator[Problem]


def find_problems(entry: Any) -> list[Problem]:
    """Return everything that is wrong with one entry, in the order of its fields; nothing if it is sound."""
    found = [*_check_fields(_FIELDS, REQUIRED)(entry, "")]
    return found or [*_check_hashes(entry), *_check_vouchers(entry)] or [*_check_signatures(entry)]


def _check_hashes(entry: Mapping[str, Any]) -> Found:
    """Return what the fields say of each other, once each is sound by itself."""
    actual = hashlib.sha256(entry["content"].encode("utf-8")).hexdigest()
    if entry["content_hash"] != actual:
        yield Problem("content_hash", f"is not the SHA-256 of the content: expected {actual}")
    if "cid" in entry and entry["cid"] != cid_of_hash(actual):
        yield Problem("cid", f"is not the address of the content: expected {cid_of_hash(actual)}")
    for place, parent in enumerate(entry.get("parent_refs", ())):
        if parent == actual:
            yield Problem(f"parent_refs[{place}]", "is the entry itself: nothing builds upon itself")
    if entry.get("superseded_by") == actual:
        yield Problem("superseded_by", "is the entry itself: it takes another content to replace it")


def _check_vouchers(entry: Mapping[str, Any]) -> Found:
    """Check that others vouch, each once. When is not compared: clocks of different platforms may differ."""
    seen = {entry["author"]["id"]: "the author, who cannot vouch for it"}
    for place, voucher in enumerate(entry.get("vouchers", ())):
        if voucher["id"] in seen:
            yield Problem(f"vouchers[{place}].id", f"is {seen[voucher['id']]}")
        seen[voucher["id"]] = "there already: an identity vouches once"


def _check_signatures(entry: Mapping[str, Any]) -> Found:
    """Check the signatures of the known scheme. Only a store can say whose key it was, and whether it counts."""
    signed = [("signature", entry.get("signature"), partial(bytes_of_entry, entry))]
    for place, one in enumerate(entry.get("vouchers", ())):
        signed.append((f"vouchers[{place}].signature", one.get("signature"), partial(bytes_of_voucher, entry, one)))
    for path, text, message in signed:
        if text is not None and is_signature(text) and (fault := fault_of(text, message())) is not None:
            yield Problem(path, fault)


def _check_content(value: Any, path: str) -> Found:
    if isinstance(value, str) and not value.strip():
        yield Problem(path, "is empty: expected at least one word")
    elif isinstance(value, str):
        yield from _check_characters(value, path)
        size = len(value.encode("utf-8", "surrogatepass"))
        if size > MAX_CONTENT_BYTES:
            yield Problem(path, f"is {size:,} bytes: expected at most {MAX_CONTENT_BYTES:,}")
    else:
        yield _wrong_type("text", value, path)


def _check_name(value: Any, path: str) -> Found:
    if not isinstance(value, str):
        yield _wrong_type("text", value, path)
    elif (fault := name_fault(value)) is not None:
        yield Problem(path, f"{fault}: expected one line of 1 to {MAX_NAME} characters")


def _check_principal(value: Any, path: str) -> Found:
    """Check a principal: its name may be as long as any other, and its kind comes on top."""
    yield from _check_name(short_name(value) if isinstance(value, str) else value, path)


def _check_sentence(value: Any, path: str) -> Found:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_SENTENCE:
        yield Problem(path, f"expected text of 1 to {MAX_SENTENCE:,} characters")
    else:
        yield from _check_characters(value, path)


def _check_characters(value: str, path: str) -> Found:
    try:
        check_text(value)
    except ValueError as error:
        yield Problem(path, str(error))


def _check_hash(value: Any, path: str) -> Found:
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        found = f"{len(value):,} characters" if isinstance(value, str) else _json_type(value)
        yield Problem(path, f"expected 64 lower-case hex digits, found {found}")


def _check_cid(value: Any, path: str) -> Found:
    try:
        hash_of_cid(value if isinstance(value, str) else "")
    except ValueError as error:
        yield Problem(path, str(error))


def _check_moment(value: Any, path: str) -> Found:
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        yield Problem(path, "expected a date and time with a zone, such as 2026-02-02T16:00:00Z")
        return
    try:
        moment: datetime | None = parse_time(value)
    except (ValueError, OverflowError):
        moment = None
    if moment is None or not 1900 <= moment.year <= 9000:
        yield Problem(path, "is no time that there is: expected one between the years 1900 and 9000")


def _check_share(value: Any, path: str) -> Found:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield _wrong_type("a number", value, path)
    elif not 0 <= value <= 1:
        yield Problem(path, "expected a number from 0 to 1")


def _check_one_of(*words: str) -> "Check":
    def check(value: Any, path: str) -> Found:
        if value not in words:
            yield Problem(path, f"expected one of {', '.join(words)}")

    return check


def _check_list(check: "Check", limit: int, *, once: bool = False) -> "Check":
    def check_all(value: Any, path: str) -> Found:
        if not isinstance(value, list | tuple):
            yield _wrong_type("a list", value, path)
            return
        if len(value) > limit:
            yield Problem(path, f"has {len(value):,} elements: expected at most {limit:,}")
        for place, inner in enumerate(value[:limit]):
            yield from check(inner, f"{path}[{place}]")
            if once and inner in value[:place]:
                yield Problem(f"{path}[{place}]", "is there already: expected each once")

    return check_all


def _check_object(limit: int) -> "Check":
    def check(value: Any, path: str) -> Found:
        if not isinstance(value, Mapping):
            yield _wrong_type("an object", value, path)
            return
        try:
            size = len(canonical_json(check_json(value)).encode("utf-8"))
        except (ValueError, RecursionError) as error:
            yield Problem(path, str(error))
            return
        if size > limit:
            yield Problem(path, f"is {size:,} bytes as JSON: expected at most {limit:,}")

    return check


def _check_fields(known: Mapping[str, "Check"], required: tuple[str, ...]) -> "Check":
    def check(value: Any, path: str) -> Found:
        if not isinstance(value, Mapping):
            yield _wrong_type("an object", value, path)
            return
        for name in required:
            if name not in value:
                yield Problem(_join_path(path, name), "is missing")
        for name, inner in value.items():
            if name not in known:
                yield Problem(_join_path(path, str(name)[:80]), f"there is no such field; known: {', '.join(known)}")
            else:
                yield from known[name](inner, _join_path(path, name))

    return check


Check = Callable[[Any, str], Found]
REQUIRED = ("content", "author", "timestamp", "content_hash")
_AUTHOR: dict[str, Check] = {"id": _check_principal, "name": _check_name, "platform": _check_name}
_VOUCHER: dict[str, Check] = {
    **_AUTHOR,
    "timestamp": _check_moment,
    "confidence": _check_share,
    "says": _check_one_of(*VERIFIED),
    "signature": _check_sentence,
}
_FIELDS: dict[str, Check] = {
    "content": _check_content,
    "author": _check_fields(_AUTHOR, ("id", "name")),
    "timestamp": _check_moment,
    "content_hash": _check_hash,
    "cid": _check_cid,
    "memory_type": _check_one_of(*MEMORY_TYPES),
    "parent_refs": _check_list(_check_hash, MAX_PARENTS, once=True),
    "vouchers": _check_list(_check_fields(_VOUCHER, ("id", "name", "timestamp")), MAX_VOUCHERS),
    "confidence": _check_share,
    "tags": _check_list(_check_name, MAX_TAGS),
    "context": _check_object(MAX_JSON_BYTES),
    "superseded_by": _check_hash,
    "signature": _check_sentence,
    "metadata": _check_object(MAX_METADATA_BYTES),
}


def _join_path(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _wrong_type(what: str, value: Any, path: str) -> Problem:
    return Problem(path, f"expected {what}, found {_json_type(value)}")


def _json_type(value: Any) -> str:
    """Return what JSON calls it."""
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", tuple: "a list"}
    return names.get(type(value), "an object")


_IN_AN_ENTRY = frozenset(
    "content canonical_key kind tags context author authority_reason parent_refs signature confidence".split()
)
PORTABLE = tuple(name for name in EXPORTED if name not in _IN_AN_ENTRY)
"""What a memory has beyond an entry and takes along, under these names. The rest belongs to the store that it is in."""
ORIGIN = ENTRY_ORIGIN
NOTED_HERE = ("policy_tags", "phase_name", "phase_started_at", "phase_reason", "key", ORIGIN)
"""What a store notes in ``meta`` by itself, and the next one notes again."""
_TYPE_OF = {Kind.PROFILE: "semantic", Kind.SHORT_TERM: "episodic"}


def to_entry(memory: Memory, superseded_by: str | None = None) -> dict[str, Any]:
    """Return the entry of a memory. ``superseded_by`` is the hash of the version after it: the record knows only its id.

    The same words said again, as in a new phase, are a new version but no other entry: no entry builds upon itself.
    """
    origin, own = origin_of(memory.meta), memory.content_hash
    replaced = superseded_by or origin.get("superseded_by")
    entry: dict[str, Any] = {
        "content": memory.content,
        "author": {name: value for name, value in memory.author.to_dict().items() if value is not None},
        "timestamp": origin.get("timestamp") or format_time(memory.created_at),
        "content_hash": own,
        "cid": cid_of_hash(own),
        "memory_type": _TYPE_OF.get(memory.kind, str(memory.kind)),
        "parent_refs": [one for one in memory.parent_refs if one != own],
        "vouchers": _first_vouchers(memory.vouchers),
        "confidence": memory.confidence,
        "tags": list(memory.tags),
        "context": memory.context,
        "superseded_by": replaced if replaced != own else None,
        "signature": memory.signature,
        "metadata": {**origin.get("metadata", {}), "recollect": _extra_fields(memory, origin)},
    }
    return {name: value for name, value in entry.items() if value is not None}


def origin_of(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a memory that came as an entry still knows of where it came from."""
    return mapping_of(meta.get(ORIGIN))


def select_sound_vouchers(given: Any) -> list[dict[str, Any]]:
    """Return those of a record's vouchers that an entry could have, the first so many, without the mark of an import."""
    check = _check_fields(_VOUCHER, ("id", "name", "timestamp"))
    listed = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list | tuple) else []
    return _first_vouchers([one for one in listed if not any(check(drop_fields(one, "imported"), "vouchers"))])


def _first_vouchers(given: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the first so many vouchers as an entry has them, by when they vouched: a crowd must not make it unsound."""
    vouchers = [drop_fields(one, "imported") for one in given]
    in_order = sorted(vouchers, key=lambda one: (one["timestamp"], one["id"]))[:MAX_VOUCHERS]
    sizes = accumulate(len(canonical_json(one).encode("utf-8")) + 1 for one in in_order)
    return [one for one, size in zip(in_order, sizes, strict=True) if size < MAX_VOUCHERS_BYTES]


def _extra_fields(memory: Memory, origin: Mapping[str, Any]) -> dict[str, Any]:
    id = origin.get("id") or memory.id
    beyond: dict[str, Any] = {
        **{name: getattr(memory, name) for name in PORTABLE},
        "id": id,
        "aliases": [alias for alias in memory.aliases if alias != id],
        "kind": memory.kind if memory.kind in _TYPE_OF else None,
        "canonical_key": memory.canonical_key if _is_named(memory) else origin.get("canonical_key"),
        "key": memory.meta.get("key"),
        "source": origin.get("source") or memory.source,
        "meta": {name: value for name, value in memory.meta.items() if name not in NOTED_HERE},
        "status": memory.status if memory.status is Status.ARCHIVED and "superseded_by" not in origin else None,
    }
    return {name: to_plain(name, value) for name, value in beyond.items() if value not in (None, (), [], {})}


def _is_named(memory: Memory) -> bool:
    """Return whether its key is a name to keep. One that stands for a place, or for the words themselves, is drawn anew."""
    if memory.kind in (Kind.PROFILE, Kind.SHORT_TERM, Kind.EPISODIC) or memory.topic_id is not None:
        return False
    return not memory.canonical_key.startswith(f"{FALLBACK}-") and not _DRAWN.fullmatch(memory.canonical_key)


_TAKEN_OVER = ("content", "author", "parent_refs", "confidence", "tags", "context", "signature")


def candidate_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the candidate that asks to become this entry's memory. The entry must be sound."""
    metadata = dict(entry.get("metadata", {}))
    beyond = dict(mapping_of(metadata.pop("recollect", {})))
    origin = {
        "timestamp": entry["timestamp"],
        "id": beyond.get("id"),
        "source": beyond.get("source"),
        "vouchers": entry.get("vouchers"),
        "superseded_by": entry.get("superseded_by"),
        "metadata": metadata,
    }
    known = {name: beyond[name] for name in (*PORTABLE, "canonical_key", "key") if name in beyond}
    return {
        **known,
        **{name: entry[name] for name in _TAKEN_OVER if name in entry},
        "kind": beyond.get("kind") or entry.get("memory_type", "semantic"),
        "source": "import",
        "created_at": format_time(parse_time(entry["timestamp"])),
        "aliases": [*beyond.get("aliases", ()), *filter(None, [beyond.get("id")])],
        "meta": {**mapping_of(beyond.get("meta")), ORIGIN: {name: value for name, value in origin.items() if value}},
    }


def is_put_away(entry: Mapping[str, Any]) -> bool:
    """Return whether the entry says that it was archived where it comes from."""
    beyond = mapping_of(mapping_of(entry.get("metadata")).get("recollect"))
    return beyond.get("status") == Status.ARCHIVED
