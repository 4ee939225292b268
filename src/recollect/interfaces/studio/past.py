"""Pages about what was: what was believed at a moment, and what was traced."""

from datetime import date, timedelta
from itertools import pairwise
from typing import Any

from recollect.interfaces.studio.visits import Page, Visit
from recollect.model.errors import NotFound
from recollect.model.receipt import StreamInfo
from recollect.model.trace import TraceType

PER_PAGE = 50
MOST_STREAMS = 500
"""How many streams the page on time offers; any other can be named in the address."""
CHANGES_PER_PAGE = 100
"""How many memories that may have changed are compared on one page."""


def time(visit: Visit) -> Page:
    """Show what one stream held at a moment, and what changed between two moments."""
    streams = [one for one in visit.memory.streams() if one.namespace == "prod"]
    chosen = _choose_stream(visit, streams)
    if chosen is None:
        return Page("time.html", {"streams": (), "chosen": None})
    where: dict[str, Any] = {"owner": chosen.owner, "space": chosen.space}
    by = "day" if visit.text("by") == "day" or not chosen.tick else "tick"
    since = visit.text("from") or (chosen.last_at[:10] if by == "day" else str(max(0, chosen.tick - 1)))
    until = visit.text("at") or (_day_after(chosen.last_at) if by == "day" else str(chosen.tick))
    then = visit.memory.as_of(**_parse_point(until), **where).list(limit=PER_PAGE, cursor=visit.text("cursor"))
    phases = visit.memory.phases(**where)
    ends = {one.phase_id: after.phase_started_at - 1 for one, after in pairwise(phases)}
    changes = visit.text("changes")
    difference = visit.memory.difference(since, until, limit=CHANGES_PER_PAGE, cursor=changes, **where)
    return Page(
        "time.html",
        {
            "streams": streams[:MOST_STREAMS],
            "chosen": chosen,
            "place": f"{chosen.space}/{chosen.owner}",
            "by": by,
            "since": since,
            "until": until,
            "slide": _place_sliders(chosen, by, since, until, ends),
            "phases": phases,
            "then": then,
            "difference": difference,
            "changes": changes,
        },
    )


def _parse_point(text: str) -> dict[str, Any]:
    if text.isdecimal():
        return {"tick": int(text)}
    return {"phase": text} if text.startswith("phase-") else {"time": text}


def _day_after(at: str) -> str:
    return str(date.fromisoformat(at[:10]) + timedelta(days=1))


def _place_sliders(chosen: StreamInfo, by: str, since: str, until: str, ends: dict[str, int]) -> dict[str, Any]:
    """Return where the sliders begin, end and stand: in ticks, or in days since the first write.

    ``ends`` are the last ticks of phases.
    """
    if by == "tick":
        places = [int(one) if one.isdecimal() else ends.get(one, chosen.tick) for one in (since, until)]
        return {
            "first": "",
            "most": chosen.tick,
            "last": f"tick {chosen.tick:,}",
            "since": places[0],
            "until": places[1],
        }
    first = date.fromisoformat(chosen.began_at[:10])
    most = (date.fromisoformat(_day_after(chosen.last_at)) - first).days
    days = [_days_since(first, one, most) for one in (since, until)]
    return {"first": str(first), "most": most, "last": _day_after(chosen.last_at), "since": days[0], "until": days[1]}


def _days_since(first: date, text: str, otherwise: int) -> int:
    try:
        return (date.fromisoformat(text[:10]) - first).days
    except ValueError:
        return otherwise


def _choose_stream(visit: Visit, streams: list[StreamInfo]) -> StreamInfo | None:
    """Return the stream that is looked at: the one that is named, else the first person's, else the first."""
    named = visit.text("stream")
    if named is not None:
        space, _, owner = named.partition("/")
        found = [one for one in streams if (one.space, one.owner) == (space, owner)]
        if not found:
            raise NotFound(f"there is no stream {named!r:.80}.", field="stream", hint="Choose one of the list.")
        return found[0]
    return next((one for one in streams if one.space == "user"), streams[0] if streams else None)


def traces(visit: Visit) -> Page:
    """List the governance events that policy kept, newest first."""
    given = {name: visit.text(name) for name in ("type", "session", "memory", "cursor")}
    page = visit.memory.traces(**given, latest=True, limit=PER_PAGE)  # type: ignore[arg-type]
    kept = visit.memory.policy().traces.keep
    return Page("traces.html", {"given": given, "page": page, "types": TraceType, "kept": kept})


def trace(visit: Visit) -> Page:
    """Show one event, as JSON and in the Plain view."""
    number = int(visit.place["number"])
    found = visit.memory.traces(number=number)
    if not found.items:
        raise NotFound(f"there is no event {number}.", field="number", hint="The list has those that were kept.")
    return Page("trace.html", {"event": found.items[0], "view": visit.text("view") or "plain"})


def turn(visit: Visit) -> Page:
    """Show one turn as a story: what was recalled, from which spaces, what was written, what was refused."""
    explanation = visit.memory.explain(number=int(visit.place["number"]))
    return Page("turn.html", {"told": explanation, "events": explanation.events})
