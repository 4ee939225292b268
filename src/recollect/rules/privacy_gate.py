"""The privacy gate: every string of a candidate is scanned before anything is written anywhere."""

from typing import Any

from recollect.model.policy import Privacy
from recollect.model.record import Candidate
from recollect.model.vocabulary import Kind
from recollect.rules import privacy
from recollect.rules.draft import Context, Draft, Rejection

_SKIPPED = frozenset({"namespace", "space", "kind", "event_type", "layer", "tier", "source", "authority", "change"})
"""Fields whose values come from closed lists."""


def privacy_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Deny secrets, redact what policy says to redact, and allow profile facts only under listed keys.

    Every string field is scanned: content, keys, tags, names, and everything inside ``meta`` and ``context``.
    """
    candidate, settings = draft.candidate, context.policy.privacy
    refused = _refused_key(candidate, settings)
    if refused is not None:
        return refused
    found = scan_fields(candidate, settings)
    if found.denied:
        names = ", ".join(sorted(found.denied))
        return Rejection("privacy", "privacy_deny_sensitive", f"It holds {names}, which the policy denies. Remove it.")
    if found.redacted:
        changes = {name: redacted(getattr(candidate, name), settings) for name in found.fields}
        draft = draft.decide(
            "privacy:redacted",
            ", ".join(sorted(found.redacted)),
            candidate=candidate.model_copy(update=changes),
        )
    return draft.decide("privacy:clean" if not found.redacted else "privacy:nothing_denied")


class Found:
    """What a scan came across: the types that are denied, those to redact, and the fields they stood in."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        self.redacted: set[str] = set()
        self.fields: list[str] = []


def scan_fields(candidate: Candidate, settings: Privacy) -> Found:
    """Scan every string of every field that the caller set."""
    found = Found()
    found.denied = {type for type in _under_its_name(candidate) if action(type, settings) == "deny"}
    for name in sorted(candidate.model_fields_set - _SKIPPED):
        actions = [
            (f.type, action(f.type, settings)) for s in strings(getattr(candidate, name)) for f in privacy.scan(s)
        ]
        found.denied |= {type for type, act in actions if act == "deny"}
        to_redact = {type for type, act in actions if act == "redact"}
        if to_redact:
            found.redacted |= to_redact
            found.fields.append(name)
    return found


def _under_its_name(candidate: Candidate) -> set[str]:
    """What the content is when read under its title or key: "hunter2" alone is nothing, under "password" it is one."""
    names = [candidate.key, candidate.title, candidate.canonical_key, candidate.topic_id]
    given = [name.replace("-", " ").replace("_", " ") for name in names if name is not None]
    return {hit.type for name in given for hit in privacy.scan(f"{name}: {candidate.content}")}


def action(type: str, settings: Privacy) -> str:
    """What the policy does with a type of sensitive data."""
    return settings.actions.get(type) or privacy.TYPES[type].default_action


def denied_types(value: Any, settings: Privacy) -> set[str]:
    """The types of sensitive data in a value that the policy does not let through as they are."""
    found = {hit.type for text in strings(value) for hit in privacy.scan(text)}
    return {type for type in found if action(type, settings) != "allow"}


def strings(value: Any) -> list[str]:
    """Every string inside a value; what stands under a key is read together with it, as ``password: hunter2`` is."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for key, inner in value.items() for s in (*_labelled(key, inner), *strings(inner))]
    if isinstance(value, list | tuple):
        return [s for inner in value for s in strings(inner)]
    if hasattr(value, "to_dict"):
        return strings(value.to_dict())
    return []


def _labelled(key: str, value: Any) -> list[str]:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return [f"{key}: {value}"] if plain else [key]


def redacted(value: Any, settings: Privacy) -> Any:
    """The same value with what is to be redacted replaced by ``[redacted:type]``, in whatever depth it stands."""
    if isinstance(value, str):
        hits = [f for f in privacy.scan(value) if action(f.type, settings) == "redact"]
        return privacy.redact(value, hits) if hits else value
    if isinstance(value, dict):
        return {redacted(key, settings): _redacted_under(key, inner, settings) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(inner, settings) for inner in value)
    if hasattr(value, "model_copy"):
        return value.model_copy(update={k: redacted(v, settings) for k, v in value.to_dict().items()})
    return value


def _redacted_under(key: str, value: Any, settings: Privacy) -> Any:
    if not isinstance(value, str):
        return redacted(value, settings)
    whole = redacted(f"{key}: {value}", settings)
    return whole.removeprefix(f"{key}: ") if whole.startswith(f"{key}: ") else redacted(value, settings)


def _refused_key(candidate: Candidate, settings: Privacy) -> Rejection | None:
    if candidate.kind is not Kind.PROFILE or settings.profile_keys is None or candidate.key in settings.profile_keys:
        return None
    return Rejection(
        "privacy",
        "privacy_profile_key_not_allowed",
        "The policy does not list this profile key. Add it to privacy.profile_keys, or use kind 'semantic'.",
    )
