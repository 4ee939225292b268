"""By which words a memory is found: those that it says, and the names of what it is said to be about."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.rules.text import terms

_NAMES = ("name", "aliases")
"""Where an entity says what it is called: its name, and others that people use for it."""


def findable_terms(body: Mapping[str, Any], synonyms: Mapping[str, str] | None = None) -> list[str]:
    """The index terms of a memory: of its content and, once each, of the names of its entities that it does not say itself.

    >>> findable_terms({"content": "Deploys to Kubernetes", "entities": [{"name": "Kubernetes", "aliases": ["k8s"]}]})
    ['deploy', 'kubernet', 'k8s']
    """
    said = terms(body["content"], synonyms)
    named = (term for entity in body.get("entities", ()) for name in _names(entity) for term in terms(name, synonyms))
    return [*said, *dict.fromkeys(term for term in named if term not in said)]


def _names(entity: Mapping[str, Any]) -> Iterator[str]:
    for field in _NAMES:
        given = entity.get(field)
        yield from (name for name in (given if isinstance(given, list | tuple) else (given,)) if isinstance(name, str))
