"""E-mail addresses."""

import re

from recollect.rules.privacy.rule import Rule, Span, compiled, text_before
from recollect.rules.privacy.triggers import always

_DOMAIN = r"(?:[^\W_](?:[\w\-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}"


def _mailbox(match: re.Match[str]) -> Span | None:
    """Cut what a sentence adds, and leave out what only looks like an address: a git remote, ``logo@2x.png``."""
    local = _local_part(match)
    domain = match[0][1:].rstrip(".-_")
    known_not = local in ("", "git") or compiled(r"[0-9]x\.").match(domain)
    if known_not or not compiled(_DOMAIN).fullmatch(domain):
        return None
    return match.start() - len(local), match.start() + 1 + len(domain)


def _local_part(match: re.Match[str]) -> str:
    """The name before the ``@``. Read backwards, so that the time doesn't depend on what stands before the name."""
    backwards = compiled(r"[\w.%+'\-]{1,64}").match(text_before(match, 64)[::-1])
    return backwards[0][::-1].lstrip(".'-%+") if backwards else ""


def _with_local_part(match: re.Match[str]) -> Span | None:
    """Look back from "[at]" for the name before it."""
    local = compiled(r"\s?[\w.%+\-]{1,64}").match(text_before(match, 66)[::-1])
    return (match.start() - len(local[0]), match.end()) if local else None


RULES = (
    Rule(
        name="email_address",
        type="email",
        when=always,
        anchors=("@",),
        pattern=r"@[\w.\-]{3,253}",
        check=_mailbox,
        finds=(
            "write to «ana@example.org».",
            "<«ana.maria+notes@mail.example.co.uk»>",
            "mailto:«jörg@müller.example»",
            "'«o'neil_2@example.com»'",
        ),
        leaves=(
            "ping @ana about it",
            "npm install react@18.2.0",
            "git@github.com:ana/notes.git",
            "logo@2x.png",
            "ana@localhost",
            "3 apples @ 2.50 each",
        ),
    ),
    Rule(
        name="email_spelled_out",
        type="email",
        when=always,
        anchors=("[at]", "(at)"),
        pattern=r"[\[(](?i:at)[\])]\s?[\w\-]{1,63}(?:(?:\.|\s?[\[(](?i:dot)[\])]\s?)[\w\-]{2,63}){1,4}",
        check=_with_local_part,
        finds=(
            "«ana [at] example [dot] org»",
            "reach «ana.m(at)example(dot)co(dot)uk» any time",
            "«ana [at] example.org».",
        ),
        leaves=("meet [at] noon", "look (at) the example", "the symbol (at) and the symbol (dot)"),
    ),
)
