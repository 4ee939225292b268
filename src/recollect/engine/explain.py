"""Why a memory is as it is, in plain English: the gates it passed, the rule that decided, the chain around it."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.engine.context import MENDING, Engine, find
from recollect.engine.reading import chain_of, current, history
from recollect.model.canonical import parse_time
from recollect.model.moment import validity_words
from recollect.model.principals import names_shown
from recollect.model.receipt import Explanation, HistoryEvent
from recollect.model.rendering import one_line
from recollect.model.state import State
from recollect.model.vocabulary import SHARED
from recollect.rules.draft import Decision
from recollect.rules.reasons import plain
from recollect.stores.protocol import Stored


def explain(engine: Engine, id: str) -> Explanation:
    """The story of one memory. What was erased is told without its content."""
    with engine.read() as reader:
        (stored,) = current(engine, reader, [find(engine, reader, id, damaged=True)])
        links = chain_of(engine, reader, stored.state.id)
    events = history(engine, stored.state.id)
    decided = stored.body["decisions"] if stored.body is not None else ()
    decisions = tuple(Decision.unpacked(one).to_dict() for one in decided)
    chain = tuple(_link(link) for link in links)
    around = [*_rejected(events), *_around(stored, links), *_happened(events)]
    text = "\n".join([*_opening(stored), *_gates(decisions), *around])
    return Explanation(stored.state.id, text, decisions, chain, events)


def _opening(stored: Stored) -> list[str]:
    state, body = stored.state, stored.body
    if stored.damage is not None:
        return [f"Memory {state.id}: {stored.damage.what}. {MENDING.format(id=state.id)}"]
    if body is None:
        return [f"Memory {state.id}: its content was {state.removed}; only its place in the chain is left."]
    seen = "everyone there" if body["scope"] == SHARED else f"{one_line(body['scope'])} alone"
    return [
        f"Memory {state.id}",
        f"  says       {one_line(body['content'])}",
        f"  is         {state.status}, version {state.version} of {state.canonical_key}",
        f"  stored in  {body['namespace']} / {body['space']} / {one_line(body['owner'])}, visible to {seen}",
        f"  source     {one_line(body['author']['name'])} ({body['source']}), authority: {body['authority']}",
        *([f"  holds      {words}"] if (words := _holds(state)) else []),
    ]


def _holds(state: State) -> str:
    start, end = (parse_time(one) if one else None for one in (state.valid_from, state.valid_until))
    return validity_words(start, end)


def _gates(decisions: Sequence[Mapping[str, str]]) -> list[str]:
    lines = ["", "How it was decided:"] if decisions else []
    for decision in decisions:
        detail = f" ({one_line(decision['detail'])})" if decision["detail"] else ""
        lines.append(f"  {decision['gate']:<13}{plain(decision['rule'])}{detail}")
    return lines


def _rejected(events: Sequence[HistoryEvent]) -> list[str]:
    """Say that the value of a memory is rejected, and how that ends."""
    told = [event for event in events if event.meta["operation"] in ("rejected", "lifted")]
    if not told or told[-1].meta["operation"] == "lifted":
        return []
    rejection = str(told[-1].meta["rejection"])
    return [
        "",
        f"Its value is rejected (rejection {rejection}): it was never true, so nobody else can store it again.",
        f"That ends when the person says it again, or with `lift {rejection[:13]}`.",
    ]


def _around(stored: Stored, links: Sequence[Stored]) -> list[str]:
    lines = ["", "The versions of this concept:"]
    for link in links:
        mark = "→" if link.state.id == stored.state.id else " "
        words = one_line(link.body["content"]) if link.body is not None else f"[{_why_gone(link)}]"
        lines.append(f"  {mark} v{link.state.version} {link.state.id[:13]} {link.state.status}: {words}")
    for name, ids in (("In conflict with", stored.state.conflict_ids), ("Related to", stored.state.related_memory_ids)):
        lines += [f"{name}: {', '.join(id[:13] for id in ids)}"] if ids else []
    return lines


def _why_gone(link: Stored) -> str:
    return link.damage.what if link.damage is not None else str(link.state.removed)


def _happened(events: Sequence[HistoryEvent]) -> list[str]:
    lines = ["", "What happened to it:"]
    shown = names_shown({event.actor for event in events if event.actor})
    for event in events:
        who = one_line(shown.get(event.actor or "", "")) or "someone whose name was erased"
        lines.append(
            f"  {event.at[:19]}  {event.event:<8}{event.meta['operation']} by {who}: {plain(event.meta['rule'])}"
        )
    return lines


def _link(link: Stored) -> dict[str, Any]:
    return {"id": link.state.id, "version": link.state.version, "status": str(link.state.removed or link.state.status)}
