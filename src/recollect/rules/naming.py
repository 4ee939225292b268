"""Naming: the canonical key and the hashes of a draft."""

from recollect.model.item import folded_text
from recollect.model.vocabulary import Space
from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.findable import said_terms
from recollect.rules.keys import choose_key
from recollect.rules.saq import SELF
from recollect.rules.text import fingerprint, sha256_hex


def naming_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Compute the content's hashes, the terms that it says, and the key that says which concept it is. Never refuses.

    Kinds that record events are named by their number in the stream, which is drawn when they are stored.
    """
    candidate, policy = draft.candidate, context.policy
    mark = fingerprint(candidate.content, policy.text.synonyms)
    key = choose_key(
        speaker=_speaker(draft, context),
        content=candidate.content,
        kind=candidate.kind,
        canonical_key=candidate.canonical_key,
        title=candidate.title,
        topic_id=candidate.topic_id,
        tier=candidate.tier,
        fact_key=candidate.key,
        sequence_no=0,
        fingerprint=sha256_hex(folded_text(candidate.content)) if policy.keys.fallback == "folded" else mark,
        parser=policy.keys.parser,
        shared_fallback=policy.keys.fallback == "shared",
    )
    named = {"content": candidate.content, "entities": candidate.entities}
    return draft.decide(
        f"key:{key.source}",
        f"{key.text}, by {key.rule}" if key.rule else key.text,
        key=key,
        content_hash=sha256_hex(candidate.content),
        fingerprint=mark,
        terms=tuple(said_terms(named, policy.text.synonyms)),
    )


def _speaker(draft: Draft, context: Context) -> str:
    """Who "I" is. In a person's own memory it is that person; where several people write, it has to be said."""
    candidate = draft.candidate
    if candidate.space in (Space.USER, Space.SESSION):
        return SELF
    author = candidate.author.id if candidate.author else None
    return author or candidate.user_id or context.caller.name
