"""What a question depends on though it shares no word with it, and whether it asks for all that is known of a person.

"What may I order here?" depends on what somebody cannot eat. A table (``topics.toml``) says which words of a question lead to
which words of a memory; it counts only where the question asks for leave, for advice, or whether there is something.
"""

import re
from collections.abc import Collection
from typing import Any

from recollect.rules.findable import LIMIT, RULE
from recollect.rules.tables import load_table
from recollect.rules.text import STOP_WORDS, fold, terms, words

_TABLE: dict[str, Any] = load_table(__package__, "topics.toml")
_LEAVE, _WHETHER, _PAST = (
    re.compile(fold(_TABLE["asks"][name].replace("\n", ""))) for name in ("leave", "whether", "past")
)
_TOPICS = [
    (frozenset(terms(one["asked"])), tuple(dict.fromkeys(terms(one["told"]))), one.get("labels", False))
    for one in _TABLE["topics"].values()
]
_SIGN, _PERSON, _BESIDE = (frozenset(words(_TABLE["everything"][name])) for name in ("sign", "person", "beside"))


def bearing_terms(text: str) -> tuple[str, ...]:
    """The index terms of what a question depends on, besides its own; none for most questions.

    >>> "vegetarian" in bearing_terms("What may I order at this restaurant?"), bearing_terms("When was the dinner?")
    (True, ())
    """
    plain = fold(text)
    leave = _LEAVE.search(plain) is not None
    if _PAST.search(plain) or not (leave or _WHETHER.search(plain)):
        return ()
    own = set(terms(text))
    about = [(told, labels) for asked, told, labels in _TOPICS if own & asked]
    found = [term for told, _ in about for term in told if term not in own]
    limits = [LIMIT, RULE] if leave and (not about or any(labels for _, labels in about)) else []
    return tuple(dict.fromkeys((*found, *limits)))


def asks_for_everything(text: str, names: Collection[str] = ()) -> bool:
    """Whether a question asks for whatever is known of the person who asks, or who is called one of these names.

    >>> [asks_for_everything(text) for text in ("What do you know about me?", "Was weißt du über mich?", "What do I eat?")]
    [True, True, False]
    >>> asks_for_everything("What do you remember about Ana?", ["ana"])
    True
    """
    said = {word.removesuffix("s") if word.removesuffix("s") in names else word for word in words(text)}
    person = _PERSON | set(names)
    return bool(said & _SIGN and said & person) and said <= person | _SIGN | _BESIDE | STOP_WORDS
