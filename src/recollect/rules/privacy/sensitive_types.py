"""Name the types of sensitive text, and say what is done about each unless a policy says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from recollect.rules.language.word_lists import load_table


class Action(StrEnum):
    """What a policy may do about a type: refuse the write, cut the text out and go on, or let it pass."""

    DENY = "deny"
    REDACT = "redact"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class SensitiveType:
    """One type that a policy can name.

    ``secret`` marks what gives access to something. A secret wins over personal data where the two overlap, as in a
    password that looks like an e-mail address.
    """

    name: str
    default_action: Action
    description: str
    secret: bool = False


_ROWS = load_table(__package__, "types.toml")["type"]
TYPES: Mapping[str, SensitiveType] = MappingProxyType(
    {row["name"]: SensitiveType(**{**row, "default_action": Action(row["default_action"])}) for row in _ROWS}
)
"""Every type by name, in the order of ``types.toml``."""

TYPE_NAMES: tuple[str, ...] = tuple(TYPES)
"""The names of ``TYPES`` in their order."""
