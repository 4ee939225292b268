"""What ``verify`` asks of the signatures in a stream: that they hold, and what the keys that made them were worth there.

The ledger shows that nothing was changed since it was written; a signature shows that it is what its author said. Whoever
rewrites a whole history, with every hash in it, cannot sign for others.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.model.ledger import Entry
from recollect.model.proof import StreamLeaf
from recollect.model.receipt import Problem
from recollect.model.record import ENTRY_ORIGIN
from recollect.rules.signatures import signature_from, voucher_bytes
from recollect.rules.signers import INVALID, Judged, Signers, voucher_named
from recollect.rules.text import sha256_hex

SHOWN = 20
"""So many signatures of one stream that do not hold are told one by one; all are counted."""
HINT = "Its words, author, time or parents are not those that were signed: ask its author for the signed entry."


class SignedAudit:
    """Counts what the signatures of a stream are worth, and keeps those that do not hold."""

    def __init__(self, stream: str, signers: Signers, leaves: Sequence[tuple[int, StreamLeaf]]) -> None:
        self._stream, self._signers = stream, signers
        self._places = [place for place, _ in leaves]
        self._ends = [leaf.to_seq for _, leaf in leaves]
        self.entries: Counter[str] = Counter()
        self.vouches: Counter[str] = Counter()
        self.problems: list[Problem] = []

    def judge(self, entry: Entry, body: Mapping[str, Any]) -> None:
        """The signature of a version, and those of whoever vouched for it where it comes from."""
        place = self._place(entry.seq)
        own = self._signers.of_version(body, place)
        if own is not None:
            self.entries[own.word] += 1
            self._note(entry, "its signature", own)
        self._judge_told(entry, body, place)

    def judge_told(self, entry: Entry, content: str, vouchers: Sequence[Mapping[str, Any]]) -> None:
        """The signatures of those who vouched for these words where they come from, and were told of later."""
        said = {"content": content, "meta": {ENTRY_ORIGIN: {"vouchers": vouchers}}}
        self._judge_told(entry, said, self._place(entry.seq))

    def _judge_told(self, entry: Entry, body: Mapping[str, Any], place: int | None) -> None:
        for vouch in self._signers.of_vouchers(body, place):
            self.vouches[vouch.word] += 1
            self._note(entry, "the signature of a vouch that came along", vouch)

    def judge_vouch(self, entry: Entry, content: str, name: str, said: Mapping[str, Any]) -> bool:
        """The signature of somebody who vouches here for these words; whether it holds."""
        who = voucher_named(name, sha256_hex(content), said, entry.at)
        message = voucher_bytes(sha256_hex(content), who, entry.at, said.get("confidence"), said.get("says"))
        found = self._signers.judged(signature_from(said["signature"]), message, name, self._place(entry.seq))
        self.vouches[found.word] += 1
        return found.word != INVALID

    def _note(self, entry: Entry, what: str, judged: Judged) -> None:
        if judged.word == INVALID and len(self.problems) < SHOWN:
            where = f"{self._stream}, memory {entry.memory_id}"
            self.problems.append(Problem(where, f"{what} does not hold", HINT))

    def _place(self, seq: int) -> int | None:
        """Where the log has an entry; ``None`` while no checkpoint covers it."""
        found = bisect_left(self._ends, seq)
        return self._places[found] if found < len(self._ends) else None
