"""The names of what a memory is said to be about, and whether a question has one of them in it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.rules.text import normalise, stem, words

_NAMES = ("name", "aliases")
"""Where an entity says what it is called: its name, and others that people use for it."""
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)


def entity_names(entities: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What entities are called, aliases included.

    >>> list(entity_names([{"name": "Kubernetes", "aliases": ["k8s"]}]))
    ['Kubernetes', 'k8s']
    """
    for entity in entities:
        for field in _NAMES:
            given = entity.get(field)
            many = given if isinstance(given, list | tuple) else (given,)
            yield from (name for name in many if isinstance(name, str))


class Naming:
    """What a question names: its words in order, by their stems, so that "deployments" names a deployment.

    A name counts if it stands there whole. "What does Redis do?" names Redis, and not the Redis cluster.

    >>> asked = Naming("What's in the dead letter queue of Mara's team?")
    >>> [asked.has(name) for name in ("Mara", "dead letters", "letter queue team", "dead queue")]
    [True, True, False, False]
    """

    def __init__(self, question: str, synonyms: Mapping[str, str] | None = None) -> None:
        self._synonyms = synonyms
        self._said = self._stems(question)

    def has(self, name: str) -> bool:
        said = self._stems(name)
        return bool(said.strip()) and said in self._said

    def has_any(self, entities: Iterable[Mapping[str, Any]]) -> bool:
        """Whether it names one of these."""
        return any(map(self.has, entity_names(entities)))

    def _stems(self, text: str) -> str:
        """The stems of a text's words, each between blanks."""
        plain = _POSSESSIVE.sub("", normalise(text, self._synonyms) if self._synonyms else text)
        return f" {' '.join(map(stem, words(plain)))} "
