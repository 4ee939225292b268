"""Pages to look at: home, memories, one memory, and what a prompt got."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from recollect.embed.static import count_tokens
from recollect.interfaces.python import Recollect
from recollect.interfaces.studio import drawing
from recollect.interfaces.studio.visits import Page, Visit
from recollect.model.caller import Right
from recollect.model.errors import NotAllowed, NotFound, RecollectError
from recollect.model.record import Memory, Tombstone
from recollect.model.vocabulary import Kind, Namespace, Space, Status

PER_PAGE = 25
ANSWERS, MOST_ANSWERS = 10, 100
MAX_BUDGET = 1_000_000
RECENT = 12
MOST_WAITING = 100
DAYS = 30


def home(visit: Visit) -> Page:
    """Show what changed, what waits, how the store is, and how it grows."""
    memory = visit.memory
    stats, growth = memory.stats(), memory.growth(DAYS)
    today = growth[-1].day
    done = _count_changes(memory, today)
    queues = {
        "conflicts": stats["by_status"].get("contradictory", 0),
        "outdated": len(memory.outdated(limit=MOST_WAITING)),
        "consent": len(memory.consent()),
        "proposals": len(memory.proposals()),
        "rejections": len(memory.rejections()),
    }
    operates = visit.may(Right.OPERATE)
    checkpoints = memory.checkpoints() if operates else ()
    return Page(
        "home.html",
        {
            "stats": stats,
            "growth": growth,
            "bars": drawing.growth_bars(growth),
            "done": done,
            "recent": memory.list(limit=RECENT, status=None).items,
            "queues": queues,
            "checkpoint": checkpoints[-1] if checkpoints else None,
            "uncovered": memory.uncovered_entries() if operates else None,
            "verifying": visit.session.verifying,
        },
    )


DONE = {
    "create": "written",
    "update": "updated",
    "merge": "merged",
    "delete": "forgotten or erased",
    "link": "linked to others",
    "ttl": "expired",
}
ENDED = {"ok": "", "error": ", failed", "skipped": ", refused"}


def _count_changes(memory: Recollect, day: str) -> dict[str, int]:
    """Return how often memories were changed on a day, by what was done and how it ended."""
    counts: Counter[str] = Counter()
    for one in memory.ops(by="day", since=day):
        if one.op in DONE:
            counts[DONE[one.op] + ENDED[one.status]] += one.count
    return dict(counts)


LIMITS = ("threshold", "top_k", "budget")
FILTERS = ("owner", "space", "namespace", "status", "kind", "category", "tag", "author", "pinned")


def memories(visit: Visit) -> Page:
    """Search as ``query`` does it, or a list, with the same filters."""
    given = {name: visit.text(name) for name in (*FILTERS, "q", "cursor", *LIMITS)}
    shared: dict[str, Any] = {
        "given": given,
        "choices": {"space": Space, "namespace": Namespace, "status": Status, "kind": Kind},
        "recall": None,
        "page": None,
        "bars": {},
    }
    if given["q"] is not None:
        recall = _query(visit, given)
        best = max((one.score for one in recall.items), default=0.0)
        bars = {one.memory.id: drawing.score_bar(one.breakdown, best) for one in recall.items}
        shared |= {"recall": recall, "bars": bars}
        shown = [one.memory for one in recall.items]
        shared["refused"] = [e for e in recall.events if e["type"] == "memory_border_check" and not e["allowed"]]
    else:
        shared["page"] = page = visit.memory.list(
            limit=PER_PAGE, cursor=given["cursor"], **_read_place(given), **_read_filters(given)
        )
        shown = list(page.items)
    return Page("memories.html", {**shared, "permitted": visit.memory.permitted([one.id for one in shown])})


def _query(visit: Visit, given: Mapping[str, str | None]) -> Any:
    where, filters = _read_place(given), _read_filters(given)
    where.pop("status")
    threshold = given["threshold"]
    budget = visit.number("budget", 0, 1, MAX_BUDGET)
    return visit.memory.query(
        given["q"] or "",
        **where,
        filters=filters,  # type: ignore[arg-type]
        threshold=int(threshold) / 100 if threshold and threshold.isdecimal() and int(threshold) <= 100 else None,
        top_k=visit.number("top_k", ANSWERS, 1, MOST_ANSWERS),
        budget_tokens=budget or None,
        left_out=True,
    )


def _read_place(given: Mapping[str, str | None]) -> dict[str, Any]:
    status = given["status"] or "active"
    return {
        "owner": given["owner"],
        "space": given["space"],
        "include_namespaces": [given["namespace"]] if given["namespace"] else ["prod"],
        "status": None if status == "any" else status,
    }


def _read_filters(given: Mapping[str, str | None]) -> dict[str, Any]:
    found = {name: given[name] for name in ("kind", "category", "author") if given[name]}
    return found | ({"tags": [given["tag"]]} if given["tag"] else {}) | ({"pinned": True} if given["pinned"] else {})


def memory(visit: Visit) -> Page:
    """Show one memory: its content and fields, how it was decided, its versions, and its relations to others."""
    mem, id = visit.memory, visit.place["id"]
    explanation = mem.explain(id)
    chain = mem.chain(explanation.id)
    one = next(link for link in chain if link.id == explanation.id)
    if isinstance(one, Tombstone):
        return Page("tombstone.html", {"one": one, "told": explanation, "chain": chain})
    ancestors, descendants = mem.ancestors(one.id), mem.descendants(one.id)
    allowed = mem.permitted([one.id])[one.id]
    return Page(
        "memory.html",
        {
            "one": one,
            "told": explanation,
            "versions": _compare_versions(chain),
            "related": mem.related(one.id),
            "vouching": mem.vouchers(one.id),
            "credit": mem.credit(one.id),
            "ancestors": ancestors,
            "descendants": descendants,
            "graph": drawing.provenance_graph(ancestors, descendants),
            "allowed": allowed,
            "preview": mem.preview_erasure(id=one.id) if "erase" in allowed and visit.text("would_go") else None,
        },
    )


def _compare_versions(chain: tuple[Memory | Tombstone, ...]) -> list[tuple[Memory | Tombstone, list[drawing.Piece]]]:
    """Return each version, newest first, with what it says compared with the version before it."""
    compared: list[tuple[Memory | Tombstone, list[drawing.Piece]]] = []
    for place, link in enumerate(chain):
        before = chain[place - 1] if place else None
        if isinstance(link, Memory) and isinstance(before, Memory):
            compared.append((link, drawing.word_diff(before.content, link.content)))
        else:
            compared.append((link, [drawing.Piece("same", link.content)] if isinstance(link, Memory) else []))
    return compared[::-1]


def find_memory(memory: Recollect, id: str) -> Memory | None:
    """Return a memory as it stands, without counting that as a use of it; nothing if it cannot be seen or is gone."""
    try:
        found = next(link for link in memory.chain(id) if link.id == id)
    except NotFound:
        return None
    return found if isinstance(found, Memory) else None


def prompt(visit: Visit) -> Page:
    """Show the exact block that a past recall got, or build those that a prompt gets for a text now, each with its tokens."""
    if visit.text("event") is not None:
        return _past_prompt(visit)
    text, owner, agent = visit.text("text"), visit.text("owner"), visit.text("agent")
    settings = visit.memory.policy().injection
    budget = visit.number("budget", settings.budget_tokens, 1, MAX_BUDGET)
    blocks: list[dict[str, Any]] = []
    fault = None
    try:
        always = visit.memory.snapshot_block(owner=owner, agent=agent, budget_tokens=budget)
        blocks.append({"name": "Always remembered", "call": "snapshot_block", "block": always})
        if text is not None:
            about = visit.memory.memory_block(text, owner=owner, agent=agent, budget_tokens=budget, besides=always)
            blocks.append({"name": "Remembered about this text", "call": "memory_block", "block": about})
            answer = visit.memory.query(text, owner=owner, agent=agent, budget_tokens=budget)
            shown = {"text": answer.text, "tokens": count_tokens(answer.text), "items": answer.items}
            shown |= {"left_out": (), "beyond": answer.no_room}
            blocks.append({"name": "As a query answers it", "call": "query", "block": shown})
    except RecollectError as error:
        fault = str(error)
    asked = {"text": text, "owner": owner, "agent": agent}
    recent = (
        visit.memory.traces(type="memory_recall", latest=True, limit=RECENT).items if visit.may(Right.GOVERN) else ()
    )
    shown = {"asked": asked, "budget": budget, "blocks": blocks, "fault": fault}
    return Page("prompt.html", {**shown, "recent": [one for one in reversed(recent) if "block" in one], "event": None})


def _past_prompt(visit: Visit) -> Page:
    """Show the block that the event of a recall kept, to the letter."""
    if not visit.may(Right.GOVERN):
        raise NotAllowed("past prompts are not for you.", hint=f"It takes the right {Right.GOVERN.value!r}.")
    number = visit.number("event", 0, 0, 10**9)
    event = next(iter(visit.memory.traces(number=number).items), None)
    if event is None or event["type"] != "memory_recall":
        hint = "Its block went with what was erased since, or the policy keeps events no longer than this."
        raise NotFound(f"no recall is kept as event {number}.", field="event", hint=hint)
    asked = {"text": event["query"], "owner": None, "agent": None}
    shown = {"asked": asked, "budget": visit.memory.policy().injection.budget_tokens, "blocks": [], "fault": None}
    return Page("prompt.html", {**shown, "recent": (), "event": event})
