"""Judge signatures: whose key made one, and what it is worth, by all the keys in the log."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from recollect.model.caller import as_principal
from recollect.model.proof import Signature
from recollect.model.record import ENTRY_ORIGIN, Candidate
from recollect.rules.language.text import sha256_hex
from recollect.rules.trust.signatures import (
    Placed,
    Standing,
    bytes_of_voucher,
    entry_bytes,
    holds,
    is_signature,
    link_bytes,
    signature_from,
    standing,
)

INVALID, ANOTHERS, ERASED, ELSEWHERE = "invalid", "another's", "erased", "elsewhere"
"""Verdicts on a signature besides the worth of its key. ``elsewhere``: what was signed is not here to compare."""
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)


class Judged(NamedTuple):
    """The verdict on a signature: ``word`` sums it up, ``name`` is the key's owner, ``problem`` what is wrong."""

    word: str
    standing: Standing
    name: str | None
    problem: str | None

    @property
    def is_forged(self) -> bool:
        """Whether it claims to be what it is not. An unregistered key may be anyone's."""
        return self.word in (INVALID, ANOTHERS)

    @property
    def counts(self) -> bool:
        """Whether it was made by a key that counts and belongs to the signer."""
        return self.word == Standing.GOOD and self.name is not None


class PlatformLink(Protocol):
    """A person's id on another platform, as a store keeps it."""

    @property
    def platform(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def actor(self) -> str: ...
    @property
    def at(self) -> str: ...
    @property
    def signature(self) -> str: ...


_NOT_HERE = Judged(ELSEWHERE, Standing.UNKNOWN, None, None)
_UNREAD = Judged(INVALID, Standing.UNKNOWN, None, "the signature, or what it is over, cannot be read")


def signature_verdict(
    sound: bool, worth: Standing, name: str | None, who: str, linked: bool = False
) -> tuple[str, str | None]:
    """Return the verdict on a signature in a word, and what is wrong with it, if anything.

    ``sound`` says that the key made it over these words; ``worth`` what the key counted for then, ``name`` the key's
    owner (``None`` if erased), and ``who`` the claimed signer: a principal, an agent's name or, if it is ``linked`` to
    the key's owner, an id of another platform.
    """
    if not sound:
        return INVALID, "the signature does not belong to these words, this author, this time and these parents"
    if worth is Standing.UNKNOWN:
        return worth, "the key that made it is not known"
    if name is not None and name != as_principal(who) and not linked:
        return ANOTHERS, f"the key belongs to somebody else, and not to {who!r}"
    if worth is not Standing.GOOD:
        return worth, f"its key was {worth} before the log has the signature"
    return (ERASED, "whose key it was has been erased") if name is None else (worth, None)


class Signers:
    """All keys. ``names`` maps an actor's uid to its name, ``None`` for an erased one; ``links`` are platform ids."""

    def __init__(
        self, history: Iterable[Placed], names: Mapping[str, str | None], links: Iterable[PlatformLink] = ()
    ) -> None:
        self._names = names
        self._histories: dict[str, list[Placed]] = {}
        for placed in history:
            self._histories.setdefault(placed.leaf.key, []).append(placed)
        self._linked = {(link.platform, link.id): link.actor for link in links if self._counts(link)}

    def judged(
        self, signature: Signature, message: bytes, who: str, place: int | None = None, platform: str | None = None
    ) -> Judged:
        """Judge whether a key of ``who`` signed this message, and counted at this place of the log; ``None`` is now."""
        history: Sequence[Placed] = self._histories.get(signature.key, ())
        worth = standing(history, place)
        name = self._names.get(history[0].leaf.actor) if history else None
        linked = bool(history) and self._linked.get((platform or "", who)) == history[0].leaf.actor
        word, problem = signature_verdict(holds(signature, message), worth, name, who, linked)
        return Judged(word, worth, name, problem)

    def link_fault(self, link: PlatformLink) -> str | None:
        """Return what is wrong with the link of a platform id to an actor; ``None`` if the actor's signature holds."""
        name = self._names.get(link.actor)
        try:
            signature = signature_from(link.signature)
            message = link_bytes(name or "", link.platform, link.id, link.at)
        except (ValueError, TypeError, AttributeError):
            return "its signature, or what it is over, cannot be read"
        history: Sequence[Placed] = self._histories.get(signature.key, ())
        if name is None or not history or history[0].leaf.actor != link.actor:
            return "it was not signed by the one that it is linked to"
        return None if holds(signature, message) else "its signature does not hold"

    def _counts(self, link: PlatformLink) -> bool:
        """Return whether a link is believed: a revoked key links nothing, a rotated one still does."""
        if self.link_fault(link) is not None:
            return False
        history = self._histories[signature_from(link.signature).key]
        return all(event.leaf.event != "revoked" for event in history)

    def of_version(self, body: Mapping[str, Any], place: int | None = None) -> Judged | None:
        """Judge the signature of a version; return ``None`` if it has none of this scheme.

        A memory imported as an entry keeps the time that its author signed. One written here with a signature has a
        time of its own, so that only the signed document can tell.
        """
        text, at = body.get("signature"), origin_in(body).get("timestamp")
        if not is_signature(text):
            return None
        if at is None:
            return _NOT_HERE
        author, parents = body["author"], body.get("parent_refs", ())
        return self._read(text, lambda: entry_bytes(_hash(body), author, at, parents), author, place)

    def of_vouchers(self, body: Mapping[str, Any], place: int | None = None) -> Iterator[Judged]:
        """Yield the verdicts on the signatures of vouchers from the memory's origin."""
        vouchers = origin_in(body).get("vouchers", ())
        named = (
            (voucher for voucher in vouchers if isinstance(voucher, Mapping))
            if isinstance(vouchers, list | tuple)
            else ()
        )
        yield from filter(None, (self.of_voucher(body, voucher, place) for voucher in named))

    def of_voucher(
        self, body: Mapping[str, Any], voucher: Mapping[str, Any], place: int | None = None
    ) -> Judged | None:
        """Judge the signature of an imported voucher; return ``None`` if it has none of this scheme."""
        text = voucher.get("signature")
        if not is_signature(text):
            return None
        return self._read(text, lambda: bytes_of_voucher({"content_hash": _hash(body)}, voucher), voucher, place)

    def _read(self, text: Any, over: Callable[[], bytes], by: Mapping[str, Any], place: int | None) -> Judged:
        """Judge a signature whose parts may be unreadable: only entries were checked on import, not other metadata."""
        try:
            signature, message, who = signature_from(text), over(), by["id"]
        except _UNREADABLE:
            return _UNREAD
        platform = by.get("platform")
        return self.judged(signature, message, who, place, platform if isinstance(platform, str) else None)


def _hash(body: Mapping[str, Any]) -> str:
    """Return the hash of the actual words, whatever the version claims: only that shows what was signed."""
    return sha256_hex(body["content"])


def origin_in(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the recorded origin of a version that was imported as an entry."""
    meta = body.get("meta")
    found = meta.get(ENTRY_ORIGIN) if isinstance(meta, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def vouchers_in(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the vouchers from a version's origin; a value of another shape vouches for nothing."""
    found = origin_in(body).get("vouchers")
    return [voucher for voucher in found if _is_a_voucher(voucher)] if isinstance(found, list | tuple) else []


def _is_a_voucher(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(name), str) for name in ("id", "name", "timestamp"))


def without_broken_signatures(before: Candidate, after: Candidate) -> Candidate:
    """Return a candidate that was changed on its way in without the signatures over its former words."""
    said_otherwise = before.content != after.content
    broken = said_otherwise or before.author != after.author
    changes: dict[str, Any] = {"signature": None} if broken and is_signature(after.signature) else {}
    was, now = (origin_in({"meta": one.meta}).get("vouchers") for one in (before, after))
    if isinstance(was, list) and isinstance(now, list) and (said_otherwise or was != now):
        kept = [
            two if one == two and not said_otherwise else _strip_signature(two)
            for one, two in zip(was, now, strict=True)
        ]
        changes["meta"] = {**after.meta, ENTRY_ORIGIN: {**after.meta[ENTRY_ORIGIN], "vouchers": kept}}
    return after.model_copy(update=changes) if changes else after


def _strip_signature(voucher: Any) -> Any:
    signed = isinstance(voucher, Mapping) and is_signature(voucher.get("signature"))
    return {name: value for name, value in voucher.items() if name != "signature"} if signed else voucher
