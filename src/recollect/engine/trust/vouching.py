"""Vouching: somebody other than the author stands for a memory. The memory itself is never touched.

A vouch is an entry of the ledger with its values beside it; who vouches is the entry's actor, so that a name stands in one
place and goes with the person. It does not age the stream: whoever agrees with a memory must not wear out others.
"""

import json
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
from recollect.engine.transaction import Pen
from recollect.engine.trust.identities import resolve_holder, signers_in, signing_key
from recollect.model.caller import AGENT, USER, Caller, Right, as_principal, kind_of, principal, short_name
from recollect.model.errors import BadInput, NotAllowed, WrongState
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Plain
from recollect.model.record import Memory
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
from recollect.rules.trust.signers import Judged, Signers
from recollect.rules.trust.vouch_weight import Vouch, weighs_nothing, weight
from recollect.stores.protocol import Reader, Stored, Stream

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

CONFIRMS = ("accurate", "useful", "valid")
"""What a voucher may say of a memory. No words of their own: those would be one person's, on another's memory."""
MAX_IDENTITIES = 256
MAX_EACH = 32
"""How far the graph of trust is read: so many identities, and so many that each of them vouches for."""


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
    """Stand for a memory that another wrote, once. ``by`` names who does, where an application speaks for an agent.

    ``confidence`` is how sure they are, from 0 to 1; ``says`` whether it is ``accurate``, ``useful`` or ``valid``. With
    ``sign_as`` it is signed with the current key of whoever vouches; the policy may ask that of everybody.
    """
    given = _checked(confidence, says)
    signer = resolve_holder(engine, sign_as) if sign_as is not None else None
    speaker = _speaking_for(engine, signer if by is None and signer != engine.caller.principal else by)
    return _record(speaker, id, given, _key_of(speaker, signer, key_file))


def withdraw_vouch(engine: Engine, id: str, *, by: str | None = None) -> Memory:
    """Take back one's own vouch. History still shows that there was one."""
    return _record(_speaking_for(engine, by), id, None, None)


def _key_of(speaker: Engine, signer: str | None, key_file: Path | None) -> "Ed25519PrivateKey | None":
    """Return the key that the voucher signs with; ``None`` if no signature is asked for."""
    name = speaker.caller.principal
    if signer is not None and signer != name:
        raise BadInput(f"{name!r} vouches, and signs it too.", field="sign_as", hint="Give the same name, or none.")
    if signer is None and not speaker.policy.trust.signed_only:
        return None
    return signing_key(speaker, name, key_file)


def _signed(
    engine: Engine, stored: Stored, at: str, given: Mapping[str, Any], private: "Ed25519PrivateKey"
) -> dict[str, Any]:
    """What a vouch brings, with the signature of whoever vouches over it."""
    assert stored.body is not None, "nobody vouches for what was removed"
    who = {"id": engine.caller.principal, "name": engine.caller.name}
    message = voucher_bytes(stored.body["content_hash"], who, at, given.get("confidence"), given.get("says"))
    return {**given, "signature": signature_text(sign(private, message))}


def _checked(confidence: Any, says: Any) -> dict[str, Any]:
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if confidence is not None and not (number and 0 <= confidence <= 1):
        raise BadInput("must be a number from 0 to 1.", field="confidence", hint="Leave it out if it is certain.")
    if says is not None and says not in CONFIRMS:
        raise BadInput("is unknown.", field="says", hint=f"Known: {', '.join(CONFIRMS)}.")
    given = {"confidence": None if confidence is None else float(confidence), "says": says}
    return {name: value for name, value in given.items() if value is not None}


