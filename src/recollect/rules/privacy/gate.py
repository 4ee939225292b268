"""The privacy gate: every string of a candidate is scanned before anything is written anywhere."""

from collections.abc import Iterator
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
SHARED_CHARACTERS = 80
"""How long a text is that others may share: names are, sentences are not."""


def privacy_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Deny secrets, redact what policy says to redact, and allow profile facts only under listed keys.

    Every string field is scanned: content, keys, tags, names, and everything inside ``meta`` and ``context``.
    """
    candidate, settings = draft.candidate, context.policy.privacy
    refused = _refused_key(candidate, settings)
    if refused is not None:
        return refused
    found = scan_fields(candidate, settings, context.clean)
    if found.denied:
        names = ", ".join(sorted(found.denied))
        return Rejection("privacy", "privacy_deny_sensitive", f"It holds {names}, which the policy denies. Remove it.")
    if found.redacted:
        changes = {name: redacted(getattr(candidate, name), settings) for name in sorted(found.fields)}
        for name in _names(candidate) if "content" in changes else ():
            changes["content"] = redacted(changes["content"], settings, name)
        kept = without_broken_signatures(candidate, candidate.model_copy(update=changes))
        draft = draft.decide("privacy:redacted", ", ".join(sorted(found.redacted)), candidate=kept)
    return draft.decide("privacy:clean" if not found.redacted else "privacy:nothing_denied")


class Found:
    """What a scan came across: the types that are denied, those to redact, and the fields they stood in."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        self.redacted: set[str] = set()
        self.fields: set[str] = set()


def scan_fields(candidate: Candidate, settings: Privacy, clean: set[str]) -> Found:
    """Scan every string of every field that the caller set, but for those that are known to be ``clean``."""
    found = Found()
    for name in _names(candidate):
        _note(found, "content", f"{name}: {candidate.content}", settings)
    for name in sorted(candidate.model_fields_set - _SKIPPED):
        for text in strings(getattr(candidate, name)):
            if text not in clean and not _note(found, name, text, settings) and len(text) <= SHARED_CHARACTERS:
                clean.add(text)
    return found


def _note(found: Found, field: str, text: str, settings: Privacy) -> bool:
    """Note what is sensitive in a text; whether anything is."""
    own = OWN_PATTERN not in found.denied and _own_pattern(text, settings)
    hits = privacy.scan(text)
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


def _own_pattern(text: str, settings: Privacy) -> bool:
    """Whether one of the policy's own patterns finds something."""
    return any(pattern_finds(pattern, text) for pattern in settings.deny_patterns)


def _names(candidate: Candidate) -> list[str]:
    """What the content goes by: "hunter2" alone is nothing, under the title "password" it is one."""
    given = [candidate.key, candidate.title, candidate.canonical_key, candidate.topic_id]
    return [name.replace("-", " ").replace("_", " ") for name in given if name is not None]


def action(type: str, settings: Privacy) -> str:
    """What the policy does with a type of sensitive data."""
    return settings.actions.get(type) or privacy.TYPES[type].default_action


def denied_types(value: Any, settings: Privacy) -> set[str]:
    """The types of sensitive data in a value that the policy does not let through as they are."""
    texts = strings(value)
    found = {hit.type for text in texts for hit in privacy.scan(text)}
    own = {OWN_PATTERN} if any(_own_pattern(text, settings) for text in texts) else set()
    return {type for type in found if action(type, settings) != "allow"} | own


def places(text: str, settings: Privacy) -> list[tuple[int, int]]:
    """Where in a text stands what the policy does not let through as it is, as ``(start, end)``."""
    found = [(hit.start, hit.end) for hit in privacy.scan(text) if action(hit.type, settings) != "allow"]
    own = [span for pattern in settings.deny_patterns for span in pattern_places(pattern, text)]
    return sorted(found + own)


def strings(value: Any, label: str = "") -> list[str]:
    """Every string inside a value, each read together with the key that it stands under, as ``password: hunter2`` is."""
    if isinstance(value, str):  # most of them are
        return [f"{label}: {value}" if label else value]
    if isinstance(value, dict):
        named = _name_of(value) or label
        under = [s for key, inner in value.items() for s in strings(inner, key)]
        about = value.values() if named != label else ()
        return [*value, *under, *(s for inner in about for s in strings(inner, named))]
    if isinstance(value, list | tuple):
        return [s for inner in value for s in strings(inner, label)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [f"{label}: {value}" if label else str(value)]
    return strings(value.to_dict(), label) if hasattr(value, "to_dict") else []


def _name_of(value: dict[str, Any]) -> str | None:
    """What an object such as ``{"name": "password", "value": "hunter2"}`` is about."""
    found = (value.get(key) for key in ("name", "key", "type", "label", "field"))
    return next((name for name in found if isinstance(name, str)), None)


def redacted(value: Any, settings: Privacy, label: str = "") -> Any:
    """The same value with what is to be redacted replaced by ``[redacted:type]``, in whatever depth it stands."""
    if isinstance(value, str):
        return _redacted_text(value, settings, f"{label}: " if label else "")
    if isinstance(value, dict):
        named = _name_of(value) or ""
        inner = {key: redacted(redacted(one, settings, key), settings, named) for key, one in value.items()}
        return {redacted(key, settings): one for key, one in inner.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(one, settings, label) for one in value)
    if hasattr(value, "model_copy"):
        return value.model_copy(update={k: redacted(v, settings) for k, v in value.to_dict().items()})
    return value


def _redacted_text(text: str, settings: Privacy, prefix: str) -> str:
    hits = [f for f in privacy.scan(prefix + text) if action(f.type, settings) == "redact"]
    whole = privacy.redact(prefix + text, hits) if hits else prefix + text
    return whole.removeprefix(prefix) if whole.startswith(prefix) else f"[redacted:{hits[0].type}]"


def _refused_key(candidate: Candidate, settings: Privacy) -> Rejection | None:
    if candidate.kind is not Kind.PROFILE or settings.profile_keys is None or candidate.key in settings.profile_keys:
        return None
    return Rejection(
        "privacy",
        "privacy_profile_key_not_allowed",
        "The policy does not list this profile key. Add it to privacy.profile_keys, or use kind 'semantic'.",
    )


TIME_LIMIT_S = 0.25
"""For one pattern on one text of at most 10 KB: a thousand times what a sound pattern takes."""


def pattern_finds(pattern: str, text: str) -> bool:
    """Whether the pattern finds something in the text."""
    return next(pattern_places(pattern, text), None) is not None


def pattern_places(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the pattern finds something, as ``(start, end)``; all that is left of the text where it runs out of time.

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
