"""Move memories to the key and the namespace that the present rules give them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from recollect.engine.context import Engine
from recollect.engine.transaction import StreamWriter, rejections_of
from recollect.engine.write.incumbents import holder
from recollect.engine.write.superseding import TAKES_KEY
from recollect.model.caller import APPLICATION, SYSTEM, author_of, principal
from recollect.model.canonical import format_time, parse_time
from recollect.model.ledger import Address, Event
from recollect.model.record import Candidate
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import KIND_CLASS, KeySource, Kind, KindClass, Namespace, Status
from recollect.rules.gates.content import assign_namespace
from recollect.rules.gates.draft import Context, Decision, Draft
from recollect.rules.gates.naming import naming_gate, slots_of
from recollect.rules.identity.keys import BY_RULE, CanonicalKey, event_key, identity
from recollect.rules.identity.rejected_values import Claim
from recollect.rules.language.findable import said_terms
from recollect.rules.time.validity import validity_gate
from recollect.stores.protocol import Reader, Stored

Place = tuple[str, str, str]
"""A scope, a class of kinds and the identity of a key: at most one active memory of a stream has the same three."""

Holders = dict[Place, list[Stored]]
Marks = Mapping[str, str | None]
MARKS = ("slot", "subject_value")
"""The digests by which a statement is found, apart from its key."""


class Rekeying(NamedTuple):
    """The memories that get another key, in an order in which each new key is free, and those whose new key is taken."""

    moves: list[tuple[Stored, CanonicalKey]]
    collisions: list[tuple[Stored, Stored, CanonicalKey]]
    """A memory, the one that has its new key or gets it, and that key."""
    marks: dict[str, Marks]
    """The new digests of each memory whose digests change."""


def plan_keys(
    engine: Engine, best_first: Sequence[Stored], given: Collection[str], advance: Callable[[], None]
) -> Rekeying:
    """Compare each memory's key with the one that the present rules give. The better of two memories gets a shared key.

    The memories whose ids are ``given`` have the key of a memory that they replaced, and keep it.
    """
    holders: Holders = {}
    for stored in best_first:
        holders.setdefault(place_of(stored, stored.state.canonical_key), []).append(stored)
    waiting: list[tuple[Stored, CanonicalKey]] = []
    marks: dict[str, Marks] = {}
    for stored in best_first:
        key, present_marks = _derive_names(engine, stored)
        if present_marks != {name: getattr(stored.state, name) for name in MARKS}:
            marks[stored.state.id] = present_marks
        named_by_rule = is_named_by_rule(stored) and stored.state.id not in given
        if named_by_rule and identity(key.text) != identity(stored.state.canonical_key):
            waiting.append((stored, key))
        advance()
    moves: list[tuple[Stored, CanonicalKey]] = []
    while ready := _find_free(waiting, holders):
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
    found = set()
    for one in memories:
        id, key = one.state.id, one.state.canonical_key
        if is_named_by_rule(one) and key != body_of(one)["canonical_key"]:
            entries = reader.entries_about(one.tenant, id)
            rules = [entry.rule for entry in entries if entry.event is Event.REKEYED and entry.memory_id == id]
            if rules and rules[-1] == TAKES_KEY:
                found.add(id)
    return found


def is_named_by_rule(stored: Stored) -> bool:
    """Return whether a rule chose the key that a memory was written with."""
    return KeySource(body_of(stored)["key_source"]) in BY_RULE


def _find_free(waiting: Sequence[tuple[Stored, CanonicalKey]], holders: Holders) -> list[tuple[Stored, CanonicalKey]]:
    """Return the memories whose new key is free at the moment, one for each key."""
    free: dict[Place, tuple[Stored, CanonicalKey]] = {}
    for stored, key in waiting:
        place = place_of(stored, key.text)
        if not holders.get(place):
            free.setdefault(place, (stored, key))
    return list(free.values())


def place_of(stored: Stored, key_text: str) -> Place:
    """Return the place that a memory takes, or would take, under a key."""
    return body_of(stored)["scope"], str(kind_class_of(stored)), identity(key_text)


def body_of(stored: Stored) -> Mapping[str, Any]:
    """Return the body of an active memory."""
    assert stored.body is not None, "an active memory has its content"
    return stored.body


def kind_class_of(stored: Stored) -> KindClass:
    """Return the class of kinds to which an active memory belongs."""
    return KIND_CLASS[Kind(body_of(stored)["kind"])]


def _derive_names(engine: Engine, stored: Stored) -> tuple[CanonicalKey, Marks]:
    """Return the key and the digests that the present rules give a memory."""
    context = Context(engine.policy, engine.caller, parse_time(body_of(stored)["created_at"]))
    draft = naming_gate(validity_gate(Draft(as_candidate(stored)), context), context)
    assert isinstance(draft, Draft) and draft.key is not None, "the naming gate refuses nothing"
    slots = slots_of(draft.frames)
    return draft.key, {name: slots.get(name) for name in MARKS}


def as_candidate(stored: Stored) -> Candidate:
    """Return a memory as the gates would see it now: its words, who said them and where, its category and tags."""
    body, state = body_of(stored), stored.state
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
"""Fields that hold for the original alone: its place and time, its links, and a signature over them."""


def rule_of_test_data(engine: Engine, stored: Stored) -> str | None:
    """Return the code of the rule by which a memory is test data, or ``None``."""
    namespace, rule = assign_namespace(as_candidate(stored), engine.policy.namespaces)
    return rule if namespace is Namespace.TEST else None


def address_of_test_data(address: Address) -> Address:
    """Return where the test data of an address belongs."""
    return address._replace(namespace=Namespace.TEST)


def move(here: StreamWriter, there: StreamWriter, stored: Stored, rule: str, vector: bytes, run: str) -> str:
    """Write a memory to the test stream, archive it in its own, and return the new memory's id.

    If its key is taken in the test stream, or its value was rejected there, the moved memory is archived there too.
    """
    assert here.stream.address is not None, "an active memory has an owner"
    engine, id = here.engine, stored.state.id
    body = _make_moved_body(there, stored, rule)
    held = holder(engine, there.writer, there.stream, body["scope"], kind_class_of(stored), body["canonical_key"])
    new_id, commitment = there.new_version(body, said_terms(body, engine.policy.text.synonyms), vector)
    if held.by_others:
        there.keep_shadowed(new_id)
    claim = Claim.of_memory(address_of_test_data(here.stream.address), body, body["canonical_key"])
    is_free = held.incumbent is None and not rejections_of(engine, there.writer, claim)
    status = Status.ACTIVE if is_free else Status.ARCHIVED
    there.record(Event.STORED, new_id, rule=MOVED, to=status, commitment=commitment)
    there.flush()
    amendment = {"run": run, "moved_to": new_id}
    here.record(Event.ARCHIVED, id, rule=MOVED, to=Status.ARCHIVED, other=new_id, amendment=amendment)
    return new_id


def _make_moved_body(there: StreamWriter, stored: Stored, rule: str) -> dict[str, Any]:
    """Return the body of the version that is written to the test stream."""
    body, state = body_of(stored), stored.state
    key = {"canonical_key": state.canonical_key, "key_digest": state.key_digest}
    if body["key_source"] == KeySource.EVENT:  # named by its number, which is another one there
        named = event_key(Kind(body["kind"]), there.next_number())
        key = {"canonical_key": named.text, "key_digest": named.digest}
    ticks, ttl_s = body.get("retention", {}).get("ticks"), there.engine.policy.namespaces.test_ttl_s
    expires_at = None if ttl_s is None else format_time(parse_time(there.at) + timedelta(seconds=ttl_s))
    meta = body.get("meta", {})
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
        "meta": {
            **{name: value for name, value in meta.items() if name not in OF_THE_STORE},
            **{name: value for name, value in there.phase.items() if name != "phase_id"},
            "policy_tags": meta.get("policy_tags", []),
            "promoted_from": state.id,
            "promotion_reason": rule,
            "written_at": body["created_at"],
        },
        "slot": state.slot,
        "subject_value": state.subject_value,
        "valid_from": state.valid_from,
        "valid_until": state.valid_until,
        "created_at": there.at,
        "tick": there.tick,
        "phase_id": there.phase.get("phase_id"),
        "expires_at": state.expires_at or expires_at,
        "expires_at_tick": there.tick + ticks if ticks else None,
        "decisions": [*body.get("decisions", ()), Decision(MOVED, state.id).packed()],
    }
    return {name: value for name, value in moved.items() if value or value == 0}
