"""Decide what an import grants its records: the command's options, and which of their own claims are believed."""

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
"""The options of an import, which hold for every record. ``user_id`` is the owner by another name."""


class Admitted(NamedTuple):
    """The fields that a record is granted, and the names of the fields that it only claims."""

    fields: dict[str, Any]
    claimed: tuple[str, ...] = ()


class ImportTerms:
    """What an import grants to records. The command's options win over what a record says."""

    def __init__(
        self, engine: Engine, options: Mapping[str, Any], believe: Iterable[str] = (), stated: Iterable[str] = ()
    ) -> None:
        """Check the options. ``stated`` are fields whose column the command named, so that they count like options."""
        for name in options:
            if name not in OPTIONS:
                raise BadInput("is no option of an import.", field=name, hint=f"Known: {', '.join(sorted(OPTIONS))}.")
        given = {name: value for name, value in options.items() if value is not None}
        owner = owner_named(given.get("owner"), given.pop("user_id", None), given.get("space"))
        self.options = given if owner is None else {**given, "owner": owner}
        self.believed = _check_believed(believe)
        self._stated = frozenset(stated)
        believed_place = ("owner", "space") if PLACE in self.believed else ()
        self.chosen = frozenset({*self.options, *self._stated, *believed_place, "namespace", "scope"})
        """The fields that state where a record goes, other than this import's defaults."""
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
        """Raise if records of two people would come together: two people's memories must not become one's.

        Naming an owner gives one person's records to somebody, and does not make two people one. A bound caller imports its own
        memories only: which of another person's are refused would reveal what that person has rejected.
        """
        if "owner" in self.options:
            if self.options.get("space", Space.USER) == Space.USER:
                self._note(
                    _person_of(fields),
                    "Split the file, or believe it about its place (--believe place, and no --owner).",
                )
            return
        if PLACE in self.believed or "owner" in self._stated:
            return
        owner = fields.get("owner")
        if isinstance(owner, str):
            in_user_space = fields.get("space", Space.USER) == Space.USER
            others = owner not in (DEFAULT_OWNER, self._caller.user) and in_user_space
            if others and not self._caller.trusted:
                own = self._caller.user
                bound = f"bound to {own!r}" if own is not None else "bound, and no person's"
                say = f"Say that they are to be this caller's (--owner {own}), or have" if own is not None else "Have"
                raise BadInput(
                    f"the records name the owner {owner!r}, and this caller is {bound}.",
                    field="owner",
                    hint=f"{say} the application import them.",
                )
            self._note(_person_of(fields) or owner, "Believe the file about its place (--believe place).")

    def _note(self, owner: str | None, hint: str) -> None:
        """Note whose a record is; raise if an earlier one was another's."""
        if owner is not None:
            self._owners.add(owner)
        if len(self._owners) > 1:
            raise BadInput(
                f"the records name several owners, such as {' and '.join(map(repr, sorted(self._owners)))}.",
                field="owner",
                hint=hint,
            )


def _person_of(fields: Mapping[str, Any]) -> str | None:
    """Return the person that a record names; a session is none, but may belong to one."""
    in_user_space = fields.get("space", Space.USER) == Space.USER
    person = fields.get("owner") if in_user_space else fields.get("user_id")
    return person if isinstance(person, str) else None


def _check_believed(believe: Iterable[str]) -> frozenset[str]:
    found = frozenset([believe] if isinstance(believe, str) else believe)
    unknown = sorted(found - BELIEVABLE.keys())
    if unknown:
        known = "; ".join(f"{name} ({meaning})" for name, meaning in BELIEVABLE.items())
        raise BadInput(f"{unknown[0]!r} is nothing that a file can be believed about.", field="believe", hint=known)
    return found


def decided_by_time(said_at: datetime | None, receipt: Receipt) -> str | None:
    """Return a sentence on what a record's time decided, its own or that of the import; ``None`` if it decided nothing."""
    memory = receipt.memory
    if memory is None or not receipt.reasons:
        return None
    rule = receipt.reasons[0]
    of = f"of {said_at:%Y-%m-%d %H:%M} UTC" if said_at is not None else "of now, for want of a time that could be read"
    if rule == OLDER:
        return f"{of}, older than {memory.superseded_by_id}, so it is an earlier version"
    if receipt.outcome is Outcome.SUPERSEDED and rule in _BY_RECENCY:
        return f"{of}, newer than {memory.supersedes_id}, so it is the version that counts"
    return None


_BY_RECENCY = ("identity:update", "conflict:recency")
"""Rules by which the newer of two memories of equal authority wins."""
