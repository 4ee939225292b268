"""The parts of a policy that are about sources: what may be built upon, what becomes of it, and whose word counts."""

from typing import Literal

from pydantic import Field

from recollect.model.section import Section
from recollect.model.vocabulary import Authority


class Provenance(Section):
    """What a memory may say that it builds upon."""

    unresolved: Literal["refuse", "keep"] = Field(
        "refuse",
        description="a parent that nobody here knows: refuse the memory, or keep it, and the parent is found once it comes",
    )
    derivative_overlap_min: float = Field(
        0.6, gt=0, le=1, description="share of common words from which a memory is told to be derived from another's"
    )


class Erasure(Section):
    """What becomes of memories that were made of one that is erased."""

    derived: Literal["keep", "review", "erase"] = Field(
        "review",
        description="what was built upon an erased memory, at every depth, or written for an erased person: keep it without "
        "the link, take it out of recall until somebody restores or erases it, or erase it too",
    )


class Trust(Section):
    """Whose vouches count, and for how much."""

    seeds: tuple[str, ...] = Field(
        (), max_length=256, description="agents or users whose judgement is relied upon, besides whoever asks"
    )
    signers: dict[str, Authority] = Field(
        {},
        max_length=256,
        description="whose signed entries an import believes, and how far: a name, and the authority that its words have here",
    )
    passed_on: float = Field(
        0.5, gt=0, lt=1, description="what is left of trust with each step from whoever is relied upon"
    )
    max_steps: int = Field(3, ge=0, le=6, description="how many steps trust is passed on")
    signed_only: bool = Field(
        False, description="whoever vouches signs it; a vouch without a signature whose key counted then weighs nothing"
    )