def _speaking_for(engine: Engine, by: str | None) -> Engine:
    """Return the engine of the caller who vouches. ``by`` names an agent or, as ``user:ana``, a user."""
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
    """One entry: a vouch with its values, signed where there is a key; or without any the withdrawal of one."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, find(engine, writer, id).stream)
        stored = find(engine, writer, id)
        pen = Pen(engine, writer, stream, engine.now(), ages=False)
        own = engine.caller.principal
        mine = any(stored.actor_names.get(one["actor"]) == own for one in stored.state.vouchers)
        if given is None:
            _may_withdraw(stored, mine)
        else:
            _may_vouch(engine, writer, stored, mine)
        pen.load(stored)
        if stored.body is not None:
            keep(engine, writer, [border_check(engine, "write", Space(stored.body["space"]), None)], stream.number)
        if given is None:
            pen.record(Event.VOUCH_WITHDRAWN, stored.state.id, rule="vouched:withdrawn")
        else:
            said = given if private is None else _signed(engine, stored, pen.at, given, private)
            pen.record(Event.VOUCHED, stored.state.id, rule="vouched:by_another", amendment=said)
        pen.finish()
        operations.keep(engine, writer, [operations.about(engine, pen.stored(stored.state.id), Op.LINK, pen.at)])
        (shown,) = as_seen(engine, writer, [pen.stored(stored.state.id)])
        return to_memory(shown)


def _may_vouch(engine: Engine, reader: Reader, stored: Stored, already: bool) -> None:
    if stored.body is None or stored.state.status not in (Status.ACTIVE, Status.CONTRADICTORY):
        hint = "Vouch for the current version: `chain` shows it."
        raise WrongState(f"it is {stored.state.removed or stored.state.status}.", field="id", hint=hint)
    if _wrote(engine.caller, reader, stored.body):
        raise NotAllowed("nobody vouches for their own words.", field="id", hint="It takes somebody else.")
    if already:
        raise WrongState("this identity vouches for it already.", field="id", hint="Withdraw it first, to vouch anew.")


def _wrote(caller: Caller, reader: Reader, body: Mapping[str, Any]) -> bool:
    """Return whether the words are the caller's: its agent's, its user's, or those of an id that one of them has linked.

    An author without a kind may be either, and nobody vouches where they may have written it themselves.
    """
    author, names = body["author"], {caller.agent, caller.user} - {None}
    if author["id"] in caller.own_principals | names or body.get("agent_id") in {caller.agent} - {None}:
        return True
    wrote = author.get("platform") or "", author["id"]
    linked = [one.actor for one in reader.platform_ids(caller.tenant) if (one.platform, one.id) == wrote]
    return not caller.own_principals.isdisjoint(reader.names_of(caller.tenant, linked).values())


def _may_withdraw(stored: Stored, mine: bool) -> None:
    if stored.body is None or not mine:
        hint = "Only one's own vouch can be taken back."
        raise WrongState("this identity does not vouch for it.", field="id", hint=hint)


@dataclass(frozen=True, slots=True)
class Vouching(Plain):
    """Who vouches for a memory, what each word weighs alone, and what they weigh together, in the eyes of whoever asks.

    Each voucher has its ``weight``; where that is nothing, ``why`` says the reason and what would change it.
    """

    id: str
    weight: float
    vouchers: tuple[dict[str, Any], ...]
    relied_upon: tuple[str, ...]


def vouching(engine: Engine, id: str) -> Vouching:
    """What the vouches for a memory weigh, and why: 1 is the whole word of one who is relied upon."""
    with engine.read() as reader:
        stored = find(engine, reader, id)
        memory = to_memory(stored)
        stream = reader.stream_numbered(engine.tenant, stored.stream)
        trust, signatures = Trust(engine, reader, [stream]), VouchSignatures(engine, reader)
        here = signatures.worth_of_all(stored)
        counting, alone = [], []
        for one in memory.vouchers:
            if "imported" in one:
                judged = signatures.of_imported(stored.body or {}, one)
                worth, counts = (judged.word, judged.counts) if judged is not None else (None, False)
            else:
                worth, counts = here[one["id"]], signatures.weighs(here[one["id"]])
            counting += [one] if counts else []
            alone.append(_alone(trust, one, worth, counts))
        return Vouching(memory.id, trust.weigh(counting), tuple(alone), trust.seeds)


def _alone(trust: "Trust", one: Mapping[str, Any], worth: str | None, counts: bool) -> dict[str, Any]:
    """A vouch with what its signature is worth, and what it would weigh without the others."""
    shown = {**one, "signed": worth, "weight": trust.weigh([one]) if counts else 0.0}
    if not shown["weight"]:
        imported = "imported" in one
        shown["why"] = weighs_nothing(one.get("confidence", 1.0), worth, counts, trust.seeds, imported=imported)
    return shown


def weights_of(
    engine: Engine, reader: Reader, streams: Sequence[Stream], rows: Mapping[Place, str]
) -> dict[Place, float]:
    """What the vouches for these memories weigh, given who vouches as their rows have it."""
    if not rows:
        return {}
    vouched = {place: json.loads(text) for place, text in rows.items()}
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
    """The graph of who vouches for whose memories, as far as the caller may see them, read once when it is first needed."""

    def __init__(self, engine: Engine, reader: Reader, streams: Sequence[Stream]) -> None:
        self._engine, self._reader, self._streams = engine, reader, streams
        self.seeds = _seeds(engine, streams)
        self._graph: dict[str, tuple[str, ...]] | None = None

    def weigh(self, vouchers: Iterable[Mapping[str, Any]]) -> float:
        """What these vouches for one memory weigh together."""
        if self._graph is None:
            self._graph = self._read()
        settings = self._engine.policy.trust
        vouches = [Vouch(one["id"], one.get("confidence", 1.0)) for one in vouchers]
        return weight(vouches, self._graph, self.seeds, passed_on=settings.passed_on, max_steps=settings.max_steps)

    def _read(self) -> dict[str, tuple[str, ...]]:
        """From the seeds outwards, step by step: what lies behind one voucher cannot crowd out what is nearer."""
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


def _seeds(engine: Engine, streams: Sequence[Stream]) -> tuple[str, ...]:
    """Whose judgement is relied upon: whoever asks, or for whom an application asks, and whom the policy names."""
    caller = engine.caller
    owners = {s.address.owner for s in streams if s.address is not None and s.address.space is Space.USER}
    on_behalf = owners if caller.agent is None and caller.user is None and len(owners) == 1 else set()
    asking = [principal(kind, name) for kind, name in ((AGENT, caller.agent), (USER, caller.user)) if name is not None]
    for_owner = [principal(USER, owner) for owner in sorted(on_behalf)]
    return tuple(dict.fromkeys((*asking, *for_owner, *map(as_principal, engine.policy.trust.seeds))))


VouchRow = Mapping[str, Any]
"""As a row has it: the ``actor`` who vouches, ``at`` when, and what the entry brought."""


class VouchSignatures:
    """Reads what became of keys once, when the first signed vouch is asked about."""

    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine, self._reader = engine, reader

    def weighs(self, worth: Standing | None) -> bool:
        """Whether a vouch counts at all. One that nobody signed does, unless the policy asks for signatures."""
        return not self._engine.policy.trust.signed_only if worth is None else worth is Standing.GOOD

    def worth_of_all(self, stored: Stored) -> dict[str, Standing | None]:
        """What the signature of each vouch for a memory is worth, by the name of who vouches; ``None`` where none is."""
        place = (stored.stream, stored.number)
        named = [(stored.actor_names.get(one["actor"]), one) for one in stored.state.vouchers]
        return {name: self.worth(place, one) for name, one in named if name is not None}

    def of_imported(self, body: Mapping[str, Any], voucher: VouchRow) -> Judged | None:
        """Return what the signature of one who vouched elsewhere is worth here; ``None`` if there is none."""
        return self._signers.of_voucher(body, voucher)

    def earned(self, places: Mapping[tuple[int, int], Sequence[VouchRow]]) -> dict[tuple[int, int], list[VouchRow]]:
        """Return the vouches from elsewhere that count here, by the place of their memory, each under its signer's name."""
        found: dict[tuple[int, int], list[VouchRow]] = {}
        for stored in self._reader.by_places(self._engine.tenant, sorted(places)) if places else ():
            place = (stored.stream, stored.number)
            judged = [(self.of_imported(stored.body or {}, one), one) for one in places[place] if stored.body]
            found[place] = [{**one, "id": own.name} for own, one in judged if own is not None and own.counts]
        return found

    @cached_property
    def _signers(self) -> Signers:
        return signers_in(self._reader, self._engine.tenant)

    def worth(self, place: tuple[int, int], vouch: VouchRow) -> Standing | None:
        """What the signature of a vouch for the memory at this place is worth; ``None`` if there is none.

        A key that was neither rotated nor revoked is good wherever the vouch stands, so that is looked up only for others.
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
        """Where the log has the entry of a vouch; ``None`` while no checkpoint covers it."""
        reader, tenant = self._reader, self._engine.tenant
        found = reader.by_places(tenant, [place])
        for entry in reversed(reader.entries_about(tenant, found[0].state.id) if found else []):
            if (entry.event, entry.actor, entry.at) == (Event.VOUCHED, vouch["actor"], vouch["at"]):
                return place_of(reader, tenant, entry.stream, entry.seq)
        return None
