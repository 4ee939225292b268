"""Scan every string of a candidate before anything is written, and deny or redact what the policy says.

The regular expressions of an operator run here too. Nobody has proved that they end soon, so they have a time limit: ``re``
cannot be stopped, the ``regex`` library can, and it reads the same expressions.
"""

from collections.abc import Callable, Iterator
from typing import Any

from recollect.model.policy import Privacy
from recollect.model.record import Candidate
from recollect.model.vocabulary import Kind
from recollect.rules import privacy
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.trust.signers import without_broken_signatures

OWN_PATTERN = "what a pattern of the policy names"
_SKIPPED = frozenset({"namespace", "space", "kind", "event_type", "layer", "tier", "source", "authority", "change"})
"""Fields whose values come from closed lists."""
_NAME_KEYS = ("name", "key", "type", "label", "field")
SHARED_CHARACTERS = 80
"""Longest text that is remembered as clean: names recur in a batch, sentences do not."""


def privacy_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Deny secrets, redact what policy says to redact, and allow profile facts only under listed keys.

    Every string field is scanned: content, keys, tags, names, and everything inside ``meta`` and ``context``.
    """
    candidate, settings = draft.candidate, context.policy.privacy
    unlisted = settings.profile_keys is not None and candidate.key not in settings.profile_keys
    if candidate.kind is Kind.PROFILE and unlisted:
        detail = "The policy does not list this profile key. Add it to privacy.profile_keys, or use kind 'semantic'."
        return Rejection("privacy", "privacy_profile_key_not_allowed", detail)
    found = scan_fields(candidate, settings, context.clean, context.out_of_time)
    if found.denied:
        names = ", ".join(sorted(found.denied))
        return Rejection("privacy", "privacy_deny_sensitive", f"It holds {names}, which the policy denies. Remove it.")
    if found.redacted:
        changes = {name: redact_value(getattr(candidate, name), settings) for name in sorted(found.fields)}
        for name in _names(candidate) if "content" in changes else ():
            changes["content"] = redact_value(changes["content"], settings, name)
        kept = without_broken_signatures(candidate, candidate.model_copy(update=changes))
        draft = draft.decide("privacy:redacted", ", ".join(sorted(found.redacted)), candidate=kept)
    return draft.decide("privacy:clean" if not found.redacted else "privacy:nothing_denied")


class Found:
    """The result of a scan: the types to deny, the types to redact, and the fields with something to redact."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        self.redacted: set[str] = set()
        self.fields: set[str] = set()


def scan_fields(
    candidate: Candidate, settings: Privacy, clean: set[str], out_of_time: Callable[[], bool] = bool
) -> Found:
    """Scan every string of every field that the caller set, except strings that are known to be ``clean``."""
    found = Found()
    for name in _names(candidate):
        _note(found, "content", f"{name}: {candidate.content}", settings, out_of_time, after=len(name))
    for name in sorted(candidate.model_fields_set - _SKIPPED):
        for text in strings(getattr(candidate, name)):
            if (
                text not in clean
                and not _note(found, name, text, settings, out_of_time)
                and len(text) <= SHARED_CHARACTERS
            ):
                clean.add(text)
    return found


def _note(
    found: Found, field: str, text: str, settings: Privacy, out_of_time: Callable[[], bool], after: int = 0
) -> bool:
    """Add the sensitive types in a text to ``found``; return whether there were any.

    What ends ``after`` so many characters is only the name of a content, which is scanned by itself.
    """
    own = OWN_PATTERN not in found.denied and _own_pattern(text, settings, out_of_time)
    hits = [hit for hit in privacy.scan(text) if hit.end > after]
    if own:
        found.denied.add(OWN_PATTERN)
    for hit in hits:
        act = action(hit.type, settings)
        if act == "deny":
            found.denied.add(hit.type)
        elif act == "redact":
            found.redacted.add(hit.type)
            found.fields.add(field)
    return own or bool(hits)


def _own_pattern(text: str, settings: Privacy, out_of_time: Callable[[], bool] = bool) -> bool:
    """Return whether one of the operator's patterns finds something, or there is no time left to try it."""
    return any(out_of_time() or pattern_finds(pattern, text) for pattern in settings.deny_patterns)


def _names(candidate: Candidate) -> list[str]:
    """Return the names of the content: "hunter2" alone is nothing, under the title "password" it is a password."""
    given = [candidate.key, candidate.title, candidate.canonical_key, candidate.topic_id]
    return [name.replace("-", " ").replace("_", " ") for name in given if name is not None]


