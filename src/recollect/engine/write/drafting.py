"""Check the input of a write before the lock, run the gates, and build the body of the version to store."""

from collections.abc import Mapping, Sequence
from time import thread_time
from typing import Any

from pydantic import ValidationError

from recollect.engine.arguments import owner_named
from recollect.engine.context import Engine
from recollect.model.caller import AGENT, TOOL, USER, Caller, as_principal, principal, short_name
from recollect.model.errors import BadInput
from recollect.model.faults import fault_of
from recollect.model.fields import FIELDS, written
from recollect.model.receipt import Receipt
from recollect.model.record import Author, Candidate
from recollect.model.rendering import one_line
from recollect.model.vocabulary import Change, Outcome, Source, Space
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.gates.naming import slots_of
from recollect.rules.gates.pipeline import pass_gates
from recollect.rules.identity.keys import explicit_key
from recollect.rules.privacy.gate import TIME_LIMIT_OF_ALL_S

_AS_GIVEN = tuple(name for name in Candidate.model_fields if name in FIELDS)
"""The fields that a version keeps as given, unless the gates decide otherwise."""


def parse_candidate(engine: Engine, fields: Mapping[str, Any]) -> Candidate:
    """Return the candidate from plain values, or raise an error that names the wrong field.

    The owner defaults to the caller's own memory.
    """
    if not isinstance(fields, Mapping):
        raise BadInput("must be an object with content.", hint='Such as {"content": "…"}.')
    own = own_place(engine, fields.get("space", Space.USER))
    if own is None and fields.get("space", Space.USER) == Space.USER:
        own = fields.get("user_id")
    if "owner" not in fields and own is not None:
        fields = {**fields, "owner": own}
    try:
        candidate = Candidate.model_validate(fields)
    except ValidationError as error:
        raise bad_input(error) from None
    if candidate.created_at is not None and candidate.created_at > engine.clock():
        message = f"{candidate.created_at:%Y-%m-%d %H:%M} UTC is in the future."
        raise BadInput(message, field="created_at", hint="Nothing was said later than now.")
    return _with_typed_author(engine.caller, candidate)


def check_owner(fields: Any) -> None:
    """Raise if a memory of a user's space has an ``owner`` and a ``user_id`` that differ."""
    if isinstance(fields, Mapping) and fields.get("space", Space.USER) == Space.USER:
        owner_named(fields.get("owner"), fields.get("user_id"))


def check_expiry(engine: Engine, candidate: Candidate) -> None:
    """Raise if a memory would expire in the past: it would be stored and never seen."""
    if (until := candidate.expires_at) is not None and until < engine.clock():
        hint = "Give a later time, or leave it out."
        raise BadInput(f"{until:%Y-%m-%d %H:%M} UTC is in the past.", field="expires_at", hint=hint)


def check_updates(candidates: Sequence[Candidate], receipts: Sequence[Receipt]) -> None:
    """Raise if a declared update or correction found nothing to replace and was stored as new.

    The exception rolls the transaction back.
    """
    for number, (candidate, receipt) in enumerate(zip(candidates, receipts, strict=True)):
        if candidate.change in (Change.UPDATE, Change.CORRECTION) and receipt.outcome is Outcome.STORED:
            field = "change" if len(candidates) == 1 else f"[{number}].change"
            near = ", ".join(f"{memory.id[:13]} “{one_line(memory.content, 80)}”" for memory in receipt.similar)
            similar = f" Similar: {near}." if near else ""
            hint = f"Say which memory it replaces (update, or supersedes=<id>), or leave change out.{similar}"
            raise BadInput(f"is {candidate.change}, and no active memory has its key.", field=field, hint=hint)


def own_place(engine: Engine, space: Any) -> str | None:
    """Return the owner of the caller's own part of a space, if there is exactly one."""
    caller = engine.caller
    if space == Space.PROJECT:
        return next(iter(caller.projects)) if len(caller.projects) == 1 else None
    if space == Space.SYSTEM:
        return None
    return caller.session if space == Space.SESSION else caller.user


def bad_input(error: ValidationError) -> BadInput:
    """Return the first validation error in terms of its field, without repeating the value."""
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(Candidate.model_fields)
        return BadInput("there is no such field.", field=name, hint=f"Known fields: {known}.")
    message, hint = fault_of(first)
    if not name and ": " in message:
        name, message = message.split(": ", 1)
    return BadInput(f"{message}.", field=name or None, hint=hint or "docs/record.md says what every field takes.")


def draft_for(
    engine: Engine,
    candidate: Candidate,
    *,
    promoting: bool = False,
    proposed: bool = False,
    clean: set[str] | None = None,
) -> Draft | Rejection:
    """Return what the gates make of a candidate. A batch shares the set of texts known to be ``clean``."""
    check_concepts(candidate)
    known = set() if clean is None else clean
    patience = thread_time() + TIME_LIMIT_OF_ALL_S  # of computing: a machine that stalls denies nothing
    context = Context(
        engine.policy, engine.caller, engine.clock(), promoting, proposed, known, lambda: thread_time() > patience
    )
    return pass_gates(Draft(candidate), context)


