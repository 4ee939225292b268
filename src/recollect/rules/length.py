"""How long a memory may be, below the hard limit of any memory."""

from recollect.model.policy import Length
from recollect.model.vocabulary import Kind, Source
from recollect.rules.draft import Context, Draft, Rejection


def length_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Refuse what is longer than its kind allows: 1,200 characters in a vault tier, 280 where a model wrote it."""
    limit, why = limit_for(draft, context.policy.length)
    size = len(draft.candidate.content)
    if limit is not None and size > limit:
        return Rejection(
            "length", "too_long", f"It has {size:,} characters; {why} may have {limit:,}. Split or shorten it."
        )
    return draft.decide("length:within_limit", f"{size} of {limit:,}" if limit else "")


def limit_for(draft: Draft, limits: Length) -> tuple[int | None, str]:
    """The smallest limit that applies, and to what."""
    candidate = draft.candidate
    applying: list[tuple[int, str]] = []
    if limits.max_characters is not None:
        applying.append((limits.max_characters, "a memory"))
    if candidate.tier is not None:
        applying.append((limits.tier_max_characters, f"a memory of tier {candidate.tier}"))
    summary = candidate.kind is Kind.INSIGHT or "summary_of" in candidate.meta
    if summary and draft.source is Source.AGENT:
        applying.append((limits.model_written_max_characters, "a summary or insight that a model wrote"))
    return min(applying, default=(None, ""), key=lambda pair: pair[0] or 0)
