"""Refuse noise and overlong text, and assign the namespace: test data never reaches production."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from recollect.model.policy import TEST_PATTERNS, Length, Namespaces, Noise
from recollect.model.record import Candidate
from recollect.model.vocabulary import Kind, Namespace, Source, Tier
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.language.text import words
from recollect.rules.language.word_lists import word_set
from recollect.rules.privacy.gate import pattern_finds
from recollect.rules.trust.borders import source_of

_STATUS_WORDS = word_set(
    """
        a again agent alive all am an and as at auto automated automatic been before burst by clear complete
        completed cycle daily day detected done end ended entry everything expected fine finished for found from good
        green has have healthy here hour hourly id idle in is just last log logged minute minutes new no nominal
        none normal nothing now number of off ok okay on online passed performed periodic ping pm quiet ran
        received recorded remains round routine run running s same saved scan scheduled second seconds sent seq
        since so stable start started status steady still system taken tick the there this time timestamp to
        today tonight unchanged up usual utc was well were yet
    """
)
"""Words that a journal entry consists of besides its signal; any other word says something more."""
_STATES = word_set("alive completed continuing ended finished idle nominal resumed started stopped")
_MACHINE_WORDS = _STATES | word_set(
    "a agent all an and at changes cycle debug has info is job loop now ok process round run scan session still system"
    " systems task the tick utc was without worker"
)
"""Words that a machine's report of its own state consists of: "[INFO] worker 3 idle"."""
_VALUE_STATED = re.compile(
    r"\b(?:is|are|was|were|=)\s+(?:now\s+|set\s+|due\s+)?(?:(?:to|at|on|in|from|until|every|after|before|between)\s+)?\d"
    r"|\b(?:every|each|daily|once)\b.*\d",
    re.IGNORECASE,
)
"""A number or time stated of something ("check-in is at 15:00", "a heartbeat every 30 seconds") is a fact. A number
that only stamps the entry ("heartbeat 12:00") is not.
"""
_WHERE_IT_BELONGS = "Keep it in a log or burst journal; write a memory for what should outlive the session."


def noise_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Refuse journal entries, and candidates of the ``log`` tier.

    With ``noise.match: substring`` a signal anywhere in the text is enough. With ``whole`` (the default) the text must
    be nothing but a journal entry: "heartbeat ok 12:00" is one, "hotel check-in at 3 pm" is a fact.
    """
    signal = noise_signal(draft.candidate.content, context.policy.noise)
    if signal is not None:
        return Rejection("noise", "noise_signal", f"It reads as a journal entry ({signal!r}). {_WHERE_IT_BELONGS}")
    if draft.candidate.tier is Tier.LOG:
        return Rejection("noise", "tier_log", f"The log tier is never stored. {_WHERE_IT_BELONGS}")
    return draft.decide("noise:none")


def noise_signal(text: str, settings: Noise) -> str | None:
    """Return the signal that makes a text noise, or ``None``."""
    if settings.match == "never":
        return None
    lowered = text.casefold()
    found = [signal for signal in settings.signals if signal.casefold() in lowered]
    if found and (settings.match == "substring" or _is_journal_entry(lowered, found)):
        return found[0]
    return _reported_state(lowered) if settings.match == "whole" else None


def _reported_state(lowered: str) -> str | None:
    """Return the state that a text reports, if it is nothing but a machine's report of its own state.

    A single word ("finished") may be the value of something named by a title.
    """
    text_words = words(lowered)
    if len(text_words) < 2 or not all(word in _MACHINE_WORDS or word.isdigit() for word in text_words):
        return None
    return next((word for word in text_words if word in _STATES), None)


def _is_journal_entry(lowered: str, signals: Sequence[str]) -> bool:
    """Return whether a text says nothing but its signals, that all is well, and when.

    >>> _is_journal_entry("routine scan: nothing to report", ["nothing to report", "routine scan"])
    True
    >>> _is_journal_entry("check-in is at 15:00", ["check-in"])
    False
    """
    rest = lowered
    for signal in signals:
        rest = rest.replace(signal.casefold(), " ")
    if _VALUE_STATED.search(lowered):
        return False
    return all(word in _STATUS_WORDS or any(c.isdigit() for c in word) for word in words(rest))


def length_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Refuse text longer than its kind allows: 1,200 characters in a vault tier, 280 where a model wrote it."""
    limit, why = limit_for(draft.candidate, source_of(draft.candidate, context.caller), context.policy.length)
    size = len(draft.candidate.content)
    if limit is not None and size > limit:
        detail = f"It has {size:,} characters; {why} may have {limit:,}. Compress or split it first."
        return Rejection("length", "too_long", detail)
    return draft.decide("length:within_limit", f"{size} of {limit:,}" if limit else "")


