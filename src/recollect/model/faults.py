"""What is wrong with a value, in plain words. Pydantic's own messages speak of tuples, patterns and dictionaries."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.model.canonical import EXAMPLES
from recollect.model.vocabulary import SOURCE_WORDS, Tier

_NOT_OFFERED = frozenset({str(Tier.LOG)})
"""Words that are understood and always denied, so that no hint offers them."""
_LISTS = {
    "parent_refs": ("content hashes", "A memory's `content_hash` is one; `get` shows it."),
    "entities": ("objects", 'Such as [{"name": "Redis"}].'),
    "relationships": ("objects", 'Such as [{"name": "Redis"}].'),
}
_TIMES = frozenset({"expires_at", "valid_from", "valid_until"})
_A_LIST = ("texts", 'Such as ["tea", "hot"].')


class Fault(NamedTuple):
    """What is wrong, and what would be right, if that can be said in a few words."""

    message: str
    hint: str | None = None


def fault_of(first: Mapping[str, Any]) -> Fault:
    """Return one of the errors that Pydantic found, without the value that it is about.

    >>> fault_of({"type": "bool_type", "loc": ("pinned",), "msg": "Input should be a valid boolean"}).message
    'must be true or false'
    """
    type, field = first["type"], str(first["loc"][-1]) if first["loc"] else ""
    if type in ("tuple_type", "list_type"):
        of, hint = _LISTS.get(field, _A_LIST)
        return Fault(f"must be a list of {of}", hint)
    if type in ("enum", "literal_error"):
        return _unknown_word(field, str(first["ctx"]["expected"]))
    if type in _KINDS:
        return _KINDS[type]._replace(message=_KINDS[type].message.format(**first.get("ctx", {})))
    return Fault(str(first["msg"]).removeprefix("Value error, "), EXAMPLES if field in _TIMES else None)


def _unknown_word(field: str, expected: str) -> Fault:
    """Return the fault of a word that is none of the ``expected``, which reads ``'a', 'b' or 'c'``."""
    words = expected.replace(" or ", ", ").replace("'", "").split(", ")
    if field == "source":
        words += [word for word, source in SOURCE_WORDS.items() if source in words]
    return Fault("that value is unknown", f"Known: {', '.join(w for w in words if w not in _NOT_OFFERED)}.")


_WHOLE = Fault("must be a whole number", "Write it without quotes, such as 3.")
_NUMBER = Fault("must be a number", "Such as 0.5.")
_YES_OR_NO = Fault("must be true or false", "Write it without quotes.")
_OBJECT = Fault("must be an object", 'Such as {"name": "value"}.')
_TEXT = Fault("must be text", "Put it in quotes.")
_KINDS = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _WHOLE),
    **dict.fromkeys(("float_type", "float_parsing"), _NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), _YES_OR_NO),
    **dict.fromkeys(("dict_type", "dict_attributes_type"), _OBJECT),
    **dict.fromkeys(("string_type", "string_sub_type"), _TEXT),
    "string_unicode": Fault("must be valid unicode text", "Decode it as UTF-8 first."),
    "string_pattern_mismatch": Fault(
        "must be a content hash: 64 hex digits", "A memory's `content_hash` is one; `get` shows it."
    ),
    "string_too_long": Fault("is longer than {max_length:,} characters", "Shorten it."),
    "too_long": Fault("holds more than {max_length:,}", "Leave some out."),
    "greater_than_equal": Fault("must be at least {ge}"),
    "less_than_equal": Fault("must be at most {le}"),
    "model_type": Fault("must be a name, or an object with an id and a name", 'Such as "Ana".'),
    "missing": Fault("is missing", "Give it a value."),
}
"""What is said of each of Pydantic's types of error; what its context holds is filled in."""
