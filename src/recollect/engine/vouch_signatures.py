"""What the signatures of vouches are worth: by whose key, and whether that key counted where the log has the vouch."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from recollect.engine.checkpoint_log import key_history, place_of
from recollect.engine.context import Engine
from recollect.engine.identities import signers_in
from recollect.model.ledger import Event
from recollect.rules.signatures import Placed, Standing, signature_from, standing
from recollect.rules.signers import Judged, Signers
from recollect.stores.protocol import Reader, Stored

Vouch = Mapping[str, Any]
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

    def of_imported(self, body: Mapping[str, Any], voucher: Vouch) -> Judged | None:
        """Return what the signature of one who vouched elsewhere is worth here; ``None`` if there is none."""
        return self._signers.of_voucher(body, voucher)

    def earned(self, places: Mapping[tuple[int, int], Sequence[Vouch]]) -> dict[tuple[int, int], list[Vouch]]:
        """Return the vouches from elsewhere that count here, by the place of their memory, each under its signer's name."""
        found: dict[tuple[int, int], list[Vouch]] = {}
        for stored in self._reader.by_places(self._engine.tenant, sorted(places)) if places else ():
            place = (stored.stream, stored.number)
            judged = [(self.of_imported(stored.body or {}, one), one) for one in places[place] if stored.body]
            found[place] = [{**one, "id": own.name} for own, one in judged if own is not None and own.counts]
        return found

    @cached_property
    def _signers(self) -> Signers:
        return signers_in(self._reader, self._engine.tenant)

    def worth(self, place: tuple[int, int], vouch: Vouch) -> Standing | None:
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

    def _place_in_log(self, place: tuple[int, int], vouch: Vouch) -> int | None:
        """Where the log has the entry of a vouch; ``None`` while no checkpoint covers it."""
        reader, tenant = self._reader, self._engine.tenant
        found = reader.by_places(tenant, [place])
        for entry in reversed(reader.entries_about(tenant, found[0].state.id) if found else []):
            if (entry.event, entry.actor, entry.at) == (Event.VOUCHED, vouch["actor"], vouch["at"]):
                return place_of(reader, tenant, entry.stream, entry.seq)
        return None
