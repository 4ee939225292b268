"""Which rejection stands against a statement, if any."""

from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.rules.rejected_values import Claim, claimed_marks, rejected_marks, seal
from recollect.stores.protocol import Reader

REJECTED_VALUE = "rejected:value"


class Against(NamedTuple):
    """A rejection that stands against a statement: in which stream, and whether the statement says just that and no more."""

    stream: int
    id: str
    exactly: bool


def rejections_of(engine: Engine, reader: Reader, claim: Claim) -> list[Against]:
    """Return the rejections of something that a statement claims, wherever they bind the place where it is made.

    They bind the streams of one owner in every namespace, and what is written elsewhere on a person's behalf.
    """
    secrets = reader.rejection_secrets(claim.address, claim.person)
    if not secrets:
        return []
    synonyms = engine.policy.text.synonyms
    claimed, whole = claimed_marks(claim, synonyms), rejected_marks(claim, synonyms)
    found = []
    for stream, secret in secrets.items():
        exact = set(reader.rejections_with(engine.tenant, stream, [seal(secret, mark) for mark in whole]))
        every = {*exact, *reader.rejections_with(engine.tenant, stream, [seal(secret, mark) for mark in claimed])}
        found += [Against(stream, id, id in exact) for id in sorted(every)]
    return found
