"""What is a journal entry and not a memory: heartbeats, tick markers, "nothing to report"."""

import re
from collections.abc import Sequence

from recollect.model.policy import Noise
from recollect.model.vocabulary import Tier
from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.text import words
from recollect.rules.word_lists import word_set

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
"""Words that a journal entry is made of besides its signal; a word that is none of them says something more."""
_STATES = word_set("alive completed continuing ended finished idle nominal resumed started stopped")
_MACHINE_WORDS = _STATES | word_set(
    "a agent all an and at changes cycle debug has info is job loop now ok process round run scan session still system"
    " systems task the tick utc was without worker"
)
"""Words of which a machine's report of its own state consists: "[INFO] worker 3 idle"."""
_VALUE_STATED = re.compile(
    r"\b(?:is|are|was|were|=)\s+(?:now\s+|set\s+|due\s+)?(?:(?:to|at|on|in|from|until|every|after|before|between)\s+)?\d"
    r"|\b(?:every|each|daily|once)\b.*\d",
    re.IGNORECASE,
)
"""A number or a time that is stated of something ("check-in is at 15:00", "a heartbeat every 30 seconds"): a fact. A number
that only stamps the entry ("heartbeat 12:00") is not."""
_SPLIT_OR_CHUNK = "Keep it in the journal; write a memory for what should outlive the session."


def noise_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Refuse journal entries, and anything that asks for the ``log`` tier.

    With ``noise.match: substring`` a signal anywhere in the text is enough. With ``whole`` (the default) the text must
    be nothing but a journal entry: "heartbeat ok 12:00" is one, "hotel check-in at 3 pm" is a fact.
    """
    signal = noise_signal(draft.candidate.content, context.policy.noise)
    if signal is not None:
        return Rejection("noise", "noise_signal", f"It reads as a journal entry ({signal!r}). {_SPLIT_OR_CHUNK}")
    if draft.candidate.tier is Tier.LOG:
        return Rejection("noise", "tier_log", f"The log tier is never stored. {_SPLIT_OR_CHUNK}")
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

    A state alone ("finished") may be the value of something that a title names.
    """
    said = words(lowered)
    if len(said) < 2 or not all(word in _MACHINE_WORDS or word.isdigit() for word in said):
        return None
    return next((word for word in said if word in _STATES), None)


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
