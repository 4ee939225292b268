"""Decide what an import grants its records: the command's options, and which of their own claims are believed."""

from collections import Counter
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
from recollect.rules.plain_view import counted
from recollect.rules.trust.authority import BELIEVABLE, DEFAULT_OWNER, PLACE, granted_fields, with_claims

OPTIONS = ("owner", "user_id", "space", "namespace", "scope", "category")
"""The options of an import, which hold for every record. ``user_id`` is the owner by another name."""
MOST_OWNERS = 20
"""How many of the owners of a file an error names."""


class Admitted(NamedTuple):
    """The fields that a record is granted, and the names of the fields that it only claims."""

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
        only_owner: str | None = None,
    ) -> None:
        """Check the options. ``stated`` are fields whose column the command named, so that they count like options.

        With ``only_owner`` the records of that person are imported alone, and are theirs here unless an option says otherwise.
        """
        for name in options:
            if name not in OPTIONS:
                raise BadInput("is no option of an import.", field=name, hint=f"Known: {', '.join(sorted(OPTIONS))}.")
        given = {name: value for name, value in options.items() if value is not None}
        owner = owner_named(given.get("owner"), given.pop("user_id", None), given.get("space"))
        if only_owner is not None and (not isinstance(only_owner, str) or not only_owner):
            raise BadInput("must be a name.", field="only_owner", hint="Name the person as the file does.")
        self.only_owner = only_owner
        self.believed = _check_believed(believe)
        if PLACE not in self.believed and "owner" not in stated and given.get("space", Space.USER) == Space.USER:
            owner = owner or only_owner
        self.options = given if owner is None else {**given, "owner": owner}
        self._stated = frozenset(stated)
        believed_place = ("owner", "space") if PLACE in self.believed else ()
        self.chosen = frozenset({*self.options, *self._stated, *believed_place, "namespace", "scope"})
        """The fields that state where a record goes, other than this import's defaults."""
        space = self.options.get("space", str(Space.USER))
        owner = owner or own_place(engine, space) or DEFAULT_OWNER
        self._place = {"owner": owner, "space": str(space)}
        self._owners: Counter[str] = Counter()
        self._caller = engine.caller

    def admit(self, engine: Engine, fields: Mapping[str, Any]) -> Admitted:
        """Return a record's fields as they are granted, with its claims in ``meta``.

        Raise :class:`BadInput` if a field makes no sense, whether it is granted or not.
        """
        parse_candidate(engine, {**fields, **self.options})
        stated = {name: fields[name] for name in self._stated if name in fields}
        granted, claims = granted_fields(fields, {**stated, **self.options}, self._place, self.believed)
        return Admitted(with_claims(granted, claims), tuple(sorted(claims)))

    def is_another_persons(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a record is not of the only person whose records are wanted."""
        return self.only_owner is not None and _person_of(fields) != self.only_owner

    def note_owner(self, fields: Mapping[str, Any]) -> None:
        """Note whose a record is, for `check_owners`.

        A bound caller imports its own memories only: which of another person's are refused would reveal what that person has
        rejected.
        """
        if self.is_another_persons(fields):
            return
        if "owner" in self.options:
            if self.options.get("space", Space.USER) == Space.USER:
                self._note(_person_of(fields))
            return
        if PLACE in self.believed or "owner" in self._stated:
            return
        owner = fields.get("owner") or _person_of(fields)
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
        self._note(_person_of(fields) or owner)

    def _note(self, owner: Any) -> None:
        if isinstance(owner, str):
            self._owners[owner] += 1

    def check_owners(self) -> None:
        """Raise if records of two people would come together: two people's memories must not become one's.

        Naming an owner gives one person's records to somebody, and does not make two people one.
        """
        if len(self._owners) < 2:
            return
        most = sorted(self._owners.items(), key=lambda named: (-named[1], named[0]))[:MOST_OWNERS]
        others = len(self._owners) - MOST_OWNERS
        named = ", ".join(f"{owner!r:.80} ({counted(number, 'record')})" for owner, number in most)
        rest = f" and {others:,} more" if others > 0 else ""
        first = most[0][0]
        raise BadInput(
            f"the records name several owners: {named}{rest}.",
            field="owner",
            hint=f"Import one person's (--only-owner {first}), or keep them apart, each under their own name (--believe place"
            + (", and no --owner)." if "owner" in self.options else ")."),
        )


def _person_of(fields: Mapping[str, Any]) -> str | None:
    """Return the person that a record names; a session is none, but may belong to one."""
    in_user_space = fields.get("space", Space.USER) == Space.USER
    named = (fields.get("owner") if in_user_space else None, fields.get("user_id"))
    return next((person for person in named if isinstance(person, str)), None)


def _check_believed(believe: Iterable[str]) -> frozenset[str]:
    found = frozenset([believe] if isinstance(believe, str) else believe)
    unknown = sorted(found - BELIEVABLE.keys())
    if unknown:
        known = "; ".join(f"{name} ({meaning})" for name, meaning in BELIEVABLE.items())
        raise BadInput(f"{unknown[0]!r} is nothing that a file can be believed about.", field="believe", hint=known)
    return found


def decided_by_time(said_at: datetime | None, receipt: Receipt) -> str | None:
    """Return a sentence on what a record's time, or its lack of one, decided; ``None`` if it decided nothing."""
    memory = receipt.memory
    if memory is None or not receipt.reasons:
        return None
    rule = receipt.reasons[0]
    of = f"of {said_at:%Y-%m-%d %H:%M} UTC" if said_at is not None else None
    if rule == OLDER:
        older = f"{of}, older than" if of else "of no time that counts, so taken for older than"
        return f"{older} {memory.superseded_by_id}, so it is an earlier version"
    if receipt.outcome is Outcome.SUPERSEDED and rule in _BY_RECENCY:
        newer = f"{of}, newer than" if of else "of no time that counts, and read later than"
        return f"{newer} {memory.supersedes_id}, so it is the version that counts"
    return None


_BY_RECENCY = ("identity:update", "conflict:recency")
"""Rules by which the newer of two memories of equal authority wins."""