def limit_for(candidate: Candidate, source: Source, limits: Length) -> tuple[int | None, str]:
    """Return the smallest limit that applies, and to what."""
    applying: list[tuple[int, str]] = []
    if limits.max_characters is not None:
        applying.append((limits.max_characters, "a memory"))
    if candidate.tier is not None:
        applying.append((limits.tier_max_characters, f"a memory of tier {candidate.tier}"))
    summary = candidate.kind is Kind.INSIGHT or "summary_of" in candidate.meta
    if summary and source is Source.AGENT:
        applying.append((limits.model_written_max_characters, "a summary or insight that a model wrote"))
    return min(applying, default=(None, ""), key=lambda pair: pair[0] or 0)


def namespace_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Assign the namespace and, outside production, the expiry.

    A memory is a *test* memory if its source is the test suite, a tag or its category says so, or its words match a
    known test pattern. It is *ephemeral* if it is flagged as a diagnostic. Both rules override an explicit ``prod``.
    Otherwise it goes where the caller asked, by default to ``prod``.
    """
    settings = context.policy.namespaces
    namespace, rule = assign_namespace(draft.candidate, settings)
    expires_at = draft.candidate.expires_at or _default_expiry(namespace, settings, context.now)
    return draft.decide(rule, namespace=namespace, expires_at=expires_at)


def assign_namespace(candidate: Candidate, settings: Namespaces) -> tuple[Namespace, str]:
    """Return the namespace, and the code of the rule that chose it."""
    if candidate.source is Source.TEST_SUITE:
        return Namespace.TEST, "namespace:test:source"
    if _share_a_word(candidate.tags, settings.test_tags):
        return Namespace.TEST, "namespace:test:tag"
    if _share_a_word([candidate.category], settings.test_categories):
        return Namespace.TEST, "namespace:test:category"
    if any(_finds(pattern, candidate.content) for pattern in settings.test_patterns):
        return Namespace.TEST, "namespace:test:pattern"
    if candidate.diagnostic:
        return Namespace.EPHEMERAL, "namespace:ephemeral:flagged"
    if candidate.namespace is not None:
        return candidate.namespace, "namespace:as_asked"
    return Namespace.PROD, "namespace:prod:default"


def routed_elsewhere(draft: Draft) -> tuple[str, ...]:
    """Return the code of the rule that kept a draft out of production without being asked to, if one did."""
    routed = ("namespace:test:", "namespace:ephemeral:")
    return tuple(decision.rule for decision in draft.decisions if decision.rule.startswith(routed))


def _share_a_word(given: Iterable[str], known: Iterable[str]) -> bool:
    return not {word.casefold() for word in given}.isdisjoint(word.casefold() for word in known)


def _default_expiry(namespace: Namespace, settings: Namespaces, now: datetime) -> datetime | None:
    seconds = {Namespace.TEST: settings.test_ttl_s, Namespace.EPHEMERAL: settings.ephemeral_ttl_s}.get(namespace)
    return now + timedelta(seconds=seconds) if seconds is not None else None


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _finds(pattern: str, text: str) -> bool:
    """Return whether a test pattern finds something. One of the operator's own runs for a limited time."""
    if pattern in TEST_PATTERNS:
        return _compiled(pattern).search(text) is not None
    return pattern_finds(pattern, text)
