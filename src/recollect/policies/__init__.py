"""The presets, and loading a policy from a file.

Each preset is a YAML file in this folder that overrides the defaults of ``recollect.model.policy``.
"""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from recollect.model.errors import BadPolicy
from recollect.model.policy import Policy, parse_policy
from recollect.rules import privacy

PRESETS = ("default", "v4", "governed", "vault", "assistant", "entry", "store")


def load_policy(source: str | Path | dict[str, Any] | Policy | None = None) -> Policy:
    """Return a policy from a preset's name, a YAML file, plain values, or nothing at all (``default``)."""
    if isinstance(source, Policy):
        return source
    if source is None:
        return _check_types(_read_preset("default"))
    if isinstance(source, dict):
        return _check_types(_merge_preset(source))
    if not isinstance(source, str | Path):
        raise BadPolicy(
            "must be a preset's name, a YAML file, or a dict of settings.",
            field="policy",
            hint=f"Such as one of: {', '.join(PRESETS)}.",
        )
    if str(source) in PRESETS:
        return _check_types(_read_preset(str(source)))
    return _check_types(_merge_preset(_read_file(Path(source))))


def change_policy(policy: Policy, changes: Mapping[str, Any]) -> Policy:
    """Return a policy with some of its settings changed: ``{"write": {"policy": "minimal"}}``."""
    return _check_types(_overlay(policy.to_dict(), _move_allowlists(dict(changes))))


def _read_file(path: Path) -> dict[str, Any]:
    import yaml  # takes 15 ms

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise BadPolicy(
            "is nested too deeply.",
            field=str(path),
            hint="No setting is nested deeper than a few levels; see docs/policy.md.",
        ) from None
    except OSError as error:
        raise BadPolicy(
            f"cannot read it ({error.strerror}).", field=str(path), hint=f"Name a file or one of: {', '.join(PRESETS)}."
        ) from error
    except (yaml.YAMLError, ValueError, LookupError, AttributeError) as error:
        raise BadPolicy(f"is not YAML: {error}", field=str(path), hint="See docs/policy.md for an example.") from error
    if not isinstance(data, dict):
        raise BadPolicy("must be a mapping of settings.", field=str(path), hint="See docs/policy.md for an example.")
    return data


def _read_preset(name: str) -> dict[str, Any]:
    if name not in PRESETS:
        raise BadPolicy(f"there is no preset {name!r}.", field="preset", hint=f"Known: {', '.join(PRESETS)}.")
    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    if all(line.startswith("#") for line in text.splitlines()):
        return {"preset": name}
    import yaml  # takes 15 ms, and the default policy is comments alone

    return {"preset": name, **yaml.safe_load(text)}


def _merge_preset(overrides: dict[str, Any]) -> dict[str, Any]:
    return _overlay(_read_preset(str(overrides.get("preset", "default"))), _move_allowlists(overrides))


def _move_allowlists(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with ``allowlists`` moved from the top, where it may stand, into ``agents``."""
    agents = settings.get("agents") or {}
    if "allowlists" not in settings or not isinstance(agents, dict):
        return settings
    if "allowlists" in agents:
        raise BadPolicy(
            "is there twice: by itself, and in agents.",
            field="allowlists",
            hint="Keep one of them; they are one setting.",
        )
    rest = {name: value for name, value in settings.items() if name != "allowlists"}
    return {**rest, "agents": {**agents, "allowlists": settings["allowlists"]}}


def _overlay(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        inner = merged.get(key)
        both = isinstance(value, dict) and isinstance(inner, dict)
        merged[key] = _overlay(inner, value) if both and isinstance(inner, dict) else value
    return merged


def _check_types(data: dict[str, Any]) -> Policy:
    policy = parse_policy(data)
    for name in policy.privacy.actions:
        if name not in privacy.TYPES:
            raise BadPolicy(
                f"there is no type {name!r} of sensitive data.",
                field=f"privacy.actions.{name}",
                hint=f"Known: {', '.join(privacy.TYPES)}.",
            )
    return policy
