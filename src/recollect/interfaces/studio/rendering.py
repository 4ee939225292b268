"""Make HTML of values. Whatever a memory holds becomes text: escaped, kept apart from the direction of what is around it, with
invisible characters named where they stand."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from recollect.interfaces.studio import drawing
from recollect.model.caller import short_name
from recollect.model.canonical import canonical_json
from recollect.model.rendering import CUT, one_line, revealed, visible_json
from recollect.model.vocabulary import MAY_UPDATE
from recollect.rules.plain_view import counted, memories, plain_lines
from recollect.rules.reasons import plain

BRIEF = 280
"""How many characters of a memory a list shows; its own page shows them all."""


BECAME = {
    "kept": "would stay, without the link or the name",
    "review": "would leave recall until somebody restores or erases it",
    "erased": "would be erased too",
}
LEFT_OUT = {
    "shadowed": "another memory of the same concept is told instead",
    "below_threshold": "it has less to do with the question than the threshold asks for",
    "not_sure": "it would be a guess: no memory has both whom the question names and what it asks of them",
    "beyond_top_k": "as many answers as were asked for are better",
    "no_room": "the budget of tokens, or the share of its category, was used up by better answers",
}
"""Why a query leaves out what it looked at."""
OUTDATED = {
    "stated": "somebody linked the two by hand",
    "contested_slot": "both state a value for the same thing",
    "announced_change": "the later one says that something changed which both name",
    "mentions_old_value": "the later one says that the old value has ended",
    "same_kind_of_value": "they are much alike and state different values of one kind",
    "near": "they mean something alike",
}
"""Why the later of two memories may have replaced the earlier one."""
PROPOSED = {
    "fact": "It would store this fact.",
    "insight": "It would store this insight.",
    "procedure": "It would store this procedure.",
    "same": "The two say the same: the better founded one would stay, and the other leave recall.",
    "update": "The later one would take the place of the earlier one.",
    "contradicts": "The two contradict each other: they would wait under Possibly outdated.",
}
"""What applying a proposal of a language model does."""


@cache
def environment() -> Environment:
    """Return the templates of Studio, with what they use to show values."""
    made = Environment(
        loader=PackageLoader("recollect.interfaces.studio"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "words": words,
        "brief": brief,
        "when": when,
        "day": lambda at: when(at, days_only=True),
        "why": plain,
        "short": short,
        "who": lambda actor: brief(short_name(actor) if actor else "somebody whose name was erased", 60),
        "label": label,
        "json": as_json,
        "setting": setting,
        "plain_view": plain_view,
        "number": lambda number: f"{number:,}",
        "size": size,
        "became": BECAME.get,
        "left_out": lambda reason: LEFT_OUT.get(reason, label(reason)),
        "outdated": lambda reason: OUTDATED.get(reason, label(reason)),
        "proposed": lambda action: PROPOSED.get(action, label(action)),
        "related": lambda kind: "the later may replace the earlier" if kind == MAY_UPDATE else label(kind),
        "moment": lambda text: brief(f"tick {text}" if text.isdecimal() else text, 40),
        "visible": lambda text: one_line(text, 60),
    }
    made.globals |= {
        "counted": counted,
        "memories_counted": memories,
        "noun": lambda number, one, many=None: counted(number, one, many).partition(" ")[2],
        "drawing": drawing,
        "query_of": query_of,
        "path_of": path_of,
    }
    return made


def words(text: Any) -> Markup:
    """Show somebody's words: as text of their own direction, every invisible character by its name."""
    return Markup("<bdi>{}</bdi>").format(_reveal(str(text)))


def brief(text: Any, most: int = BRIEF) -> Markup:
    """Show the beginning of somebody's words."""
    said = str(text)
    return words(said if len(said) <= most else said[: most - 1].rstrip() + CUT)


def _reveal(text: str) -> Markup:
    hidden = Markup('<span class="hidden-character">{}</span>')
    return Markup("").join(hidden.format(part) if is_hidden else escape(part) for is_hidden, part in revealed(text))


def when(at: datetime | str | None, *, days_only: bool = False) -> Markup:
    """Show a moment to the minute, in UTC, with the exact time in its title."""
    if at is None:
        return Markup("–")
    exact = at.isoformat() if isinstance(at, datetime) else at
    shown = exact[:10] if days_only else exact[:16].replace("T", " ")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(exact, exact[:19].replace("T", " "), shown)


def short(id: str) -> str:
    """Return the twelve digits by which people know a memory."""
    return id.replace("-", "")[:12]


def label(word: Any) -> str:
    """Return a word of the vocabulary as people read it."""
    return str(word).replace("_", " ")


def as_json(value: Any) -> Markup:
    """Show a value as a JSON document, in which nothing hides."""
    text = json.dumps(json.loads(canonical_json(value)), ensure_ascii=False, indent=2, sort_keys=True)
    return words(visible_json(text))


def setting(value: Any) -> str:
    """Return the value of a setting as a policy file may have it.

    >>> setting(None), setting("normal"), setting(["test", "e2e"])
    ('null', 'normal', '["test", "e2e"]')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def plain_view(value: Mapping[str, Any]) -> Markup:
    """Show an object in the Plain view: one ``key: value`` a line, without brackets."""
    return words("\n".join(plain_lines(json.loads(canonical_json(value)))))


def size(number: int) -> str:
    """Return a number of bytes as people read it.

    >>> size(512), size(2_500_000)
    ('512 B', '2.4 MB')
    """
    amount, unit = float(number), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if amount < 1024 or unit == "TB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def query_of(values: Mapping[str, Any], **changes: Any) -> str:
    """Return the query of an address with these values, of which some change; what is empty is left out."""
    kept = {name: value for name, value in {**values, **changes}.items() if value not in (None, "", False)}
    return f"?{urlencode(kept)}" if kept else "?"


def path_of(text: Any) -> str:
    """Return a text as one part of an address."""
    return quote(str(text), safe="")
