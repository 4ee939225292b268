"""Links that can be cut: what a version says of *other* memories and people, each value under a seal of its own.

The ledger commits to a version, which never changes. But a version also says something of other memories and people: the content
hash of a parent, how like a neighbour is, a signature that covers the parents, or the name of a person in a stream that is not
theirs. All that has to go when the other memory or person is erased. So the commitment does not cover such a value itself but its
seal: a hash over a salt of its own and the value. Cutting a link removes value and salt and leaves the seal: the commitment holds
as before, and the value cannot even be guessed.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from recollect.model.canonical import canonical_json
from recollect.model.vocabulary import Space

PARENT, NEIGHBOUR, SIGNATURE = "parent_refs", "neighbours", "signature"
USER, ACTOR, THREAD, RUN = NAMES = "user_id", "actor_id", "thread_id", "run_id"
"""Names of people, and names that an application may have given after a person."""
SALT_BYTES = 16
_SINGLE = (SIGNATURE, *NAMES)
"""Fields that hold one value, and no list."""

_SALTS, _CUT, _SEALED = "salts", "cut", "sealed"
"""In a body: the salts of its links, and the seals of the links that were cut. In what is committed to: all the seals."""
_MARKS = tuple(f'"{name}":' for name in (_SALTS, _CUT, _SEALED))


class Link(NamedTuple):
    """One value about another memory, or one name: of which field, at which place of it, and the salt of its seal."""

    field: str
    place: int
    value: Any
    salt: str

    @property
    def seal(self) -> str:
        return seal_of(self.salt, self.field, self.value)


def seal_of(salt: str, field: str, value: Any) -> str:
    """Return the SHA-256 of the salt, the field's name and the value. It is made often, so the value is spelled by hand."""
    spelled = f"{field} {value}" if isinstance(value, str) else f"{field} {_spell_neighbour(*value)}"
    raw = bytes.fromhex(salt)
    if raw.hex() != salt:
        raise ValueError("a salt is written in small letters")
    return hashlib.sha256(raw + spelled.encode("utf-8")).hexdigest()


def _spell_neighbour(id: object, strength: object, *reason: object) -> str:
    if not isinstance(id, str) or type(strength) not in (int, float) or not all(isinstance(one, str) for one in reason):
        raise ValueError("a neighbour is an id, how like it is, and the reason if there is one")
    return " ".join([id, repr(strength), *map(str, reason)])


def with_salts(body: Mapping[str, Any], draw: Callable[[int], bytes]) -> dict[str, Any]:
    """Return a new version's body with a salt for each of its links; one without links stays as it is."""
    values = {field: _values(body, field) for field in (NEIGHBOUR, PARENT)}
    values[SIGNATURE] = _values(body, SIGNATURE) if values[PARENT] else []
    values |= {field: _values(body, field) for field in NAMES if _is_elsewhere(body, field)}
    salts = {field: [draw(SALT_BYTES).hex() for _ in found] for field, found in values.items() if found}
    return {**body, _SALTS: salts} if salts else dict(body)


def _is_elsewhere(body: Mapping[str, Any], field: str) -> bool:
    """Return whether a name is that of somebody in whose stream this is not. The lines of a session go with those who had it."""
    return body.get(field) != body.get("owner") and body.get("space") != Space.SESSION


def links_of(body: Mapping[str, Any]) -> list[Link]:
    """Return the links of a body that can be cut. One from before links had seals has none."""
    found: list[Link] = []
    for field, salts in body.get(_SALTS, {}).items():
        values = _values(body, field)
        free = _free_places(len(values), [place for of, place, _ in body.get(_CUT, ()) if of == field])
        found += [Link(field, place, value, salt) for place, value, salt in zip(free, values, salts, strict=True)]
    return found


def was_cut(body: Mapping[str, Any]) -> bool:
    """Return whether any link of a body was cut."""
    return _CUT in body


def cut_seals(body: Mapping[str, Any], of_field: str | None = None) -> list[str]:
    """Return the seals of the links that were cut; all of them, or those of one field."""
    return [seal for field, _, seal in body.get(_CUT, ()) if of_field in (None, field)]


def without(body: Mapping[str, Any], gone: Collection[Link]) -> dict[str, Any]:
    """Return a body without some of its links; their seals stay."""
    kept = [link for link in links_of(body) if link not in gone]
    left = {name: value for name, value in body.items() if name not in (*body[_SALTS], _SALTS)}
    for field in body[_SALTS]:
        of_field = [link for link in kept if link.field == field]
        if of_field:
            values = [link.value for link in of_field]
            left[field] = values[0] if field in _SINGLE else values
            left[_SALTS] = {**left.get(_SALTS, {}), field: [link.salt for link in of_field]}
    cut = [*body.get(_CUT, ()), *([link.field, link.place, link.seal] for link in gone)]
    return {**left, _CUT: sorted(list(one) for one in cut)}


def committed_text(text: str) -> str:
    """Return what the ledger commits to for a version of this text: the text itself, with seals in the place of its links.

    ``ValueError`` if it is no text that was ever written.
    """
    return read_form(json.loads(text), text) if any(mark in text for mark in _MARKS) else text


def read_form(body: Mapping[str, Any], text: str) -> str:
    """Return the same for a body that was just read from its text."""
    if _SALTS not in body and _CUT not in body and _SEALED not in body:
        return text
    if _SEALED in body or canonical_json(body) != text:
        raise ValueError("a version is not in the form in which versions are written")
    return committed_form(body, text)


def committed_form(body: Mapping[str, Any], text: str) -> str:
    """Return the same for a body whose canonical text is known to be this one."""
    if _SALTS not in body and _CUT not in body:
        return text
    cut = body.get(_CUT, [])
    if cut != sorted(cut):
        raise ValueError("the links that were cut are not in order")
    sealed = {field: _seals(body, field, cut) for field in {*body.get(_SALTS, ()), *(field for field, _, _ in cut)}}
    rest = {name: value for name, value in body.items() if name not in sealed and name not in (_SALTS, _CUT)}
    return canonical_json({**rest, _SEALED: sealed})


def _seals(body: Mapping[str, Any], field: str, cut: Sequence[Sequence[Any]]) -> list[str]:
    """Return the seals of a field's links in the order of their places, including the links that were cut."""
    salts = body.get(_SALTS, {}).get(field, ())
    seals = [seal_of(salt, field, value) for salt, value in zip(salts, _values(body, field), strict=True)]
    for place, seal in [(place, seal) for of, place, seal in cut if of == field]:
        if type(place) is not int or not 0 <= place <= len(seals):
            raise ValueError("a link was cut at a place that there is not")
        seals.insert(place, seal)
    return seals


def _values(body: Mapping[str, Any], field: str) -> Sequence[Any]:
    value = body.get(field)
    if value is None:
        return []
    return [value] if field in _SINGLE else list(value)


def _free_places(count: int, taken: Collection[int]) -> list[int]:
    """Return the places that so many values have, between those of the links that were cut."""
    return [place for place in range(count + len(taken)) if place not in taken]
