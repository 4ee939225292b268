"""What became of keys, for those who check without the store: a signed document, and what it says of a signature.

Where a key was revoked, nothing that it signed counts any more. Inside the store the log tells what came before the
revocation; here a date and a size are all that there is, and whoever stole the key can write what they like there.
"""

from collections.abc import Collection, Sequence

from recollect.model.proof import Checkpoint, KeyHistory
from recollect.rules.merkle import BadProof, check_inclusion, leaf_hash
from recollect.rules.signatures import Placed, Standing, history_bytes, holds, standing


def check_history(history: KeyHistory, trusted: Collection[str]) -> None:
    """Raise :class:`BadProof` unless a trusted key, which itself counts, answers for this history."""
    _check_signatures(history)
    _check_places(history)
    signers = [one.key for one in history.signatures if one.key in trusted]
    if not signers:
        raise BadProof("the key history is not signed by the key that was given")
    if not any(standing(_of(history, key), None) is Standing.GOOD for key in signers):
        raise BadProof("the key history is signed by a key that, as it says itself, no longer counts")


def _check_signatures(history: KeyHistory) -> None:
    message, keys = history_bytes(history), [one.key for one in history.signatures]
    if len(set(keys)) != len(keys):
        raise BadProof("the key history is signed twice by the same key")
    for signature in history.signatures:
        if not holds(signature, message):
            raise BadProof(f"the key history: the signature of {signature.key[:12]} does not hold")


def _check_places(history: KeyHistory) -> None:
    """What it tells is in the log, in its order, and begins for each key with its registration."""
    checkpoint, places = history.checkpoint, [one.place for one in history.keys]
    if places != sorted(set(places)):
        raise BadProof("the key history is not in the order of the log, once each")
    known: set[str] = set()
    for number, one in enumerate(history.keys):
        if (one.leaf.event == "registered") == (one.leaf.key in known):
            raise BadProof(f"keys.{number}: a key is registered once, and before anything else becomes of it")
        known.add(one.leaf.key)
        try:
            check_inclusion(leaf_hash(one.leaf.text.encode()), one.place, checkpoint.size, one.path, checkpoint.root)
        except BadProof as error:
            raise BadProof(f"keys.{number}.path: {error}") from None


def worth_of(history: KeyHistory, key: str, checkpoint: Checkpoint) -> Standing:
    """What a key's signature of a checkpoint is worth, by this history."""
    if checkpoint.log != history.checkpoint.log:
        raise BadProof("the key history is of another log")
    events = _of(history, key)
    if any(one.leaf.event == "revoked" for one in events):
        return Standing.REVOKED
    return standing(events, checkpoint.size - 1)


def worth_now(history: KeyHistory, key: str) -> Standing:
    """What a key's signature is worth that no log has placed."""
    return standing(_of(history, key), None)


def _of(history: KeyHistory, key: str) -> Sequence[Placed]:
    return [Placed(one.place, one.leaf) for one in history.keys if one.leaf.key == key]
