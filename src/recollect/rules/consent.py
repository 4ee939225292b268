"""Which profile facts are for the person alone to set: from anybody else they wait as ``pending``."""

from recollect.model.policy import Privacy
from recollect.model.vocabulary import Authority, Kind
from recollect.rules.keys import identity, profile_key

PENDING, GIVEN, SAID_AGAIN = "consent:pending", "consent:given", "consent:said_again"
_CONSENTED = (Authority.USER_ASSERTED, Authority.SYSTEM_IMPOSED)
"""The person's own word, and what the operator imposes."""


def needs_consent(kind: Kind, key: str, fact_key: str | None, authority: Authority, settings: Privacy) -> bool:
    """Whether a memory sets a sensitive profile field without the person's word, by its fact key or its canonical key.

    >>> needs_consent(Kind.PROFILE, "Profile-Pronouns", "pronouns", Authority.AI_INFERRED, Privacy())
    True
    >>> needs_consent(Kind.PROFILE, "Profile-Tone", "tone", Authority.AI_INFERRED, Privacy())
    False
    """
    if kind is not Kind.PROFILE or authority in _CONSENTED:
        return False
    sensitive = {identity(profile_key(one).text) for one in settings.consent_keys}
    named = {identity(key)} | ({identity(profile_key(fact_key).text)} if fact_key else set())
    return not sensitive.isdisjoint(named)
