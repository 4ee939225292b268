"""Promote memories: the only way for a memory to cross from one space into another.

The border is checked against the policy's paths, then the memory goes through every gate again, as a new memory of the
other space that names where it came from. It keeps its authority there. The original stays.
"""

from collections.abc import Mapping
from typing import Any

from recollect.engine import operations
from recollect.engine.arguments import check_kept, reason_code
from recollect.engine.context import Engine, find
from recollect.engine.lifecycle.phases import parse_space
from recollect.engine.retries import again_on_conflict
from recollect.engine.write.drafting import parse_candidate
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Prepared, addresses_of, prepare
from recollect.model import trace
from recollect.model.caller import Right
from recollect.model.errors import BadInput, WrongState
from recollect.model.fields import PROMOTED
from recollect.model.ledger import Address
from recollect.model.operation import Node, Op
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import SHARED, Authority, EventType, Namespace, Outcome, Source, Space, Status
from recollect.rules.trust.authority import ALLOWED, grant_authority, outranks, promotion_refusal
from recollect.rules.trust.borders import write_refusal
from recollect.stores.protocol import Stored


def promote(engine: Engine, id: str, to_space: str, *, owner: str | None = None, reason: str = "requested") -> Receipt:
    """Copy a memory into another space. A denied promotion is an answer: ``reasons`` says why."""
    target, code = parse_space("to_space", to_space), reason_code(engine.policy.privacy, "promotion", reason)
    if owner is not None:
        check_kept(engine.policy.privacy, "owner", owner)
    with engine.read() as reader:
        stored = find(engine, reader, id)
    if stored.body is None or stored.state.status is not Status.ACTIVE:
        raise WrongState("only an active memory can be promoted.", field="id", hint="`restore` or `resolve` it first.")
    body = stored.body
    address = Address(engine.tenant, Namespace(body["namespace"]), target, owner or _choose_owner(engine, body, target))
    refusal = _refusal(engine, stored, address)
    if refusal is not None:
        with engine.write() as writer:
            return _refuse(Writing(engine, writer), stored, target, refusal)
    return _promote(engine, stored, address, code)


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _promote(engine: Engine, stored: Stored, address: Address, reason: str) -> Receipt:
    candidate = parse_candidate(engine, _make_fields(stored, address, reason))
    answer = prepare(engine, candidate, promoting=True)
    with engine.write(addresses_of([answer])) as writer:
        writing = Writing(engine, writer)
        receipt = writing.write(answer, lambda receipt: _make_events(engine, stored, address.space, receipt))
        writing.finish()
    return receipt


def carry_over(writing: Writing, memory: Memory, address: Address, reason: str) -> Receipt:
    """Promote a memory that this transaction has just written, within it. The address must be among those locked."""
    engine = writing.engine
    written_at = Address(memory.tenant, memory.namespace, memory.space, memory.owner)
    stored = writing.stream_writer(written_at).stored(memory.id)
    refusal = _refusal(engine, stored, address)
    if refusal is not None:
        return _refuse(writing, stored, address.space, refusal)
    candidate = parse_candidate(engine, _make_fields(stored, address, reason))
    answer = prepare(engine, candidate, promoting=True, reader=writing.writer)
    if isinstance(answer, Prepared):
        answer = answer._replace(spoken=stored.body is not None and stored.body["source"] == Source.USER)
    return writing.write(answer, lambda receipt: _make_events(engine, stored, address.space, receipt))


def _refusal(engine: Engine, stored: Stored, address: Address) -> str | None:
    assert stored.body is not None, "an active memory has its content"
    body, authority = stored.body, Authority(stored.state.authority)
    return crossing_refusal(
        engine, Space(body["space"]), address, authority, EventType(body["event_type"]), body["scope"]
    )


