"""The types of sensitive text, and what is done about each unless a policy says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


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


def _secret(name: str, description: str) -> SensitiveType:
    return SensitiveType(name, Action.DENY, description, secret=True)


def _denied(name: str, description: str) -> SensitiveType:
    return SensitiveType(name, Action.DENY, description)


def _allowed(name: str, description: str) -> SensitiveType:
    return SensitiveType(name, Action.ALLOW, description)


_ALL = (
    _secret("private_key", "a private key block: PEM, OpenSSH, PGP, PuTTY, age"),
    _secret("api_key", "an API key or token in a known provider's format, or a random value named as a key"),
    _secret("access_token", "a bearer or basic authorization header, or a random value named as a token"),
    _secret("jwt", "a JSON Web Token"),
    _secret("connection_string", "the password inside a URL, a connection string or a command line"),
    _secret("password", "a password, passphrase, PIN or one-time code, assigned or told in a sentence"),
    _denied("us_ssn", "a US Social Security number"),
    _denied("payment_card", "a payment card number with a valid checksum, or a card's security code"),
    _denied("iban", "an international bank account number with a valid checksum"),
    _allowed("email", "an e-mail address"),
    _allowed("phone", "a telephone number"),
    _allowed("ip_address", "an IPv4 or IPv6 address, other than loopback, unspecified and network masks"),
    _allowed("mac_address", "a network card's hardware address"),
    _allowed("crypto_wallet", "a Bitcoin or Ethereum address"),
    _allowed("date_of_birth", "a date said to be someone's birth date"),
    _allowed("street_address", "a house number with a street name"),
    _allowed("passport_number", "a number said to be a passport's"),
    _allowed("driver_license", "a number said to be a driver's license's"),
    _allowed("us_itin", "a US individual taxpayer identification number"),
)

TYPES: Mapping[str, SensitiveType] = MappingProxyType({each.name: each for each in _ALL})
"""Every type by name, in a fixed order: secrets, then what else is refused by default, then what is allowed."""

TYPE_NAMES: tuple[str, ...] = tuple(TYPES)
"""The names of ``TYPES`` in their order."""
