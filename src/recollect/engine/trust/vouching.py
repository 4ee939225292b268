"""Vouch for a memory that another wrote, and weigh vouches. The memory itself never changes.

A vouch is a ledger entry with an amendment; the voucher is the entry's actor, so that the name is kept in one place and can
be erased with the person. A vouch does not age the stream: agreeing with one memory must not wear out others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.engine import operations
from recollect.engine.arguments import check_kept
from recollect.engine.context import Engine, find
from recollect.engine.ledger.checkpoint_log import key_history, place_of
from recollect.engine.operations import failures_noted
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.reading import readable_streams
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import border_check, keep
from recollect.engine.transaction import StreamWriter
from recollect.engine.trust.identities import resolve_holder, signers_in, signing_key
from recollect.model.caller import AGENT, USER, Caller, Right, as_principal, kind_of, principal, short_name
from recollect.model.canonical import Plain
from recollect.model.errors import BadInput, NotAllowed, Refused, WrongState
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.record import Memory
from recollect.model.state import vouchers_from
from recollect.model.vocabulary import Namespace, Space, Status
from recollect.rules.ledger.fold import TOLD
from recollect.rules.ranking.fusion import Place
from recollect.rules.trust.signatures import (
    Placed,
    Standing,
    sign,
    signature_from,
    signature_text,
    standing,
    voucher_bytes,
)
from recollect.rules.trust.signers import Signers
from recollect.rules.trust.vouch_weight import Vouch, weighs_nothing, weight
from recollect.stores.protocol import Reader, Stored, Stream

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

CONFIRMS = ("accurate", "useful", "valid")
"""What a voucher may say of a memory. No free text: that would be one person's words on another's memory."""
MAX_IDENTITIES = 256
MAX_EACH = 32
"""How far the graph of trust is read: how many identities, and how many that each of them vouches for."""


def vouch(
    engine: Engine,
    id: str,
    *,
    confidence: float | None = None,
    says: str | None = None,
    by: str | None = None,
    sign_as: str | None = None,
    key_file: Path | None = None,
) -> Memory:
    """Vouch for a memory that another wrote, once. The policy may demand a signature of everybody."""
    given = _check_vouch(confidence, says)
    signer = resolve_holder(engine, sign_as) if sign_as is not None else None
    speaker = _act_as(engine, signer if by is None and signer != engine.caller.principal else by)
    name = speaker.caller.principal
    if signer is not None and signer != name:
        raise BadInput(f"{name!r} vouches, and signs it too.", field="sign_as", hint="Give the same name, or none.")
    is_signed = signer is not None or speaker.policy.trust.signed_only
    return _record(speaker, id, given, signing_key(speaker, name, key_file) if is_signed else None)


def withdraw_vouch(engine: Engine, id: str, *, by: str | None = None) -> Memory:
    """Withdraw one's own vouch. History still shows that there was one."""
    return _record(_act_as(engine, by), id, None, None)


def _check_vouch(confidence: Any, says: Any) -> dict[str, Any]:
    """Return the values of a vouch that were given, or raise the error that names the wrong one."""
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if confidence is not None and not (number and 0 <= confidence <= 1):
        raise BadInput("must be a number from 0 to 1.", field="confidence", hint="Leave it out if it is certain.")
    if says is not None and says not in CONFIRMS:
        raise BadInput("is unknown.", field="says", hint=f"Known: {', '.join(CONFIRMS)}.")
    given = {"confidence": None if confidence is None else float(confidence), "says": says}
    return {name: value for name, value in given.items() if value is not None}


def _act_as(engine: Engine, by: str | None) -> Engine:
    """Return the engine as the voucher's. ``by`` names an agent or, as ``user:ana``, a user."""
    caller = engine.caller
    if by is not None:
        if not caller.trusted or caller.agent is not None:
            raise NotAllowed("a bound caller vouches as itself.", field="by", hint="Leave it out.")
        check_kept(engine.policy.privacy, "by", by)
        kind, name = kind_of(by) or AGENT, short_name(by)
        if kind not in (AGENT, USER):
            raise BadInput(f"a {kind} vouches for nothing.", field="by", hint="Name an agent, or a user as user:NAME.")
        caller = replace(caller, agent=name) if kind == AGENT else replace(caller, user=name)
    if caller.agent is None and caller.user is None:
        raise BadInput("say who vouches.", field="by", hint="An application has no word of its own: name an agent.")
    engine = engine.seen_by(caller)
    engine.require(Right.WRITE, "vouch")
    return engine


