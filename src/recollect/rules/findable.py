"""By which words a memory is found: those that it says, the names of what it is said to be about, and those of its labels: its
key, its title, its topic and its category."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.model.record import DEFAULT_CATEGORY, TITLE
from recollect.model.state import State, body_in_force
from recollect.model.vocabulary import KIND_CLASS, Kind, KindClass
from recollect.rules.entities import entity_names
from recollect.rules.keys import CanonicalKey, KeySource, words_of
from recollect.rules.text import terms

_SEPARATORS = re.compile(r"[_\W]+")
"""What stands between the words of a name: "current_projects" has two."""


class Findable(NamedTuple):
    """The index terms of a memory."""

    said: Sequence[str]
    """What it says, in order and with repetitions. Whether two memories are alike is judged by these alone."""
    keyed: Sequence[str] = ()
    """The words of its key, title, topic and category that are not said, and its `labels`, once each."""


def findable(
    body: Mapping[str, Any],
    state: State,
    synonyms: Mapping[str, str] | None = None,
    said: Sequence[str] | None = None,
) -> Findable:
    """The index terms of a memory under the key that it has now. What it says is worked out unless it is known.

    >>> theme = State("1", "active", canonical_key="Ana-Theme-Mode")
    >>> findable({"content": "Ana prefers dark mode", "key_source": "reader", "kind": "semantic"}, theme)
    Findable(said=['ana', 'prefer', 'dark', 'mode'], keyed=('theme',))
    """
    body = body_in_force(body, state)
    known = said_terms(body, synonyms) if said is None else said
    key = CanonicalKey(state.canonical_key, state.key_digest, KeySource(body["key_source"]))
    category = state.category if state.category != DEFAULT_CATEGORY else ""
    names = [*words_of(key), body.get("meta", {}).get(TITLE, ""), body.get("topic_id") or "", category]
    named = terms(_SEPARATORS.sub(" ", " ".join(names)), synonyms)
    return Findable(known, tuple(dict.fromkeys(term for term in (*named, *labels(body)) if term not in known)))


LIMIT, RULE, GOAL = "#limit", "#rule", "#goal"
"""Labels of memories by what sort of statement they are. No word is spelt so, so that they are found by nobody who does not
look for that sort."""
_LABELS = {"constraint": LIMIT, "anti-pattern": LIMIT, "rule": RULE, "goal": GOAL}


def labels(body: Mapping[str, Any]) -> list[str]:
    """What sort of statement a memory is, as far as questions ask for sorts; what records an event is of none.

    >>> labels({"kind": "semantic", "sublayer": "constraint"}), labels({"kind": "short_term", "sublayer": "goal"})
    (['#limit'], [])
    """
    label = _LABELS.get(body.get("sublayer", ""))
    return [label] if label and KIND_CLASS[Kind(body["kind"])] is not KindClass.EVENT else []


def said_terms(body: Mapping[str, Any], synonyms: Mapping[str, str] | None = None) -> list[str]:
    """The terms of a memory's content and, once each, of the names of its entities that it does not say itself.

    >>> said_terms({"content": "Deploys to Kubernetes", "entities": [{"name": "Kubernetes", "aliases": ["k8s"]}]})
    ['deploy', 'kubernet', 'k8s']
    """
    said = terms(body["content"], synonyms)
    named = (term for name in entity_names(body.get("entities", ())) for term in terms(name, synonyms))
    return [*said, *dict.fromkeys(term for term in named if term not in said)]
