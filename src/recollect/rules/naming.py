"""Naming: the canonical key and the hashes of a draft."""

from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.keys import choose_key
from recollect.rules.text import fingerprint, sha256_hex, terms


def naming_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Compute the content's hashes, its index terms, and the key that says which concept it is. Never refuses.

    Kinds that record events are named by their number in the stream, which is drawn when they are stored.
    """
    candidate, policy = draft.candidate, context.policy
    mark = fingerprint(candidate.content, policy.text.synonyms)
    key = choose_key(
        content=candidate.content,
        kind=candidate.kind,
        canonical_key=candidate.canonical_key,
        title=candidate.title,
        topic_id=candidate.topic_id,
        tier=candidate.tier,
        fact_key=candidate.key,
        sequence_no=0,
        fingerprint=mark,
        parser=policy.keys.parser,
        shared_fallback=policy.keys.fallback == "shared",
    )
    return draft.decide(
        "key",
        f"key:{key.source}",
        key.text,
        key=key,
        content_hash=sha256_hex(candidate.content),
        fingerprint=mark,
        terms=tuple(terms(candidate.content, policy.text.synonyms)),
    )