@failures_noted(Node.HOTPATH, Op.LINK)
@again_on_conflict
def _record(engine: Engine, id: str, given: Mapping[str, Any] | None, private: "Ed25519PrivateKey | None") -> Memory:
    """Record a vouch with its values, signed if there is a key; or, without values, the withdrawal of one."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, find(engine, writer, id).stream)
        stored = find(engine, writer, id)
        stream_writer = StreamWriter(engine, writer, stream, engine.now(), ages=False)
        own, id, vouches = engine.caller.principal, stored.state.id, _vouches(engine.caller, stored)
        if given is not None:
            _check_may_vouch(engine, writer, stored, vouches)
        elif stored.body is None or not vouches:
            hint = "Only one's own vouch can be taken back."
            raise WrongState("this identity does not vouch for it.", field="id", hint=hint)
        assert stored.body is not None, "nobody vouches for what was removed"
        stream_writer.load(stored)
        keep(engine, writer, [border_check(engine, "write", Space(stored.body["space"]), None)], stream.number)
        if given is None:
            stream_writer.record(Event.VOUCH_WITHDRAWN, id, rule="vouched:withdrawn")
        else:
            if private is not None:
                who, content_hash = {"id": own, "name": engine.caller.name}, stored.body["content_hash"]
                message = voucher_bytes(content_hash, who, stream_writer.at, given.get("confidence"), given.get("says"))
                given = {**given, "signature": signature_text(sign(private, message))}
            stream_writer.record(Event.VOUCHED, id, rule="vouched:by_another", amendment=given)
        stream_writer.finish()
        operations.keep(engine, writer, [operations.about(engine, stream_writer.stored(id), Op.LINK, stream_writer.at)])
        return to_memory(*as_seen(engine, writer, [stream_writer.stored(id)]))


def _vouches(caller: Caller, stored: Stored) -> bool:
    """Return whether the caller vouches for a memory."""
    return any(stored.actor_names.get(one["actor"]) == caller.principal for one in stored.state.vouchers)


def may_vouch(engine: Engine, reader: Reader, stored: Stored) -> bool:
    """Return whether the caller, who may change the memory, may vouch for it as it stands now."""
    caller = engine.caller
    if caller.agent is None and caller.user is None:
        return False
    try:
        _check_may_vouch(engine, reader, stored, _vouches(caller, stored))
    except Refused:
        return False
    return True


def _check_may_vouch(engine: Engine, reader: Reader, stored: Stored, already: bool) -> None:
    if stored.body is None or stored.state.status not in (Status.ACTIVE, Status.CONTRADICTORY):
        hint = "Vouch for the current version: `chain` shows it."
        raise WrongState(f"it is {stored.state.removed or stored.state.status}.", field="id", hint=hint)
    if _is_author(engine.caller, reader, stored.body):
        raise NotAllowed("nobody vouches for their own words.", field="id", hint="It takes somebody else.")
    if already:
        raise WrongState("this identity vouches for it already.", field="id", hint="Withdraw it first, to vouch anew.")


def _is_author(caller: Caller, reader: Reader, body: Mapping[str, Any]) -> bool:
    """Return whether the author is the caller's agent or user, or an id that one of them has linked.

    An author without a kind may be either, and then neither may vouch.
    """
    author, names = body["author"], {caller.agent, caller.user} - {None}
    if author["id"] in caller.own_principals | names or body.get("agent_id") in {caller.agent} - {None}:
        return True
    wrote = author.get("platform") or "", author["id"]
    linked = [one.actor for one in reader.platform_ids(caller.tenant) if (one.platform, one.id) == wrote]
    return not caller.own_principals.isdisjoint(reader.names_of(caller.tenant, linked).values())


@dataclass(frozen=True, slots=True)
class Vouching(Plain):
    """Who vouches for a memory, what each vouch weighs alone, and what they weigh together, for the caller who asks.

    Each voucher has its ``weight``; if that is zero, ``why`` says the reason and what would change it.
    """

    id: str
    weight: float
    vouchers: tuple[dict[str, Any], ...]
    relied_upon: tuple[str, ...]


def vouching(engine: Engine, id: str) -> Vouching:
    """Return what the vouches for a memory weigh, and why: 1 is the full vouch of somebody who is relied upon."""
    with engine.read() as reader:
        stored = find(engine, reader, id)
        memory = to_memory(stored)
        stream = reader.stream_numbered(engine.tenant, stored.stream)
        trust, signatures = Trust(engine, reader, [stream]), VouchSignatures(engine, reader)
        place, names = (stored.stream, stored.number), stored.actor_names
        rows = {names[one["actor"]]: one for one in stored.state.vouchers if one["actor"] in names}
        counting, alone = [], []
        for one in memory.vouchers:
            if "imported" in one:
                judged = signatures.signers.of_voucher(stored.body or {}, one)
                worth, counts = (judged.word, judged.counts) if judged is not None else (None, False)
            else:
                standing_here = signatures.worth(place, rows[one["id"]])
                worth, counts = standing_here, signatures.weighs(standing_here)
            counting += [one] if counts else []
            alone.append(_weigh_alone(trust, one, worth, counts))
        return Vouching(memory.id, trust.weigh(counting), tuple(alone), trust.seeds)


def _weigh_alone(trust: "Trust", one: Mapping[str, Any], worth: str | None, counts: bool) -> dict[str, Any]:
    """Return a vouch with what its signature is worth, and what it would weigh without the others."""
    shown = {**one, "signed": worth, "weight": trust.weigh([one]) if counts else 0.0}
    if not shown["weight"]:
        imported = "imported" in one
        shown["why"] = weighs_nothing(one.get("confidence", 1.0), worth, counts, trust.seeds, imported=imported)
    return shown


def weights_of(
    engine: Engine, reader: Reader, streams: Sequence[Stream], rows: Mapping[Place, str]
) -> dict[Place, float]:
    """Return what the vouches for these memories weigh, given the vouchers in their rows."""
    if not rows:
        return {}
    vouched = {place: vouchers_from(text) for place, text in rows.items()}
    names = reader.names_of(engine.tenant, sorted({one["actor"] for found in vouched.values() for one in found}))
    trust, signatures = Trust(engine, reader, streams), VouchSignatures(engine, reader)
    elsewhere = {place: [one[TOLD] for one in found if TOLD in one] for place, found in vouched.items()}
    earned = signatures.earned({place: told for place, told in elsewhere.items() if told})
    weights = {}
    for place, found in vouched.items():
        counting = {one["id"]: one for one in earned.get(place, ())}
        for one in found:
            if one["actor"] in names and signatures.weighs(signatures.worth(place, one)):
                counting[names[one["actor"]]] = {"id": names[one["actor"]], **one}
        weights[place] = trust.weigh(counting.values())
    return weights


class Trust:
    """The graph of who vouches for whose memories, among those that the caller may see; read once, when first needed."""

    def __init__(self, engine: Engine, reader: Reader, streams: Sequence[Stream]) -> None:
        self._engine, self._reader, self._streams = engine, reader, streams
        self.seeds = _find_seeds(engine, streams)

    def weigh(self, vouchers: Iterable[Mapping[str, Any]]) -> float:
        """Return what these vouches for one memory weigh together."""
        settings = self._engine.policy.trust
        vouches = [Vouch(one["id"], one.get("confidence", 1.0)) for one in vouchers]
        return weight(vouches, self._graph, self.seeds, passed_on=settings.passed_on, max_steps=settings.max_steps)

    @cached_property
    def _graph(self) -> dict[str, tuple[str, ...]]:
        """Read from the seeds outwards, step by step, so that what lies behind one voucher cannot crowd out what is nearer."""
        engine, level = self._engine, list(self.seeds)
        graph: dict[str, tuple[str, ...]] = {}
        namespaces = sorted({s.address.namespace for s in self._streams if s.address}) or [Namespace.PROD]
        streams = readable_streams(engine, self._reader, None, None, namespaces)
        selection = engine.selecting(streams=tuple(stream.number for stream in streams))
        known = dict.fromkeys(level)
        for _ in range(engine.policy.trust.max_steps):
            found = self._reader.vouched_for(engine.tenant, level, selection, MAX_EACH)
            graph |= found
            level = [one for of_one in found.values() for one in of_one if one not in known]
            level = list(dict.fromkeys(level))[: MAX_IDENTITIES - len(known)]
            known |= dict.fromkeys(level)
            if not level:
                break
        return graph


def _find_seeds(engine: Engine, streams: Sequence[Stream]) -> tuple[str, ...]:
    """Return the principals relied upon: the caller, or the owner for whom an application asks, and the policy's seeds."""
    caller = engine.caller
    owners = {s.address.owner for s in streams if s.address is not None and s.address.space is Space.USER}
    on_behalf = owners if caller.agent is None and caller.user is None and len(owners) == 1 else set()
    asking = [principal(kind, name) for kind, name in ((AGENT, caller.agent), (USER, caller.user)) if name is not None]
    for_owner = [principal(USER, owner) for owner in sorted(on_behalf)]
    return tuple(dict.fromkeys((*asking, *for_owner, *map(as_principal, engine.policy.trust.seeds))))


