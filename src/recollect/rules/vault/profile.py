"""The ``memory`` section of an agent's profile: whether it remembers, what it sees, and how much of it is told."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from recollect.model.errors import BadInput
from recollect.model.section import Section
from recollect.model.vocabulary import SHARED
from recollect.rules.vault.vocabulary import AGENTS, CATEGORIES

Word = Annotated[str, Field(min_length=1, max_length=256, strict=True)]


class VaultProfile(Section):
    """What a profile says about memory.

    ``scopes`` are those that this agent reads and writes (by default all of them), ``max_items`` how many memories a
    search, a recall or a block returns at most, ``similarity_threshold`` how alike the letters of two texts must be for
    the second to be a duplicate. ``agents`` and ``categories`` name what is valid in this vault.
    """

    enabled: bool = Field(True, strict=True)
    scopes: tuple[Word, ...] | None = None
    max_items: int = Field(20, ge=1, le=1_000, strict=True)
    similarity_threshold: float | None = Field(None, gt=0, le=1)
    agents: tuple[Word, ...] = AGENTS
    categories: tuple[Word, ...] = CATEGORIES

    @model_validator(mode="after")
    def _knows_its_scopes(self) -> "VaultProfile":
        for scope in self.scopes or ():
            if scope not in self.known_scopes:
                raise ValueError(f"scopes: there is no scope {scope!r}; known: {', '.join(self.known_scopes)}")
        return self

    @property
    def known_scopes(self) -> tuple[str, ...]:
        return (SHARED, *self.agents)

    @property
    def seen_scopes(self) -> tuple[str, ...]:
        """The scopes that this agent sees."""
        return self.known_scopes if self.scopes is None else self.scopes

    def sees(self, scope: str) -> bool:
        """Whether a memory of that scope is this agent's to see. Without a list, so is whatever an older file holds."""
        return self.scopes is None or scope in self.scopes


def parse_profile(data: Any, field: str = "profile") -> VaultProfile:
    """A profile's ``memory`` section; what else the profile says is not the vault's business.

    >>> parse_profile({"name": "Orion", "memory": {"scopes": ["shared", "orion"]}}).scopes
    ('shared', 'orion')
    """
    memory = data.get("memory") if isinstance(data, Mapping) else None
    if not isinstance(memory, Mapping):
        raise BadInput("has no `memory` section.", field=field, hint="Write memory: {enabled: true, scopes: [shared]}.")
    try:
        return VaultProfile.model_validate(dict(memory))
    except ValidationError as error:
        raise _readable(error.errors()[0], field) from None


def _readable(first: Any, field: str) -> BadInput:
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return BadInput("there is no such setting.", field=f"{field}: memory.{name}", hint=_nearest(name))
    message = str(first["msg"]).removeprefix("Value error, ")
    return BadInput(f"{message}.", field=f"{field}: memory.{name}".rstrip("."), hint=_known())


def _nearest(name: str) -> str:
    near: Sequence[str] = difflib.get_close_matches(name, list(VaultProfile.model_fields), n=1, cutoff=0.5)
    return f"Did you mean {near[0]}?" if near else _known()


def _known() -> str:
    return f"Known: {', '.join(VaultProfile.model_fields)}."
