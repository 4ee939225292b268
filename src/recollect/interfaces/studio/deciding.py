"""The queues that wait for a person, and every change that a page offers."""

from collections.abc import Callable
from typing import Any, NamedTuple

from recollect.interfaces.python import Recollect
from recollect.interfaces.studio.reading import find_memory
from recollect.interfaces.studio.visits import Goto, Page, Visit, split_address
from recollect.model.caller import Right
from recollect.model.errors import NotFound
from recollect.model.receipt import OutdatedPair

MOST_SHOWN = 50
MOST_RUNS = 20
CONTRADICTS = "contradicts"


def conflicts(visit: Visit) -> Page:
    """Show contradictions that wait: both sides, and why the rule did not let the newcomer win."""
    pairs = [one for one in visit.memory.outdated(conflicts=True, limit=MOST_SHOWN) if one.reason == CONTRADICTS]
    cards = [_read_sides(visit.memory, pair) for pair in pairs]
    decisions = {
        id: [one for one in visit.memory.explain(id).decisions if one["gate"] in ("identity", "conflict", "change")]
        for id in (card["later"].id for card in cards)
    }
    return Page("conflicts.html", {"cards": cards, "allowed": _list_permitted(visit, cards), "decisions": decisions})


def _list_permitted(visit: Visit, cards: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return what the person may do to each side of the cards."""
    ids = {one.id for card in cards for one in (card["earlier"], card["later"]) if one is not None}
    return visit.memory.permitted(sorted(ids))


def _read_sides(memory: Recollect, pair: OutdatedPair) -> dict[str, Any]:
    earlier = find_memory(memory, pair.earlier.id) if pair.earlier is not None else None
    return {"pair": pair, "earlier": earlier, "later": find_memory(memory, pair.later.id)}


def outdated(visit: Visit) -> Page:
    """Show pairs of which the later one may have replaced the earlier one."""
    cards = [_read_sides(visit.memory, pair) for pair in visit.memory.outdated(limit=MOST_SHOWN)]
    return Page("outdated.html", {"cards": cards, "allowed": _list_permitted(visit, cards)})


def rejections(visit: Visit) -> Page:
    """Show values that were rejected as never true."""
    return Page("rejections.html", {"values": visit.memory.rejections()})


def consent(visit: Visit) -> Page:
    """Show proposed profile fields, with the memories that they were taken from."""
    proposals = visit.memory.consent()
    evidence = {one.id: _find_evidence(visit.memory, one.id) for one in proposals}
    allowed = visit.memory.permitted([one.id for one in proposals])
    return Page("consent.html", {"proposals": proposals, "evidence": evidence, "allowed": allowed})


def _find_evidence(memory: Recollect, id: str) -> list[Any]:
    """Return the memories that a proposal was taken from and that the person may see."""
    proposed = find_memory(memory, id)
    named = proposed.meta.get("source_turn_ids", ()) if proposed is not None else ()
    return [found for one in named if (found := find_memory(memory, str(one))) is not None]


def proposals(visit: Visit) -> Page:
    """Show what a language model proposes, with the check of each quoted span; and its runs, to operators."""
    waiting = visit.memory.proposals()[:MOST_SHOWN]
    named = {id for one in waiting for id in (*one.sources, *(found.source_id for found in one.evidence))}
    sources = {id: found for id in sorted(named) if (found := find_memory(visit.memory, id)) is not None}
    allowed = visit.memory.permitted(list(sources))
    runs = visit.memory.runs(limit=MOST_RUNS).items if visit.may(Right.OPERATE) else ()
    # Who may reject all sources of a proposal, or lift their rejection, may apply or decline it.
    rejectable = {id for id, operations in allowed.items() if {"reject", "lift"} & set(operations)}
    of_rejectable = {one.id for one in waiting if rejectable.issuperset(one.sources)}
    decidable = set() if visit.memory.caller.is_an_agent else of_rejectable
    shown = {"waiting": waiting, "sources": sources, "decidable": decidable, "runs": runs}
    return Page("proposals.html", shown)


def run(visit: Visit) -> Page:
    """Show one run of a language model: what it took, and what became of each proposal."""
    return Page("run.html", {"run": visit.memory.run(visit.place["id"])})


class Operation(NamedTuple):
    """The method that a button calls, the sentence that says that it was done, and its arguments besides the id."""

    method: str
    done: str
    read_arguments: Callable[[Visit], dict[str, Any]] = lambda visit: {}


def _read_tags(visit: Visit) -> list[str]:
    return [tag for one in visit.asked.get("tags", "").split(",") if (tag := one.strip())]


def _read_reason(visit: Visit) -> dict[str, Any]:
    return {"reason": visit.text("reason")}


OPERATIONS = {
    "pin": Operation("edit", "Pinned.", lambda visit: {"pinned": True}),
    "unpin": Operation("edit", "No longer pinned.", lambda visit: {"pinned": False}),
    "tags": Operation("edit", "The tags are changed.", lambda visit: {"tags": _read_tags(visit)}),
    "archive": Operation("archive", "Archived: out of recall, kept for the record."),
    "forget": Operation("forget", "Forgotten. Restore brings it back until its purge date."),
    "restore": Operation("restore", "Restored."),
    "reject": Operation("reject", "Rejected: its value is refused from now on.", _read_reason),
    "lift": Operation("lift", "Lifted: the value may be stored again."),
    "resolve": Operation("resolve", "Decided.", lambda visit: {"winner": visit.asked.get("winner", "")}),
    "grant": Operation("grant", "Consent is given."),
    "decline": Operation("decline", "Declined, and its value rejected.", _read_reason),
    "apply": Operation("apply_proposal", "Applied."),
    "dismiss": Operation("decline_proposal", "Declined.", _read_reason),
    "undo": Operation("undo", "The run is undone."),
    "vouch": Operation("vouch", "You vouch for it."),
}


def do(visit: Visit) -> Goto:
    """Carry out what a button asks for, and go back to where it stood."""
    operation = OPERATIONS.get(visit.place["operation"])
    if operation is None:
        raise NotFound("there is no such operation.")
    getattr(visit.memory, operation.method)(visit.asked.get("id", ""), **operation.read_arguments(visit))
    visit.session.tell(operation.done)
    return Goto(next_page(visit))


def next_page(visit: Visit) -> str:
    """Return the page of Studio that a form names to go on with; home for anything else."""
    given = split_address(visit.asked.get("next", "/"))
    is_ours = given.path.startswith("/") and not given.path.startswith("//") and not given.netloc and not given.scheme
    return given.path + (f"?{given.query}" if given.query else "") if is_ours else "/"