VouchRow = Mapping[str, Any]
"""A vouch in a memory's row: the ``actor``, the time ``at``, and the values of its entry."""


class VouchSignatures:
    """Judges the signatures of vouches. The history of keys is read once, when the first signed vouch is met."""

    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine, self._reader = engine, reader

    def weighs(self, worth: Standing | None) -> bool:
        """Return whether a vouch counts at all. An unsigned one does, unless the policy demands signatures."""
        return not self._engine.policy.trust.signed_only if worth is None else worth is Standing.GOOD

    def earned(self, places: Mapping[tuple[int, int], Sequence[VouchRow]]) -> dict[tuple[int, int], list[VouchRow]]:
        """Return the vouches from elsewhere that count here, by the place of their memory, each under its signer's name."""
        found: dict[tuple[int, int], list[VouchRow]] = {}
        for stored in self._reader.by_places(self._engine.tenant, sorted(places)) if places else ():
            place = (stored.stream, stored.number)
            judged = [(self.signers.of_voucher(stored.body or {}, one), one) for one in places[place] if stored.body]
            found[place] = [{**one, "id": own.name} for own, one in judged if own is not None and own.counts]
        return found

    @cached_property
    def signers(self) -> Signers:
        """Everybody's keys, by which vouches from elsewhere are judged."""
        return signers_in(self._reader, self._engine.tenant)

    def worth(self, place: tuple[int, int], vouch: VouchRow) -> Standing | None:
        """Return what the signature of a vouch for the memory at this place is worth; ``None`` if there is none.

        A key that was neither rotated nor revoked always counts; only for others is the vouch's place in the log looked up.
        """
        if "signature" not in vouch:
            return None
        history = self._histories.get(signature_from(vouch["signature"]).key, [])
        if not history or history[0].leaf.actor != vouch["actor"]:
            return Standing.UNKNOWN
        if len(history) == 1:
            return Standing.GOOD
        return standing(history, self._place_in_log(place, vouch))

    @cached_property
    def _histories(self) -> dict[str, list[Placed]]:
        found: dict[str, list[Placed]] = {}
        for placed in key_history(self._reader, self._engine.tenant):
            found.setdefault(placed.leaf.key, []).append(placed)
        return found

    def _place_in_log(self, place: tuple[int, int], vouch: VouchRow) -> int | None:
        """Return the place in the log of a vouch's entry; ``None`` while no checkpoint covers it."""
        reader, tenant = self._reader, self._engine.tenant
        found = reader.by_places(tenant, [place])
        for entry in reversed(reader.entries_about(tenant, found[0].state.id) if found else []):
            if (entry.event, entry.actor, entry.at) == (Event.VOUCHED, vouch["actor"], vouch["at"]):
                return place_of(reader, tenant, entry.stream, entry.seq)
        return None
