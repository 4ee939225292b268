"""How long the privacy scan takes: on ordinary sentences, and on texts made to hurt it.

    python bench/privacy.py

The first table is what every write pays. The second shows that nobody can make a write expensive: each text is as large
as a memory may be, and half as large for comparison. A ratio of about 2 means that the time grows with the length and
not with its square.
"""

import time
from collections.abc import Callable

from recollect.rules.privacy import scan

FULL = 10_240
HALF = FULL // 2

SENTENCES = {
    "clean": "Ana told me on Tuesday that she likes the dark theme best, and that we deploy on Friday before noon.",
    "a date": "The meeting with the design team moved from 2024-05-01 14:30 to Monday at 9, in room 12 on floor 3.",
    "about passwords": "I forgot my password again, so remind me to reset it before the weekend; the policy changed.",
    "not English": "Élodie préfère le thème sombre, déteste les réunions du matin et déploie toujours à midi pile.",
    "an e-mail address": "Ana told me on Tuesday that mail is best, so write to ana.maria@example.org before noon, ok.",
    "a card number": "I want to increase the limit on my card 4111 1111 1111 1111 for a short time, is that possible?",
}


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _counted(template: str) -> Callable[[int], str]:
    """Distinct units, so that nothing can be remembered from one to the next."""

    def make(size: int) -> str:
        parts: list[str] = []
        length = 0
        number = 0
        while length < size:
            number = (number * 7919 + 104_729) % 1_000_000
            parts.append(template.format(n=number, d=f"{number:06d}"))
            length += len(parts[-1])
        return "".join(parts)[:size]

    return make


HOSTILE: dict[str, Callable[[int], str]] = {
    "one letter": _repeated("a"),
    "blanks": _repeated(" "),
    "short words": _repeated("a "),
    "one long digit run": _repeated("4"),
    "digits and blanks": _repeated("4 "),
    "digits and dots": _repeated("1."),
    "digits and dashes": _repeated("12-"),
    "groups of four digits": _repeated("4111 "),
    "distinct groups of four": _counted("4{d:.3} "),
    "almost card numbers": _counted("4{d:.3}{d}{d} "),
    "almost SSNs": _counted("{d:.3}-00-{d:.4} "),
    "dashes": _repeated("-"),
    "at signs": _repeated("@"),
    "almost addresses": _repeated("a@"),
    "dotted almost addresses": _repeated("a.b@c."),
    "base64": _counted("QUJD{d}x+/"),
    "hexadecimal": _counted("{n:06x}f"),
    "colons": _repeated("a:"),
    "hexadecimal pairs": _repeated("ab:"),
    "octets": _counted("{d:.2}.{d:.2}.{d:.2}.{d:.2} "),
    "'password '": _repeated("password "),
    "'password is '": _repeated("password is "),
    "'password for '": _repeated("password for "),
    "'password='": _repeated("password="),
    "'is my password '": _repeated("abc1 is my password "),
    "almost handed over": _counted("log in the marmalade{d:.2} "),
    "almost keys": _counted("token a{d}b{d:.3} "),
    "'secret aws '": _repeated("secret aws "),
    "'token='": _repeated("token="),
    "'api key '": _repeated("api key "),
    "'bearer '": _repeated("bearer "),
    "'eyJ'": _repeated("eyJ"),
    "'eyJ….'": _repeated("eyJhbGciOiJIUzI1NiJ9."),
    "'sk-'": _repeated("sk-"),
    "'sk-ant-'": _repeated("sk-ant-"),
    "'ghp_'": _repeated("ghp_"),
    "'glpat-'": _repeated("glpat-"),
    "'xoxb-'": _repeated("xoxb-"),
    "'AKIA'": _repeated("AKIA"),
    "'://a:'": _repeated("://a:"),
    "'-----BEGIN '": _repeated("-----BEGIN PRIVATE KEY-----\n"),
    "'-----BEGIN ' and a body": _repeated("-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n"),
    "'DE89 '": _repeated("DE89 "),
    "almost IBANs": _counted("DE{d:.2} {d:.4} {d:.4} {d:.4} {d:.4} {d:.2} "),
    "numbers with country code": _counted("+4930{d} "),
    "phone labels": _repeated("call 12 "),
    "almost wallets": _counted("1{d}abcdefghijkmnopqrstuv "),
    "births": _repeated("born 12/"),
    "streets": _repeated("1 Aa Bb "),
    "full-width digits": _repeated("４"),
    "invisible characters": _repeated("4\u200b"),
    "wrapped lines": _repeated("abcdefgh12345678\n"),
    "every anchor once, then prose": lambda size: (_all_anchors() + _repeated("lorem ipsum dolor sit amet ")(size))[
        :size
    ],
    "every anchor, again and again": lambda size: _repeated(_all_anchors())(size),
}


def _all_anchors() -> str:
    from recollect.rules.privacy.catalogue import RULES

    return " ".join(dict.fromkeys(anchor for rule in RULES for anchor in rule.anchors)) + " "


def best_ms(text: str, tries: int = 9) -> float:
    """Processor time of the shortest of several runs: the others were disturbed by something else."""
    times = []
    for _ in range(tries):
        start = time.process_time()
        scan(text)
        times.append(time.process_time() - start)
    return min(times) * 1000


def print_sentences() -> None:
    print(f"{'sentence':<34}{'characters':>10}{'µs':>10}{'findings':>10}")
    for name, text in SENTENCES.items():
        micros = best_ms(text, tries=300) * 1000
        print(f"{name:<34}{len(text):>10}{micros:>10.1f}{len(scan(text)):>10}")


def print_hostile() -> None:
    print(f"\n{'hostile text':<34}{'5 KB, ms':>10}{'10 KB, ms':>10}{'ratio':>10}{'findings':>10}")
    worst = 0.0
    for name, make in HOSTILE.items():
        half, full = best_ms(make(HALF)), best_ms(make(FULL))
        worst = max(worst, full)
        print(f"{name:<34}{half:>10.2f}{full:>10.2f}{full / half:>10.1f}{len(scan(make(FULL))):>10}")
    print(f"\nworst at 10 KB: {worst:.1f} ms")


if __name__ == "__main__":
    print_sentences()
    print_hostile()
