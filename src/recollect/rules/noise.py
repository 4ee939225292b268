"""What is a journal entry and not a memory: heartbeats, tick markers, "nothing to report"."""

from recollect.model.policy import Noise
from recollect.model.vocabulary import Tier
from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.text import words

_FILLER = frozenset(
    """
        a again all am and at auto automatic automated burst by complete completed day daily done ended every for
        good hour hourly id in interval is just last minute minutes no now number of ok okay on passed periodic pm
        received recorded run s scheduled second seconds sent since so start started status still tick the this time
        timestamp to today tonight utc was yet
    """.split()
)
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
    """The signal that makes a text noise, or ``None``."""
    if settings.match == "never":
        return None
    lowered = text.casefold()
    for signal in settings.signals:
        phrase = signal.casefold()
        if phrase in lowered and (settings.match == "substring" or _nothing_else(lowered, phrase)):
            return signal
    return None


def _nothing_else(text: str, signal: str) -> bool:
    rest = words(text.replace(signal, " ", 1))
    return all(word in _FILLER or any(c.isdigit() for c in word) for word in rest)
