"""How a journal ends: with a whole line, with what a crash left of one, or with something that is none of ours.

Only what a crash can leave of a line may be cut off: the beginning of a record, and pages of zeros that a power cut left
where the rest of it should be. It follows a whole record, or it is the very first line that we ever wrote.
"""

import json
import re
from collections.abc import Sequence
from typing import Literal

from recollect.rules.vault import RESERVED_ID
from recollect.stores.journal.lines import Place, read_line

End = Literal["whole", "torn", "foreign"]

SECTOR_BYTES = 512
"""The least that a disk writes or loses at once. Letters of another encoding have zero bytes far more often than that."""

_OPENING = re.compile(rb'\{"id": "[0-9a-f]{12}", "text": "')
"""How every line begins that a vault or a store writes into an empty file."""
_AN_OPENING = f'{{"id": "{RESERVED_ID}", "text": "'.encode()
_HOLES = re.compile(rb"\0+")
_CUT_SHORT = re.compile(
    r"|t|tr|tru|f|fa|fal|fals|n|nu|nul|N|Na|-?(I|In|Inf|Infi|Infin|Infini|Infinit)?|[.eE][+-]?|,\s*"
)
"""What may stand where JSON stops making sense because it was cut there: nothing, half a word, half a number, a comma."""
_HALF_AN_ESCAPE = 6


def kind_of_end(last: Sequence[Place]) -> End:
    """What the last line is, which has no line end; the lines before it tell whose file it is.

    ``whole``: a record to which only the line end is missing, as editors leave it, or blanks. ``torn``: what a crash left
    of a record. ``foreign``: nothing that a vault ever wrote, so hands off.
    """
    line = last[-1].line
    if not line.strip() or _is_record(line):
        return "whole"
    before = [place.line for place in last[:-1] if place.line.strip()]
    while before and _has_holes(before[-1]) and _may_be_left_of_a_line(before[-1]):
        before.pop()
    if before:
        return "torn" if _is_record(before[-1]) and _may_be_left_of_a_line(line) else "foreign"
    alone = last[0].offset == 0 and all(not place.line.strip() for place in last[:-1])
    return "torn" if alone and _begins_as_ours(line) else "foreign"


def torn_from(last: Sequence[Place]) -> int:
    """Where a torn end begins: at the last line, or at one before it in which a power cut left zero bytes."""
    start = last[-1].offset
    for place in reversed(last[:-1]):
        if not _has_holes(place.line):
            break
        start = place.offset
    return start


def _begins_as_ours(line: bytes) -> bool:
    """Whether it is the beginning of a line as we write them, be it followed by zeros."""
    said = line.rstrip(b"\0")
    if not said or b"\0" in said:
        return False
    if len(said) <= len(_AN_OPENING):
        return _OPENING.fullmatch(said + _AN_OPENING[len(said) :]) is not None
    return _OPENING.match(said) is not None and _is_begun(said)


def _may_be_left_of_a_line(line: bytes) -> bool:
    """Whether it is the beginning of a JSON object, with zeros from some place on, or what follows such zeros."""
    said = line.partition(b"\0")[0]
    if b"\0" in line and not _has_holes(line):
        return False
    return not said or _is_begun(said)


def _has_holes(line: bytes) -> bool:
    """Whether zero bytes stand in it as a power cut leaves them: many in a row, if any, and few times."""
    return 0 < len(_HOLES.findall(line)) <= 1 + len(line) // SECTOR_BYTES


def _is_begun(line: bytes) -> bool:
    """Whether a JSON object could go on here: it makes sense as far as it goes, and is not at its end."""
    text = line.decode("utf-8", errors="replace")  # a letter may be cut as well
    if not text.startswith("{"):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        escape = error.msg.startswith("Invalid \\") and len(rest) <= _HALF_AN_ESCAPE
        return escape or error.msg.startswith("Unterminated string") or _CUT_SHORT.fullmatch(rest) is not None
    except (ValueError, RecursionError):
        return False
    return False


def _is_record(line: bytes) -> bool:
    try:
        return bool(read_line(line))
    except ValueError:
        return False
