"""Check arguments that are not fields of a memory: numbers, names, lists and flags."""

import base64
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Never

from recollect.model.canonical import EXAMPLES, check_text, format_time, read_moment
from recollect.model.errors import BadInput
from recollect.model.policy import Privacy
from recollect.model.record import MAX_NAME, name_fault
from recollect.rules.privacy.gate import denied_types

MAX_NUMBER = 2**62


def owner_named(owner: str | None, user_id: str | None, space: Any = None) -> str | None:
    """Return the owner whose memory an operation is about: ``owner``, or ``user_id`` where no owner is given.

    Raise if the two differ. ``user_id`` names a person, so it cannot name the owner of a space that is not a user's.
    """
    if user_id is None:
        return owner
    if owner is not None and owner != user_id:
        hint = "Give one of the two, or the same name twice."
        raise BadInput("owner and user_id name two people.", field="user_id", hint=hint)
    if space not in (None, "user"):
        raise BadInput(f"does not name the owner of a {space} space.", field="user_id", hint="Give the owner.")
    return user_id


def check_number(field: str, value: Any, low: int = 0, high: int = MAX_NUMBER) -> int:
    """Return a whole number within bounds, or raise an error that names the field."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        bounds = f"between {low:,} and {high:,}" if high < MAX_NUMBER else f"of {low:,} or more"
        raise BadInput(f"must be a whole number {bounds}.", field=field, hint=f"Such as {max(low, 1)}.")
    return value


def refuse_cursor() -> Never:
    """Raise the error for a cursor that no page of this list returned."""
    raise BadInput("is not one that a page returned.", field="cursor", hint="Start without it.") from None


def encode_cursor(*place: str | int) -> str:
    """Return the cursor that continues after a place, which is two values that say where a page ended."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def decode_cursor(cursor: str) -> tuple[str, Any]:
    """Return the place that a cursor encodes. The reader of the page checks that the place exists."""
    try:
        first, second = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, AttributeError, RecursionError):
        refuse_cursor()
    if not isinstance(first, str) or not isinstance(second, str | int):
        refuse_cursor()
    return first, second


def check_flags(**given: Any) -> None:
    """Raise unless each value is a boolean: any other value, such as the text "false", would count as true."""
    for field, value in given.items():
        if not isinstance(value, bool):
            raise BadInput("must be true or false.", field=field, hint="Give True or False, without quotes.")


def check_share(field: str, value: Any) -> float:
    """Return a number from 0 to 1, or raise an error that names the field."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadInput("must be a number from 0 to 1.", field=field, hint="Such as 0.7.")
    return float(value)


def check_one(field: str, value: Any) -> str:
    """Return the name of a session, thread, phase or principal, or raise an error that names the field."""
    if (fault := name_fault(value)) is not None:
        raise BadInput(f"{fault}.", field=field)
    return str(value)


def check_kept(settings: Privacy, field: str, value: Any) -> str:
    """Return a name that will be stored, or raise if it breaks the privacy rules for stored text."""
    name = check_one(field, value)
    if denied_types(name, settings):
        raise BadInput("holds sensitive data.", field=field, hint="It is kept, so give it another name.")
    return name


def check_sought(field: str, value: Any) -> str:
    """Return a name to search for. Old stores may hold names with tabs and line ends, so these are allowed here."""
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME:
        hint = "Leave it out, or give it a value of that length." if isinstance(value, str) else "Put it in quotes."
        raise BadInput(f"must be text of 1 to {MAX_NAME} characters.", field=field, hint=hint)
    try:
        return check_text(value)
    except ValueError as error:
        raise BadInput(f"{error}.", field=field, hint="Names are plain text.") from None


def check_path(field: str, value: str | Path) -> Path:
    """Return a path, or raise if it holds a zero byte, which no operating system accepts."""
    if "\0" in str(value):
        raise BadInput("is not a path.", field=field, hint="It holds a zero byte.")
    return Path(value)


def check_names(field: str, values: Any) -> Sequence[str]:
    """Return a list of names to search for. Raise for a single string, which would be read letter by letter."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise BadInput("must be a list of words.", field=field, hint=f"Write {field}=[…].")
    return [check_sought(field, value) for value in values]


def check_word(field: str, words: Any, value: Any) -> str:
    """Return a member of the enumeration ``words``, or raise an error that lists its members."""
    try:
        return str(words(value))
    except (ValueError, TypeError):
        raise BadInput(f"{value!r:.80} is unknown.", field=field, hint=f"Known: {', '.join(words)}.") from None


def check_moment(field: str, value: Any) -> str:
    """Return a time in its stored form; the empty text, which sorts before every time, for ``None``."""
    if value is None:
        return ""
    try:
        return format_time(read_moment(value))
    except ValueError as error:
        raise BadInput(f"{error}.", field=field, hint=EXAMPLES) from None


def reason_code(settings: Privacy, about: str, reason: Any) -> str:
    """Return a person's reason as a stable code: ``about:`` and its words joined by underscores.

    >>> reason_code(Privacy(), "phase", "Release shipped!")
    'phase:release_shipped'
    """
    text = check_kept(settings, "reason", reason).lower()
    words = "".join(c if c.isalnum() and c.isascii() else " " for c in text).split()
    if not words:
        raise BadInput("must hold letters or digits.", field="reason", hint="Such as 'release shipped'.")
    return f"{about}:{'_'.join(words)[:60]}"
