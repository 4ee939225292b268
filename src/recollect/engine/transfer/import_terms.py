"""On which terms records come in: what the command says of them, and what of their own standing is believed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from recollect.engine.arguments import owner_named
from recollect.engine.context import Engine
from recollect.engine.write.drafting import own_place, parse_candidate
from recollect.model.errors import BadInput
from recollect.model.receipt import Receipt
from recollect.model.vocabulary import Outcome, Space
from recollect.rules.identity.decision import OLDER
from recollect.rules.trust.authority import BELIEVABLE, DEFAULT_OWNER, PLACE, granted_fields, with_claims

OPTIONS = ("owner", "user_id", "space", "namespace", "scope", "category")
"""What a command may say of every record that it brings in. ``user_id`` is the owner by another name."""


class Admitted(NamedTuple):
    """The fields with which a record asks to come in, and the names of what it claims of its own standing."""

    fields: dict[str, Any]
    claimed: tuple[str, ...] = ()


class ImportTerms:
    """What an import grants to records. The command's options win over what a record says."""

    def __init__(
        self,
        engine: Engine,
        options: Mapping[str, Any],
        believe: Iterable[str] = (),
        stated: Iterable[str] = (),
    ) -> None:
        """Check the options. ``stated`` are fields whose column somebody named, so that they are the command's own word."""
        for name in options:
            if name not in OPTIONS:
                raise BadInput("is no option of an import.", field=name, hint=f"Known: {', '.join(sorted(OPTIONS))}.")
        given = {name: value for name, value in options.items() if value is not None}
        owner = owner_named(given.get("owner"), given.pop("user_id", None), given.get("space"))
        self.options = given if owner is None else {**given, "owner": owner}
        self.believed = _checked(believe)
        self._stated = frozenset(stated)
        space = self.options.get("space", str(Space.USER))
        owner = owner or own_place(engine, space) or DEFAULT_OWNER
        self._place = {"owner": owner, "space": str(space)}
        self._owners: set[str] = set()
        self._caller = engine.caller

    def admit(self, engine: Engine, fields: Mapping[str, Any]) -> Admitted:
        """Return a record's fields as they are granted, with its claims in ``meta``.

        Raise :class:`BadInput` if a field makes no sense, whether it is granted or not.
        """
        parse_candidate(engine, {**fields, **self.options})
        stated = {name: fields[name] for name in self._stated if name in fields}
        granted, claims = granted_fields(fields, {**stated, **self.options}, self._place, self.believed)
        return Admitted(with_claims(granted, claims), tuple(sorted(claims)))

    def note_owner(self, fields: Mapping[str, Any]) -> None:
        """Raise if records name two owners and nobody says what to do: two people's memories must not become one's.

        A bound caller brings in its own memory. That of another person would be refused or taken by what that person has
        rejected, which is not for the caller to find out.
        """
        if PLACE in self.believed or "owner" in self.options or "owner" in self._stated:
            return
        in_a_session = fields.get("space") == Space.SESSION
        owner = fields.get("user_id") if in_a_session else fields.get("owner")  # a session is its user's
        owner = fields.get("owner") if owner is None else owner
        if isinstance(owner, str):
            self._owners.add(owner)
            is_a_persons = fields.get("space", Space.USER) == Space.USER or (
                in_a_session and owner == fields.get("user_id")
            )
            others = owner not in (DEFAULT_OWNER, self._caller.user) and is_a_persons
            if others and not self._caller.trusted:
                own = self._caller.user
                bound = f"bound to {own!r}" if own is not None else "bound, and no person's"
                say = f"Say that they are to be this caller's (--owner {own}), or have" if own is not None else "Have"
                raise BadInput(
                    f"the records name the owner {owner!r}, and this caller is {bound}.",
                    field="owner",
                    hint=f"{say} the application import them.",
                )
        if len(self._owners) > 1:
            raise BadInput(
                f"the records name several owners, such as {' and '.join(map(repr, sorted(self._owners)))}.",
                field="owner",
                hint="Believe the file about its place (--believe place), or say whose they all are (--owner NAME).",
            )


def _checked(believe: Iterable[str]) -> frozenset[str]:
    found = frozenset([believe] if isinstance(believe, str) else believe)
    unknown = sorted(found - BELIEVABLE.keys())
    if unknown:
        known = "; ".join(f"{name} ({meaning})" for name, meaning in BELIEVABLE.items())
        raise BadInput(f"{unknown[0]!r} is nothing that a file can be believed about.", field="believe", hint=known)
    return found


def decided_by_time(said_at: datetime | None, receipt: Receipt) -> str | None:
    """Return what a record's own time decided, in words; ``None`` if it decided nothing."""
    memory = receipt.memory
    if said_at is None or memory is None or not receipt.reasons:
        return None
    rule = receipt.reasons[0]
    if rule == OLDER:
        return f"of {_shown(said_at)}, older than {memory.superseded_by_id}, so it is an earlier version"
    if receipt.outcome is Outcome.SUPERSEDED and rule in _BY_RECENCY:
        return f"of {_shown(said_at)}, newer than {memory.supersedes_id}, so it is the version that counts"
    return None


_BY_RECENCY = ("identity:update", "conflict:recency")
"""Rules by which the newer of two memories that are believed alike is the one that counts."""


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
