"""By which words a memory is found: those that it says, the names of what it is said to be about, and those of its key."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.model.state import State
from recollect.rules.entities import entity_names
from recollect.rules.keys import CanonicalKey, KeySource, words_of
from recollect.rules.text import terms


class Findable(NamedTuple):
    """The index terms of a memory."""

    said: Sequence[str]
    """What it says, in order and with repetitions. Whether two memories are alike is judged by these alone."""
    keyed: Sequence[str] = ()
    """The words of its key that are not said, once each."""


def findable(
    body: Mapping[str, Any],
    state: State,
    synonyms: Mapping[str, str] | None = None,
    said: Sequence[str] | None = None,
) -> Findable:
    """The index terms of a memory under the key that it has now. What it says is worked out unless it is known.

    >>> theme = State("1", "active", canonical_key="Ana-Theme-Mode")
    >>> findable({"content": "Ana prefers dark mode", "key_source": "parser"}, theme)
    Findable(said=['ana', 'prefer', 'dark', 'mode'], keyed=('theme',))
    """
    known = said_terms(body, synonyms) if said is None else said
    key = CanonicalKey(state.canonical_key, state.key_digest, KeySource(body["key_source"]))
    named = terms(" ".join(words_of(key)), synonyms)
    return Findable(known, tuple(dict.fromkeys(term for term in named if term not in known)))


def said_terms(body: Mapping[str, Any], synonyms: Mapping[str, str] | None = None) -> list[str]:
    """The terms of a memory's content and, once each, of the names of its entities that it does not say itself.

    >>> said_terms({"content": "Deploys to Kubernetes", "entities": [{"name": "Kubernetes", "aliases": ["k8s"]}]})
    ['deploy', 'kubernet', 'k8s']
    """
    said = terms(body["content"], synonyms)
    named = (term for name in entity_names(body.get("entities", ())) for term in terms(name, synonyms))
    return [*said, *dict.fromkeys(term for term in named if term not in said)]
