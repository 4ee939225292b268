"""What must not be remembered: secrets and personal data, found in a text and cut out of it.

``scan`` says what is sensitive in a text and where; ``redact`` cuts it out; ``TYPES`` names every type that can be
found, with what is done about it unless a policy says otherwise. Nothing here decides anything about a memory: the
write gate compares the findings with the policy.

How a text is read:

1. ``view`` undoes what people and editors do to numbers and keys: full-width digits, invisible characters,
   typographic dashes, a key broken over two lines.
2. ``triggers`` are cheap tests for the whole text ("is there a word of 16 characters?", "is there a long number?").
   Most sentences fail all of them, and the scan is over.
3. ``catalogue`` lists the rules behind each trigger. A rule is a bounded pattern, tried at its anchor words only,
   and a check (a checksum, a word list, the words around it) that has the last word. Those for secrets are tables
   in ``formats``, read by ``tables``; ``checks`` and ``values`` tell a value from what is said about one.
4. ``scanner`` runs them and settles overlaps.

Every rule carries the texts that prove it, the ones it must find and the near misses it must leave alone.
"""

from recollect.rules.privacy.scanner import Finding, redact, scan
from recollect.rules.privacy.sensitive_types import TYPE_NAMES, TYPES, Action, SensitiveType

__all__ = ["TYPES", "TYPE_NAMES", "Action", "Finding", "SensitiveType", "redact", "scan"]
