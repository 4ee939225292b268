"""The ids of memories: UUIDv5 of their place, worked out quickly for those who check a hundred thousand of them.

The same writes give the same ids on every engine because nothing else goes into one; no other place makes them.
"""

import hashlib
from collections.abc import Callable


def ids_in(store_id: str, stream_uid: str) -> Callable[[str, int], str]:
    """A function from a kind and a number to the id that a memory there has, in one stream of one store.

    >>> from uuid import UUID, uuid5
    >>> store, stream = "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "00ff"
    >>> ids_in(store, stream)("semantic", 7) == str(uuid5(UUID(store), f"{stream}/semantic/7"))
    True
    """
    stem = hashlib.sha1(bytes.fromhex(store_id.replace("-", "")) + f"{stream_uid}/".encode(), usedforsecurity=False)

    def id_of(kind: str, number: int) -> str:
        digest = stem.copy()
        digest.update(f"{kind}/{number}".encode())
        digits = digest.hexdigest()
        variant = "89ab"[int(digits[16], 16) & 3]
        return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"

    return id_of
