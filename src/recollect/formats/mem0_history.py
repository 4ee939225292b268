"""mem0's history as versions: what a memory said before stands behind what it says now.

A model rewrites mem0's memories, and may make one about something else. Where the rules are sure what the last wording is
about, only the wordings before it that are about the same become its earlier versions, under the name of that concept; what
it said before that is kept with it as it was told. Else all of them do, under a name that nothing else has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from recollect.formats.fields import said_at, text_of, without_empty
from recollect.formats.protocol import ORIGIN, Foreign
from recollect.rules.identity.keys import fallback_key, read_key
from recollect.rules.language.text import fingerprint
from recollect.rules.statements import read_statement

Change = Mapping[str, Any]
"""A row of mem0's history: the event, the old and the new words, and when."""


class Wording(NamedTuple):
    """What a memory said once, and since when."""

    text: str
    since: Any


def versions(last: Foreign, changes: Sequence[Change]) -> list[Foreign]:
    """A record with its earlier wordings before it, the oldest first, all under one name; alone if it has none."""
    said = last.fields.get("content")
    earlier = _earlier(changes, said) if isinstance(said, str) else []
    if not earlier or last.refused is not None or last.skipped is not None:
        return [last]
    about = _subject(str(said))
    alike = list(takewhile(lambda one: about in (None, _subject(one.text)), reversed(earlier)))[::-1]
    others = earlier[: len(earlier) - len(alike)]
    chain = [_before(last, one, number) for number, one in enumerate(alike, start=1)]
    return _under_one_name([*chain, _with_others(last, others)], about)


def _earlier(changes: Sequence[Change], said: str) -> list[Wording]:
    """What it said before, each wording once in a row, up to what it says now."""
    told = [Wording(one.get("new_memory", ""), one.get("updated_at") or one.get("created_at")) for one in changes]
    if changes:  # where the history does not go back to the beginning, its first change knows one wording more
        told.insert(0, Wording(changes[0].get("old_memory", ""), changes[0].get("created_at")))
    found = [next(same) for _, same in groupby(filter(lambda one: text_of(one.text), told), key=lambda one: one.text)]
    return found[:-1] if found and found[-1].text == said else found


def _subject(text: str) -> str | None:
    """Return the key of what a wording is about; None where the reader knows neither the attribute nor the verb."""
    frames = read_statement(_well_formed(text))
    sure = bool(frames) and (frames[0].single or frames[0].rule.startswith(("table:", "instruction")))
    key = read_key(frames) if sure else None
    return key.text if key else None


def _well_formed(text: str) -> str:
    """What has no UTF-8 is refused later; here it must not stop the reading."""
    return text.encode("utf-8", "replace").decode()


def _before(last: Foreign, wording: Wording, number: int) -> Foreign:
    """An earlier wording: whose it is, it shares with the last; the id is the last one's name alone."""
    came = last.fields["meta"][ORIGIN]
    kept = without_empty({"format": came["format"], "id": came.get("id"), "since": wording.since})
    fields = {name: value for name, value in last.fields.items() if name != "aliases"}
    fields |= {"content": wording.text, "meta": {ORIGIN: kept}, **said_at(wording.since)}
    place, id = f"{last.place}, wording {number}", f"{last.id}@{number}"
    return replace(last, place=place, fields=fields, id=id, earlier=True)


def _with_others(last: Foreign, others: Sequence[Wording]) -> Foreign:
    """What it said when it was about something else is kept in its origin."""
    if not others:
        return last
    told = [without_empty({"memory": one.text, "since": one.since}) for one in others]
    meta = last.fields["meta"]
    return replace(last, fields={**last.fields, "meta": {**meta, ORIGIN: {**meta[ORIGIN], "history": told}}})


def _under_one_name(chain: list[Foreign], about: str | None) -> list[Foreign]:
    """Each one updates the one before. A name of its own comes from the first wording, as if it had been added alone."""
    if len(chain) == 1:
        return chain
    chain = _in_time(chain)
    first_words = _well_formed(chain[0].fields["content"])
    name = about or fallback_key(fingerprint(first_words), shared=False).text
    first, *later = (replace(one, fields={**one.fields, "canonical_key": name}) for one in chain)
    return [first, *(replace(one, fields={**one.fields, "change": "update"}) for one in later)]


def _in_time(chain: list[Foreign]) -> list[Foreign]:
    """Return the wordings with times that do not contradict their order: none is later than the one that replaced it."""
    ordered: list[Foreign] = []
    until: str | None = None
    for one in reversed(chain):
        at = one.fields.get("created_at")
        until = min(at, until) if at is not None and until is not None else at or until
        ordered.append(replace(one, fields={**one.fields, **({"created_at": until} if until is not None else {})}))
    return ordered[::-1]
