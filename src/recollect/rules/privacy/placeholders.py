"""Telling a value from a stand-in for one: ``<password>``, ``${DB_PASSWORD}``, ``********``, ``os.environ[...]``."""

import re

_OPENS_A_TEMPLATE = tuple("< ${ $( { %( %{ [redacted !vault vault: op:// http:// https://".split(" "))
_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]{0,60}")
_CALL_OR_INDEX = re.compile(r"(?:[A-Za-z_.]{3,80}|[A-Za-z]\w{0,40}[._]\w{1,40})[(\[]")
_ATTRIBUTE = re.compile(
    r"(?:self|this|os|env|process|config|settings|args|options|params|request|secrets)\.[A-Za-z_.]{1,80}"
)
_MASK = re.compile(r"[*.•·…xX_?#\-]{2,}|[*•]{1,}.{0,4}")
_NAME = re.compile(r"(?i:(?:[a-z]{1,20}[_\-]){1,4}(?:password|passwd|pwd|pass|token|key|secret|value|here))")
_NO_VALUE = re.compile(
    r"(?i:(?:my|your|the|new|old|test|wrong|some|any|user|admin|secret|sample|fake){0,3}(?:password|passwd|pass)|null|none|nil|undefined|true|false|n/?a|tbd|todo|redacted|hidden|masked"
    r"|omitted|removed)"
)


def is_template(value: str) -> bool:
    """Whether the value is to be filled in by something else: a variable, a call, a mask, a reference to a vault.

    >>> is_template("${DB_PASSWORD}"), is_template("password")
    (True, False)
    """
    return (
        value.startswith(_OPENS_A_TEMPLATE)
        or _CALL_OR_INDEX.match(value) is not None
        or any(whole.fullmatch(value) for whole in (_VARIABLE, _ATTRIBUTE, _MASK))
    )


def is_placeholder(value: str) -> bool:
    """Whether the value is a template, or a word that only says what belongs there.

    >>> is_placeholder("your_password"), is_placeholder("hunter2")
    (True, False)
    """
    return is_template(value) or any(word.fullmatch(value) for word in (_NAME, _NO_VALUE))
