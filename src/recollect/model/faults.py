"""What is wrong with a value, in words for whoever gave it: Pydantic's own speak of tuples, patterns and dictionaries."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from recollect.model.canonical import EXAMPLES
from recollect.model.vocabulary import SOURCE_WORDS, Tier

_NOT_OFFERED = frozenset({str(Tier.LOG)})
"""Words that are understood and always denied: nobody is told to use them."""
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
    """One of the errors that Pydantic found, without the value that it is about.

    >>> fault_of({"type": "bool_type", "loc": ("pinned",), "msg": "Input should be a valid boolean"}).message
    'must be true or false'
    """
    say = _KINDS.get(first["type"])
    if say is not None:
        return say(first)
    hint = EXAMPLES if first["loc"] and str(first["loc"][-1]) in _TIMES else None
    return Fault(str(first["msg"]).removeprefix("Value error, "), hint)


def _list(first: Mapping[str, Any]) -> Fault:
    of, hint = _LISTS.get(str(first["loc"][-1]) if first["loc"] else "", _A_LIST)
    return Fault(f"must be a list of {of}", hint)


def _word(first: Mapping[str, Any]) -> Fault:
    """``expected`` lists the words as ``'a', 'b' or 'c'``."""
    words = str(first["ctx"]["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
    if first["loc"] and first["loc"][-1] == "source":
        words += [word for word, source in SOURCE_WORDS.items() if source in words]
    return Fault("that value is unknown", f"Known: {', '.join(w for w in words if w not in _NOT_OFFERED)}.")


def _number(first: Mapping[str, Any]) -> Fault:
    return Fault("must be a number", "Such as 0.5.")


def _whole(first: Mapping[str, Any]) -> Fault:
    return Fault("must be a whole number", "Write it without quotes, such as 3.")


def _text(first: Mapping[str, Any]) -> Fault:
    return Fault("must be text", "Put it in quotes.")


def _unicode(first: Mapping[str, Any]) -> Fault:
    return Fault("must be valid unicode text", "Decode it as UTF-8 first.")


def _object(first: Mapping[str, Any]) -> Fault:
    return Fault("must be an object", 'Such as {"name": "value"}.')


def _author(first: Mapping[str, Any]) -> Fault:
    return Fault("must be a name, or an object with an id and a name", 'Such as "Ana".')


def _yes_or_no(first: Mapping[str, Any]) -> Fault:
    return Fault("must be true or false", "Write it without quotes.")


def _at_least(first: Mapping[str, Any]) -> Fault:
    return Fault(f"must be at least {first['ctx']['ge']}")


def _at_most(first: Mapping[str, Any]) -> Fault:
    return Fault(f"must be at most {first['ctx']['le']}")


def _too_long(first: Mapping[str, Any]) -> Fault:
    return Fault(f"is longer than {first['ctx']['max_length']:,} characters", "Shorten it.")


def _too_many(first: Mapping[str, Any]) -> Fault:
    return Fault(f"holds more than {first['ctx']['max_length']:,}", "Leave some out.")


def _missing(first: Mapping[str, Any]) -> Fault:
    return Fault("is missing", "Give it a value.")


def _hash(first: Mapping[str, Any]) -> Fault:
    return Fault("must be a content hash: 64 hex digits", "A memory's `content_hash` is one; `get` shows it.")


_KINDS: dict[str, Callable[[Mapping[str, Any]], Fault]] = {
    **dict.fromkeys(("tuple_type", "list_type"), _list),
    **dict.fromkeys(("enum", "literal_error"), _word),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _whole),
    **dict.fromkeys(("float_type", "float_parsing"), _number),
    **dict.fromkeys(("bool_type", "bool_parsing"), _yes_or_no),
    **dict.fromkeys(("dict_type", "dict_attributes_type"), _object),
    "string_type": _text,
    "string_sub_type": _text,
    "string_unicode": _unicode,
    "string_pattern_mismatch": _hash,
    "string_too_long": _too_long,
    "too_long": _too_many,
    "greater_than_equal": _at_least,
    "less_than_equal": _at_most,
    "model_type": _author,
    "missing": _missing,
}