def action(type: str, settings: Privacy) -> str:
    """Return what the policy does with a type of sensitive data."""
    return settings.actions.get(type) or privacy.TYPES[type].default_action


def denied_types(value: Any, settings: Privacy) -> set[str]:
    """Return the types of sensitive data in a value that the policy denies or redacts."""
    texts = strings(value)
    found = {hit.type for text in texts for hit in privacy.scan(text)}
    own = {OWN_PATTERN} if any(_own_pattern(text, settings) for text in texts) else set()
    return {type for type in found if action(type, settings) != "allow"} | own


def places(text: str, settings: Privacy) -> list[tuple[int, int]]:
    """Return the spans of a text that the policy denies or redacts, as ``(start, end)``."""
    found = [(hit.start, hit.end) for hit in privacy.scan(text) if action(hit.type, settings) != "allow"]
    own = [span for pattern in settings.deny_patterns for span in pattern_places(pattern, text)]
    return sorted(found + own)


def strings(value: Any, label: str = "") -> list[str]:
    """Return every string inside a value, each together with its key, as in ``password: hunter2``."""
    if isinstance(value, str):  # most of them are
        return [f"{label}: {value}" if label else value]
    if isinstance(value, dict):
        named = _name_of(value) or label
        under = [s for key, inner in value.items() for s in strings(inner, key)]
        about = [inner for key, inner in value.items() if named != label and _label(key, inner, named)]
        return [*value, *under, *(s for inner in about for s in strings(inner, named))]
    if isinstance(value, list | tuple):
        return [s for inner in value for s in strings(inner, label)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [f"{label}: {value}" if label else str(value)]
    return strings(value.to_dict(), label) if hasattr(value, "to_dict") else []


def _name_of(value: dict[str, Any]) -> str | None:
    """Return the name inside an object such as ``{"name": "password", "value": "hunter2"}``."""
    return next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)


def _label(key: str, inner: Any, named: str) -> str:
    """Return the name under which to read a value, none for the name itself: the author ``root`` has no password ``root``."""
    return "" if inner == named and key in (*_NAME_KEYS, "id") else named


def redact_value(value: Any, settings: Privacy, label: str = "") -> Any:
    """Return the value with everything to redact replaced by ``[redacted:type]``, at any depth."""
    if isinstance(value, str):
        return _redact_text(value, settings, f"{label}: " if label else "")
    if isinstance(value, dict):
        named = _name_of(value) or ""
        inner = {
            k: redact_value(redact_value(one, settings, k), settings, _label(k, one, named)) for k, one in value.items()
        }
        return {redact_value(key, settings): one for key, one in inner.items()}
    if isinstance(value, list | tuple):
        return type(value)(redact_value(one, settings, label) for one in value)
    if hasattr(value, "model_copy"):
        return value.model_copy(update={k: redact_value(v, settings) for k, v in value.to_dict().items()})
    return value


def _redact_text(text: str, settings: Privacy, prefix: str) -> str:
    hits = [f for f in privacy.scan(prefix + text) if action(f.type, settings) == "redact"]
    whole = privacy.redact(prefix + text, hits) if hits else prefix + text
    return whole.removeprefix(prefix) if whole.startswith(prefix) else f"[redacted:{hits[0].type}]"


TIME_LIMIT_S = 0.25
"""For one pattern on one text of at most 10 KB: a thousand times what a sound pattern takes."""


TIME_LIMIT_OF_ALL_S = 1.0
"""For all patterns on all strings of one memory, which can be hundreds."""


def pattern_finds(pattern: str, text: str) -> bool:
    """Return whether an operator's pattern finds something in the text."""
    return next(pattern_places(pattern, text), None) is not None


def pattern_places(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the matches of an operator's pattern as ``(start, end)``; when time runs out, all that is left of the text.

    What a pattern could not be tried on counts as found: a text is stored only if it was shown to hold nothing denied.

    >>> list(pattern_places("PRJ-[0-9]{4}", "about PRJ-1234"))
    [(6, 14)]
    """
    import regex  # takes 25 ms to import, and few policies have patterns

    reached = 0
    try:
        for match in regex.finditer(pattern, text, timeout=TIME_LIMIT_S):
            yield match.span()
            reached = match.end()
    except TimeoutError:
        yield reached, len(text)
