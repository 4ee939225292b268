"""Find secrets and personal data in a text, and cut them out.

``scan`` says what is sensitive in a text and where; ``redact`` cuts it out; ``TYPES`` names every type that can be found, with
what is done about it unless a policy says otherwise. Only ``gate`` decides anything about a memory.

How a text is read:

1. ``disguises`` undoes what people and editors do to numbers and keys: full-width digits, invisible characters,
   typographic dashes, a key broken over two lines.
2. Each ``rule`` stands behind a trigger, a cheap test of the whole text ("is there a word of 16 characters?"). Most sentences
   fail all of them, and the scan is over.
3. ``catalogue`` reads the rules from the tables in ``formats``. A rule is a bounded pattern, tried at its anchor words only,
   and a check that has the last word. ``checks`` judges secrets that have a format or a label, ``evidence`` those that have
   neither, ``personal`` numbers and addresses; ``values`` tells a value from what is said about one.
4. ``scanner`` runs the rules and settles overlaps.
5. ``gate`` scans every string of a candidate and applies the policy, with the operator's own patterns.

Every rule carries the texts that prove it, the ones it must find and the near misses it must leave alone.
"""

from recollect.rules.privacy.scanner import Finding, redact, scan
from recollect.rules.privacy.sensitive_types import TYPE_NAMES, TYPES, Action, SensitiveType

__all__ = ["TYPES", "TYPE_NAMES", "Action", "Finding", "SensitiveType", "redact", "scan"]
