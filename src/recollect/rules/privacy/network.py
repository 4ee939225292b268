"""Addresses of machines: IPv4, IPv6 and hardware (MAC) addresses."""

import ipaddress
import re
from functools import partial

from recollect.rules.privacy.rule import Rule, Span, compiled, first, text_before
from recollect.rules.privacy.tables import with_head
from recollect.rules.privacy.triggers import long_number, long_word, two_colons

_VERSION_BEFORE = r"(?i:\b(?:v|ver|version|release|build|firmware|driver))\.?[\s:=]{0,2}\Z"
_SAYS_NOTHING = ("127", "0", "255")


def _host(match: re.Match[str]) -> Span | None:
    """Loopback, unspecified and masks identify nobody; 4.2.3.5 and "version 10.2.3.4" number a section or a release."""
    octets = match[0].split(".")
    out_of_range = any(int(octet) > 255 or (octet[0] == "0" and octet != "0") for octet in octets)
    is_section = len(match[0]) == 7 and len(set(octets)) > 1
    if out_of_range or is_section or octets[0] in _SAYS_NOTHING:
        return None
    return None if compiled(_VERSION_BEFORE).search(text_before(match, 12)) else match.span()


def _host_v6(match: re.Match[str]) -> Span | None:
    """A short form must begin like a real network: ``a::b`` and ``[1::2]`` are program text."""
    head = compiled(r"[0-9A-Fa-f]{1,4}(?![\w:.])").match(text_before(match, 5)[::-1])
    if head is None or (len(head[0]) < 3 and match[0].count(":") != 7):
        return None
    start = match.start() - len(head[0])
    try:
        ipaddress.IPv6Address(match.string[start : match.end()])
    except ValueError:
        return None
    return start, match.end()


RULES = (
    Rule(
        name="ipv4_address",
        type="ip_address",
        when=long_number,
        pattern=first("[0-9]", r"[\w.]") + r"[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![A-Za-z0-9_]|\.[0-9])",
        check=_host,
        finds=(
            "the server is «58.74.121.78»",
            "ssh ana@«192.168.1.20»:2222",
            "blocked «8.8.8.8».",
        ),
        leaves=(
            "version 10.2.3.4",
            "see section 4.2.3.5",
            "v10.0.19.41",
            "listen on 127.0.0.1",
            "mask 255.255.255.0",
            "256.1.2.3",
            "section 1.2.3.4.5",
            "chrome 120.0.6099.109",
        ),
    ),
    Rule(
        name="ipv6_address",
        type="ip_address",
        when=two_colons,
        anchors=(":",),
        # Starts at the first colon; the check looks back for the group before it.
        pattern=r":(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{1,35}+(?:\.[0-9]{1,3}){0,3}(?![\w:])",
        check=_host_v6,
        finds=(
            "at «2001:db8:85a3::8a2e:370:7334»",
            "[«fe80::1ff:fe23:4567:890a»]:8080",
            "«2001:0db8:0000:0000:0000:ff00:0042:8329»",
        ),
        leaves=(
            "at 12:30:45",
            "std::vector<int>",
            "array[1::2]",
            "listen on ::1",
            "00:1A:2B:3C:4D:5E",
            "dead:beef",
        ),
    ),
    Rule(
        name="mac_address",
        type="mac_address",
        when=long_word,
        # Starts at the first separator, which is rarer in a text than hexadecimal digits.
        pattern=r"[:\-](?<=[0-9A-Fa-f]{2}[:\-])(?<![\w:.\-][0-9A-Fa-f]{2}[:\-])[0-9A-Fa-f]{2}(?P<sep>[:\-])"
        r"(?:[0-9A-Fa-f]{2}(?P=sep)){3}[0-9A-Fa-f]{2}(?![\w:\-]|\.\w)",
        check=partial(with_head, 2),
        finds=("«00:1A:2B:3C:4D:5E»", "the printer («00-1a-2b-3c-4d-5e»)", "arp: «de:ad:be:ef:00:01» is up"),
        leaves=("12:30:45", "00:1A:2B:3C:4D", "00:1A:2B:3C:4D:5E:6F:70", "12-05-20-24-11-59-00"),
    ),
)
