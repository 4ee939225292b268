"""Move memories to the key and the namespace that the present rules give them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from recollect.engine.context import Engine
from recollect.engine.transaction import Pen, rejections_of
from recollect.engine.write.incumbents import holder
from recollect.engine.write.superseding import TAKES_KEY
from recollect.model.caller import APPLICATION, SYSTEM, author_of, principal
from recollect.model.canonical import format_time, parse_time
from recollect.model.ledger import Address, Event
from recollect.model.record import Candidate
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import KIND_CLASS, Kind, Namespace, Status
from recollect.rules.gates.content import assign_namespace
from recollect.rules.gates.draft import Context, Decision, Draft
from recollect.rules.gates.naming import naming_gate, slots_of
from recollect.rules.identity.keys import BY_RULE, CanonicalKey, KeySource, event_key, identity
from recollect.rules.identity.rejected_values import Claim
from recollect.rules.language.findable import said_terms
from recollect.rules.time.validity import validity_gate
from recollect.stores.protocol import Reader, Stored

Place = tuple[str, str, str]
"""What at most one active memory of a stream may have: a scope, a class of kinds and the identity of a key."""

Holders = dict[Place, list[Stored]]
Marks = Mapping[str, str | None]
MARKS = ("slot", "subject_value")
"""The digests by which a statement is found besides its key."""


class Rekeying(NamedTuple):
    """The memories that get another name, in an order in which each new key is free, and those whose new key is taken."""

    moves: list[tuple[Stored, CanonicalKey]]
    collisions: list[tuple[Stored, Stored, CanonicalKey]]
    """A memory, the one that has its new key or gets it, and that key."""
    marks: dict[str, Marks]
    """What each memory is found by today besides its key, if that is not what it is found by now."""


def plan_keys(
    engine: Engine, best_first: Sequence[Stored], given: Collection[str], advance: Callable[[], None]
) -> Rekeying:
    """Compare each memory's key with the one that today's rules give. Of two that want the same key the better gets it.

    The memories whose ids are ``given`` have the key of a memory that they replaced, and keep it.
    """
    holders: Holders = {}
    for stored in best_first:
        holders.setdefault(place_of(stored, stored.state.canonical_key), []).append(stored)
    waiting: list[tuple[Stored, CanonicalKey]] = []
    marks: dict[str, Marks] = {}
    for stored in best_first:
        key, found_by = todays_names(engine, stored)
        if found_by != {name: getattr(stored.state, name) for name in MARKS}:
            marks[stored.state.id] = found_by
        named_by_rule = is_named_by_rule(stored) and stored.state.id not in given
        if named_by_rule and identity(key.text) != identity(stored.state.canonical_key):
            waiting.append((stored, key))
        advance()
    moves: list[tuple[Stored, CanonicalKey]] = []
    while ready := _free(waiting, holders):
        for stored, key in ready:
            holders[place_of(stored, stored.state.canonical_key)].remove(stored)
            holders[place_of(stored, key.text)] = [stored]
        moves += ready
        moved = {stored.state.id for stored, _ in ready}
        waiting = [(stored, key) for stored, key in waiting if stored.state.id not in moved]
    # A fallback key says nothing of the concept, so two memories that share one need not be about the same.
    collisions = [
        (stored, holders[place_of(stored, key.text)][0], key)
        for stored, key in waiting
        if key.source is not KeySource.FALLBACK
    ]
    return Rekeying(moves, collisions, marks)


def keys_taken_over(reader: Reader, memories: Sequence[Stored]) -> set[str]:
    """Return the ids of the memories that have the key of a memory which they replaced."""
    renamed = [one for one in memories if is_named_by_rule(one) and one.state.canonical_key != _own_key(one)]
    return {one.state.id for one in renamed if _last_rekeyed_by(reader, one) == TAKES_KEY}


def _own_key(stored: Stored) -> str:
    return str((stored.body or {})["canonical_key"])


def _last_rekeyed_by(reader: Reader, stored: Stored) -> str | None:
    entries = reader.entries_about(stored.tenant, stored.state.id)
    rules = [one.rule for one in entries if one.event is Event.REKEYED and one.memory_id == stored.state.id]
    return rules[-1] if rules else None


def is_named_by_rule(stored: Stored) -> bool:
    """Whether a rule chose the key that a memory was written with."""
    return KeySource((stored.body or {})["key_source"]) in BY_RULE


def _free(waiting: Sequence[tuple[Stored, CanonicalKey]], holders: Holders) -> list[tuple[Stored, CanonicalKey]]:
    """Return the memories whose new key is free at the moment, one for each key."""
    wanted: dict[Place, tuple[Stored, CanonicalKey]] = {}
    for stored, key in waiting:
        place = place_of(stored, key.text)
        if not holders.get(place):
            wanted.setdefault(place, (stored, key))
    return list(wanted.values())


def place_of(stored: Stored, key_text: str) -> Place:
    """Return the place that a memory takes, or would take, under a key."""
    assert stored.body is not None, "an active memory has its content"
    return stored.body["scope"], str(KIND_CLASS[Kind(stored.body["kind"])]), identity(key_text)


def todays_names(engine: Engine, stored: Stored) -> tuple[CanonicalKey, Marks]:
    """Return the key that the rules would give a memory today, and what else it would be found by."""
    assert stored.body is not None, "an active memory has its content"
    context = Context(engine.policy, engine.caller, parse_time(stored.body["created_at"]))
    draft = naming_gate(validity_gate(Draft(as_candidate(stored)), context), context)
    assert isinstance(draft, Draft) and draft.key is not None, "the naming gate refuses nothing"
    found_by = slots_of(draft.frames)
    return draft.key, {name: found_by.get(name) for name in MARKS}


def as_candidate(stored: Stored) -> Candidate:
    """Return a memory as the gates would see it today: its words, who said them and where, and how it is filed now."""
    assert stored.body is not None, "an active memory has its content"
    body, state = stored.body, stored.state
    names = ("content", "kind", "tier", "topic_id", "event_type", "space", "owner", "scope", "source", "user_id")
    given = {name: body[name] for name in names if name in body}
    if body["kind"] == Kind.PROFILE:
        given["key"] = body["meta"]["key"]
    if author_of(body) != principal(SYSTEM, APPLICATION):  # the application is credited where no author was given
        given["author"] = body["author"]
    return Candidate.model_validate({**given, "category": state.category, "tags": state.tags})


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
    assert stored.body is not None and here.stream.address is not None, "an active memory has its content and its owner"
    engine, id = here.engine, stored.state.id
    body = _moved_body(there, stored, rule)
    kind_class = KIND_CLASS[Kind(body["kind"])]
    held = holder(engine, there.writer, there.stream, body["scope"], kind_class, body["canonical_key"])
    new_id, commitment = there.new_version(body, said_terms(body, engine.policy.text.synonyms), vector)
    if held.by_others:
        there.keep_beside(new_id)
    claim = Claim.of_memory(address_of_test_data(here.stream.address), body, body["canonical_key"])
    is_free = held.incumbent is None and not rejections_of(engine, there.writer, claim)
    status = Status.ACTIVE if is_free else Status.ARCHIVED
    there.record(Event.STORED, new_id, rule=MOVED, to=status, commitment=commitment)
    there.flush()
    told = {"run": run, "moved_to": new_id}
    here.record(Event.ARCHIVED, id, rule=MOVED, to=Status.ARCHIVED, other=new_id, amendment=told)
    return new_id


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
