"""Test data that sits in production: how consolidation takes it into the namespace ``test``.

A stream never changes its address, so a memory is moved as a promotion moves it: a new memory in the other stream names the one
that it was made from, and the old one is archived with a link to the new one. Content and attribution stay the same; when it was
first written is in ``meta``.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.incumbents import holder
from recollect.engine.pen import Pen
from recollect.engine.refused_values import rejections_of
from recollect.engine.rekeying import as_candidate
from recollect.model.address import Address
from recollect.model.canonical import format_time, parse_time
from recollect.model.ledger import Event
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import KIND_CLASS, Kind, Namespace, Status
from recollect.rules.draft import Decision
from recollect.rules.findable import said_terms
from recollect.rules.keys import KeySource, event_key
from recollect.rules.namespaces import assign_namespace
from recollect.rules.rejected_values import Claim
from recollect.stores.protocol import Stored

MOVED = "consolidation:moved"

_NOT_COPIED = frozenset(
    "namespace neighbours signature salts cut phase_id created_at tick expires_at expires_at_tick".split()
)
"""What holds for the original alone: its place and time, its links, and a signature over them."""


def rule_of_test_data(engine: Engine, stored: Stored) -> str | None:
    """Return the code of the rule by which a memory is test data today, or ``None``."""
    namespace, rule = assign_namespace(as_candidate(stored), engine.policy.namespaces)
    return rule if namespace is Namespace.TEST else None


def address_of_test_data(address: Address) -> Address:
    """Return where the test data of an address belongs."""
    return address._replace(namespace=Namespace.TEST)


def move(here: Pen, there: Pen, stored: Stored, rule: str, vector: bytes, run: str) -> str:
    """Write a memory to the test stream, archive it in its own, and return the new memory's id.

    If its key is taken in the test stream, or its value was rejected there, the moved memory is archived there too.
    """
    assert stored.body is not None, "an active memory has its content"
    engine, id = here.engine, stored.state.id
    body = _moved_body(there, stored, rule)
    kind_class = KIND_CLASS[Kind(body["kind"])]
    held = holder(engine, there.writer, there.stream, body["scope"], kind_class, body["canonical_key"])
    new_id, commitment = there.new_version(body, said_terms(body, engine.policy.text.synonyms), vector)
    if held.by_others:
        there.keep_beside(new_id)
    claim = Claim.of_memory(address_of_test_data(_address(here)), body, body["canonical_key"])
    is_free = held.incumbent is None and not rejections_of(engine, there.writer, claim)
    status = Status.ACTIVE if is_free else Status.ARCHIVED
    there.record(Event.STORED, new_id, rule=MOVED, to=status, commitment=commitment)
    there.flush()
    told = {"run": run, "moved_to": new_id}
    here.record(Event.ARCHIVED, id, rule=MOVED, to=Status.ARCHIVED, other=new_id, amendment=told)
    return new_id


def _address(pen: Pen) -> Address:
    assert pen.stream.address is not None, "a stream that may be read has an owner"
    return pen.stream.address


def _moved_body(there: Pen, stored: Stored, rule: str) -> dict[str, Any]:
    assert stored.body is not None, "an active memory has its content"
    body, state = stored.body, stored.state
    key = {"canonical_key": state.canonical_key, "key_digest": state.key_digest}
    if body["key_source"] == KeySource.EVENT:  # named by its number, which is another one there
        named = event_key(Kind(body["kind"]), there.next_number())
        key = {"canonical_key": named.text, "key_digest": named.digest}
    ticks = body.get("retention", {}).get("ticks")
    copied = {name: value for name, value in body.items() if name not in _NOT_COPIED}
    moved = {
        **copied,
        **key,
        "namespace": Namespace.TEST,
        "category": state.category,
        "tags": state.tags,
        "pinned": state.pinned,
        "importance": state.importance,
        "importance_reason": state.importance_reason,
        "authority": state.authority,
        "authority_reason": state.authority_reason,
        "meta": _moved_meta(there, stored, rule),
        "slot": state.slot,
        "subject_value": state.subject_value,
        "valid_from": state.valid_from,
        "valid_until": state.valid_until,
        "created_at": there.at,
        "tick": there.tick,
        "phase_id": there.phase.get("phase_id"),
        "expires_at": state.expires_at or _test_expiry(there),
        "expires_at_tick": there.tick + ticks if ticks else None,
        "decisions": [*body.get("decisions", ()), Decision(MOVED, state.id).packed()],
    }
    return {name: value for name, value in moved.items() if value or value == 0}


def _moved_meta(there: Pen, stored: Stored, rule: str) -> Mapping[str, Any]:
    body = stored.body or {}
    meta = {name: value for name, value in body.get("meta", {}).items() if name not in OF_THE_STORE}
    phase = {name: value for name, value in there.phase.items() if name != "phase_id"}
    made_from = {"promoted_from": stored.state.id, "promotion_reason": rule, "written_at": body["created_at"]}
    return {**meta, **phase, "policy_tags": body.get("meta", {}).get("policy_tags", []), **made_from}


def _test_expiry(there: Pen) -> str | None:
    seconds = there.engine.policy.namespaces.test_ttl_s
    return None if seconds is None else format_time(parse_time(there.at) + timedelta(seconds=seconds))
