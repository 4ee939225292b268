"""Public keys that others bring: whether one can stand for anybody at all.

A key is a point of the curve of RFC 8032. Of a few points everybody knows signatures that fit every message: those of small
order, which come to nothing when they are doubled three times. Whoever gives such a key can disown what it signed.
"""

import re

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_DIGITS = re.compile(r"[0-9a-f]{64}")
_NOTHING = (0, 1)

Point = tuple[int, int]


def check_public_key(key: str) -> str:
    """An Ed25519 public key in 64 hex digits; ``ValueError`` if it is none, or one that anybody could sign for."""
    if not _DIGITS.fullmatch(key):
        raise ValueError("it is not 64 lower-case hex digits")
    point = _point(bytes.fromhex(key))
    if point is None:
        raise ValueError("it is no point of the curve")
    if _doubled(_doubled(_doubled(point))) == _NOTHING:
        raise ValueError("it is a point of small order: anybody can sign for it")
    return key


def _point(encoded: bytes) -> Point | None:
    """The point of these bytes: y in its lower 255 bits, and whether x is odd in the highest."""
    number = int.from_bytes(encoded, "little")
    y, odd = number & (2**255 - 1), number >> 255
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x * x % _P != square or (x == 0 and odd):
        return None
    return (x if x & 1 == odd else _P - x), y


def _doubled(point: Point) -> Point:
    x, y = point
    both = _D * x * x * y * y % _P
    return 2 * x * y * pow(1 + both, -1, _P) % _P, (y * y + x * x) * pow(1 - both, -1, _P) % _P
