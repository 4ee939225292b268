"""Pages about what was: what was believed at a moment, and what was traced."""

from recollect.interfaces.studio.visits import Page, Visit
from recollect.model.errors import NotFound
from recollect.model.receipt import StreamInfo
from recollect.model.trace import TraceType

PER_PAGE = 50
MOST_STREAMS = 500
"""How many streams the page on time offers; any other can be named in the address."""


def time(visit: Visit) -> Page:
    """What one stream held at a moment, and what changed between two moments."""
    streams = [one for one in visit.memory.streams() if one.namespace == "prod"]
    chosen = _chosen(visit, streams)
    if chosen is None:
        return Page("time.html", {"streams": (), "chosen": None})
    where = {"owner": chosen.owner, "space": chosen.space}
    until = visit.text("at") or visit.text("until") or str(chosen.tick)
    since = visit.text("from") or visit.text("since") or str(max(0, chosen.tick - 1))
    phases = visit.memory.phases(**where)  # type: ignore[arg-type]
    point = (
        {"phase": until}
        if until.startswith("phase-")
        else {"tick": int(until)}
        if until.isdecimal()
        else {"time": until}
    )
    then = visit.memory.as_of(**point, **where).list(limit=PER_PAGE, cursor=visit.text("cursor"))  # type: ignore[arg-type]
    return Page(
        "time.html",
        {
            "streams": streams[:MOST_STREAMS],
            "chosen": chosen,
            "since": since,
            "until": until,
            "phases": phases,
            "then": then,
            "difference": visit.memory.difference(since, until, **where),  # type: ignore[arg-type]
        },
    )


def _chosen(visit: Visit, streams: list[StreamInfo]) -> StreamInfo | None:
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
    """The governance events that policy kept, newest first."""
    given = {name: visit.text(name) for name in ("type", "session", "memory", "cursor")}
    page = visit.memory.traces(**given, latest=True, limit=PER_PAGE)  # type: ignore[arg-type]
    kept = visit.memory.policy().traces.keep
    return Page("traces.html", {"given": given, "page": page, "types": TraceType, "kept": kept})


def trace(visit: Visit) -> Page:
    """One event, as JSON and in the Plain view."""
    number = int(visit.place["number"])
    found = visit.memory.traces(number=number)
    if not found.items:
        raise NotFound(f"there is no event {number}.", field="number", hint="The list has those that were kept.")
    return Page("trace.html", {"event": found.items[0], "view": visit.text("view") or "plain"})


def turn(visit: Visit) -> Page:
    """One turn as a story: what was recalled, from which spaces, what was written, what was refused."""
    told = visit.memory.explain(number=int(visit.place["number"]))
    return Page("turn.html", {"told": told, "events": told.events})