def check_concepts(candidate: Candidate) -> None:
    """Raise unless every name of the candidate's concept can form a key."""
    for name in ("canonical_key", "title", "topic_id", "key"):
        check_name(name, getattr(candidate, name))


def check_name(field: str, name: str | None) -> None:
    """Raise if a name holds nothing that can be part of a key."""
    if name is not None:
        try:
            explicit_key(name)
        except ValueError:
            raise BadInput(
                "holds nothing that can name a concept.", field=field, hint="Use letters or digits."
            ) from None


def _with_typed_author(caller: Caller, candidate: Candidate) -> Candidate:
    """Return a candidate whose author has a kind, if it names the caller, the caller's user or the owner of the memory.

    Any other id, which only an application gives, is kept as written: it may be a platform's. So is the author of a
    signed or imported memory, unless a bound caller would thereby sign as another principal.
    """
    given = candidate.author
    if given is None or given.id in caller.own_principals:
        return candidate
    is_literal = candidate.signature is not None or candidate.source is Source.IMPORT
    if is_literal and (caller.trusted or as_principal(given.id) in caller.own_principals):
        return candidate
    kind = _kind_of_author(caller, candidate, given.id)
    if kind is None:
        return candidate
    return candidate.model_copy(update={"author": given.model_copy(update={"id": principal(kind, given.id)})})


def _kind_of_author(caller: Caller, candidate: Candidate, name: str) -> str | None:
    """Return the kind of an author named without one; ``None`` for a name that is not part of this write."""
    people = {caller.user}
    if caller.trusted:
        people |= {candidate.user_id, candidate.owner if candidate.space is Space.USER else None}
    is_agent, is_person = name in (caller.agent, candidate.agent_id), name in people
    by_machine = (candidate.source or caller.speaks_as) in (Source.AGENT, Source.TOOL)
    if is_agent and (by_machine or not is_person):
        return AGENT
    return USER if is_person and not (by_machine and caller.trusted) else None


def speaker_of(engine: Engine, draft: Draft) -> Author:
    """Return the credited author: the named one, else the caller, unless it passes on a tool's or a model's words."""
    if draft.candidate.author is not None:
        return draft.candidate.author
    caller, who = engine.caller, engine.caller.principal
    if draft.source is Source.TOOL and draft.candidate.actor_id not in (None, caller.agent):
        who = principal(TOOL, str(draft.candidate.actor_id))
    elif draft.source is Source.AGENT and caller.agent is None and caller.user is not None:
        who = principal(AGENT, caller.ai_profile or "assistant")
    return Author(id=who, name=short_name(who))


def version_body(engine: Engine, draft: Draft, at: str, tick: int, phase: Mapping[str, Any]) -> dict[str, Any]:
    """Return the immutable part of a memory: address, content, attribution and decisions.

    Empty values are left out, since a body is stored, hashed and read many times.
    """
    candidate, key = draft.candidate, draft.key
    assert key is not None, "the naming gate sets the key"
    author = speaker_of(engine, draft)
    meta = {
        **candidate.meta,
        **({"key": candidate.key} if candidate.key else {}),
        **{name: value for name, value in phase.items() if name != "phase_id"},
        "policy_tags": [d.rule for d in draft.decisions if d.rule.startswith(("allowed_by:", "kept_by:"))],
    }
    body = {name: written(getattr(candidate, name)) for name in _AS_GIVEN} | {
        "tenant": engine.tenant,
        "namespace": draft.namespace,
        "content_hash": draft.content_hash,
        "fingerprint": draft.fingerprint,
        "canonical_key": key.text,
        "key_digest": key.digest,
        "key_source": key.source,
        "event_type": draft.event_type,
        "layer": draft.layer,
        "sublayer": draft.sublayer,
        "meta": meta,
        "author": author.to_dict(),
        "source": draft.source,
        "authority": draft.authority,
        "authority_reason": draft.authority_reason,
        "user_id": candidate.user_id or engine.caller.user,
        "agent_id": candidate.agent_id or engine.caller.agent,
        "importance": draft.importance,
        "importance_reason": list(draft.importance_reason),
        "created_at": written(candidate.created_at) or at,
        "tick": tick,
        "phase_id": phase.get("phase_id"),
        "expires_at": written(draft.expires_at),
        "expires_at_tick": tick + draft.retention.ticks if draft.retention and draft.retention.ticks else None,
        "valid_from": written(draft.valid_from),
        "valid_until": written(draft.valid_until),
        "retention": draft.retention.model_dump() if draft.retention else None,
        "decisions": [decision.packed() for decision in draft.decisions],
    }
    body |= slots_of(draft.frames)
    return {name: value for name, value in body.items() if value or value == 0}