def crossing_refusal(
    engine: Engine, source: Space, address: Address, authority: Authority, event_type: EventType, scope: str = SHARED
) -> str | None:
    """Return the code with which the border between two spaces refuses a memory, or None."""
    policy = engine.policy
    path, order = policy.spaces.path(source, address.space), policy.conflict.authority_order
    refusal = promotion_refusal(path, authority, event_type, order)
    caller = engine.caller
    refusal = refusal or write_refusal(caller, address, scope, Source.USER)
    if refusal is not None or not caller.is_an_agent or caller.may(Right.RELAY) or caller.may(Right.GOVERN):
        return refusal
    # an agent promotes what it could have said itself; what a person said takes that person, or the right to relay
    own, _ = grant_authority(Source.TOOL, caller, None, policy.authority.verifying_tools)
    return "promotion:not_for_this_agent" if outranks(authority, own, order) else None


def _make_fields(stored: Stored, address: Address, reason: str) -> dict[str, Any]:
    """Return the fields of the promoted memory."""
    assert stored.body is not None, "an active memory has its content"
    body, state = stored.body, stored.state
    carried = {name: body[name] for name in PROMOTED if name in body}
    meta = dict(body.get("meta", {}))
    key = {"key": meta.pop("key")} if "key" in meta else {}
    said = {name: value for name, value in meta.items() if name not in OF_THE_STORE}
    return {
        **carried,
        **key,
        "canonical_key": state.canonical_key,
        "namespace": address.namespace,
        "space": address.space,
        "owner": address.owner,
        "importance": state.importance,
        **{name: value for name in ("valid_from", "valid_until") if (value := getattr(state, name))},
        "source": Source.PROMOTION,
        "authority": state.authority,
        "authority_reason": state.authority_reason,
        "author": body["author"],
        "meta": {**said, "promoted_from": state.id, "promotion_reason": reason},
    }


def _make_events(engine: Engine, stored: Stored, target: Space, receipt: Receipt) -> list[trace.Trace]:
    """Return the events of a memory that the border let across: promoted, or denied by a gate or the present holder."""
    assert stored.body is not None, "an active memory has its content"
    caller, policy, source = engine.caller, engine.in_force.expanded, stored.body["space"]
    check = trace.memory_border_check(caller, "promote", source, target, True, ALLOWED, policy)
    which, denial = (caller, source, target, stored.state.id), _find_denial(receipt)
    if denial is not None or receipt.memory is None:
        return [check, trace.memory_promotion_denied(*which, denial or receipt.reasons[0], policy)]
    return [check, trace.memory_promoted(*which, receipt.memory.id, stored.state.authority, ALLOWED, policy)]


def _find_denial(receipt: Receipt) -> str | None:
    """Return the code by which a memory that crossed the border is not active there, or ``None``."""
    if receipt.outcome is Outcome.CONTRADICTED:
        return "promotion:lost"
    return receipt.reasons[0] if receipt.outcome is Outcome.DENIED else None


def _refuse(writing: Writing, stored: Stored, target: Space, code: str) -> Receipt:
    assert stored.body is not None, "an active memory has its content"
    engine, source = writing.engine, stored.body["space"]
    caller, policy = engine.caller, engine.in_force.expanded
    events = (
        trace.memory_border_check(caller, "promote", source, target, False, code, policy),
        trace.memory_promotion_denied(caller, source, target, stored.state.id, code, policy),
    )
    writing.keep(events, stored.stream)
    return Receipt(Outcome.DENIED, None, (code,), events, (), DETAIL.get(code))


def _choose_owner(engine: Engine, body: Mapping[str, Any], target: Space) -> str:
    """Return the owner of the target space: the person; a project must be named, unless the caller has just one."""
    if target is Space.USER:
        return engine.caller.user or body.get("user_id") or "default"
    if target is Space.PROJECT and len(engine.caller.projects) == 1:
        return next(iter(engine.caller.projects))
    if target is Space.SYSTEM:
        return "default"
    raise BadInput("say whose.", field="owner", hint="Name the project.")


DETAIL = {
    "promotion:path_closed": "The policy has no way from that space to this one. See spaces.paths.",
    "promotion:not_for_this_agent": "A person said it; it takes the right 'relay' or 'govern' to take it elsewhere.",
    "promotion:authority_too_low": "It is not believed enough to cross. Have a person say it, or a verifying tool.",
    "promotion:event_type_not_allowed": "The way does not admit this type of memory. See spaces.paths.",
}
