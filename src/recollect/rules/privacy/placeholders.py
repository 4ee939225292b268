"""Telling a value from a stand-in for one: ``<password>``, ``${DB_PASSWORD}``, ``********``, ``os.environ[...]``."""

import re

_OPENS_A_PLACEHOLDER = ("<", "${", "$(", "{", "%(", "%{", "[redacted", "!vault", "vault:", "op://", "http://", "https://")
_VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]{0,60}")
_CALL_OR_INDEX = re.compile(r"[A-Za-z_][\w.]{0,80}[(\[]")
_ATTRIBUTE = re.compile(r"(?:self|this|os|env|process|config|settings|args|options|params|request|secrets)\.[A-Za-z_.]{1,80}")
_MASK = re.compile(r"[*.•·…xX_?#\-]{2,}|[*•]{1,}.{0,4}")
_STAND_IN = re.compile(
    r"(?i:(?:my|your|the|a|some|new|old|example|sample|dummy|fake|test)[_\- ]?(?:secret[_\- ]?)?"
    r"(?:password|passwd|pwd|pass|token|key|secret|value)|password|passwd|null|none|nil|undefined|true|false|n/?a|tbd|todo"
    r"|redacted|hidden|masked|omitted|removed)"
)


def is_placeholder(value: str) -> bool:
    """Whether the value only marks the place of a secret.

    >>> is_placeholder("${DB_PASSWORD}"), is_placeholder("hunter2")
    (True, False)
    """
    return (
        value.startswith(_OPENS_A_PLACEHOLDER)
        or _CALL_OR_INDEX.match(value) is not None
        or any(whole.fullmatch(value) for whole in (_VARIABLE, _ATTRIBUTE, _MASK, _STAND_IN))
    )
