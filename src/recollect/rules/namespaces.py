"""Which namespace a memory belongs to. Test and temporary data never reach production, even when asked to."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache

from recollect.model.policy import Namespaces
from recollect.model.record import Candidate
from recollect.model.vocabulary import Namespace, Source
from recollect.rules.draft import Context, Draft, Rejection


def namespace_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Assign the namespace and, outside production, the date on which the memory expires.

    A memory is a *test* memory if its source is the test suite, a tag or its category says so, or its words match a
    known test pattern. It is *ephemeral* if it is flagged as a diagnostic. Both rules hold even against an explicit
    ``prod``. Otherwise it goes where the caller asked, by default to ``prod``.
    """
    settings = context.policy.namespaces
    namespace, rule = assign_namespace(draft.candidate, settings)
    expires_at = draft.candidate.expires_at or _default_expiry(namespace, settings, context.now)
    return draft.decide(rule, namespace=namespace, expires_at=expires_at)


def assign_namespace(candidate: Candidate, settings: Namespaces) -> tuple[Namespace, str]:
    """The namespace, and the code of the rule that chose it."""
    if candidate.source is Source.TEST_SUITE:
        return Namespace.TEST, "namespace:test:source"
    if _among(candidate.tags, settings.test_tags):
        return Namespace.TEST, "namespace:test:tag"
    if _among([candidate.category], settings.test_categories):
        return Namespace.TEST, "namespace:test:category"
    if any(pattern.search(candidate.content) for pattern in _compiled(settings.test_patterns)):
        return Namespace.TEST, "namespace:test:pattern"
    if candidate.diagnostic:
        return Namespace.EPHEMERAL, "namespace:ephemeral:flagged"
    if candidate.namespace is not None:
        return candidate.namespace, "namespace:as_asked"
    return Namespace.PROD, "namespace:prod:default"


def routed_elsewhere(draft: Draft) -> tuple[str, ...]:
    """Return the code of the rule that kept a draft out of production though nobody asked for it, if one did."""
    routed = ("namespace:test:", "namespace:ephemeral:")
    return tuple(decision.rule for decision in draft.decisions if decision.rule.startswith(routed))


def _among(given: Iterable[str], known: Iterable[str]) -> bool:
    return not {word.casefold() for word in given}.isdisjoint(word.casefold() for word in known)


def _default_expiry(namespace: Namespace, settings: Namespaces, now: datetime) -> datetime | None:
    seconds = {Namespace.TEST: settings.test_ttl_s, Namespace.EPHEMERAL: settings.ephemeral_ttl_s}.get(namespace)
    return now + timedelta(seconds=seconds) if seconds is not None else None


@lru_cache(maxsize=16)
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)
