"""The cases asked of a real store: every belief added through the gates, every part of an answer read by an operation.

The user is the owner, the domain the scope, the type the category. What holds everywhere is shared. Beliefs that
replaced one another are versions of one key; a question that is settled is archived.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import recollect
from precision.cases import QUESTION, UNIVERSAL, Belief, Case
from precision.scoring import Answer

TOP_K = 10
"""How many memories a question may bring up where the case sets no budget: more than any case wants."""


def answers_from_a_store(cases: Sequence[Case], **narrowing: Any) -> list[Answer]:
    """Every case, asked of a store that holds what is believed then; ``narrowing`` is passed on to ``query``."""
    answers = []
    for beliefs, asked in groupby(cases, key=lambda case: case.beliefs):
        with recollect.open(":memory:") as mem:
            ids = dict(_told(mem, beliefs))
            answers += [_answer(mem, ids, case, narrowing) for case in asked]
    return answers


def _told(mem: recollect.Recollect, beliefs: Sequence[Belief]) -> Iterator[tuple[str, str]]:
    """Tell a store all of them, the older versions first; the memory's id and the belief's, for each."""
    known = {belief.id: belief for belief in beliefs}
    for belief in sorted(beliefs, key=lambda one: -len(_successors(one, known))):
        last = [belief, *_successors(belief, known)][-1]
        before = [one for one in beliefs if one.replaced_by == belief.id and _place(one) == _place(belief)]
        receipt = mem.add(belief.content, change="update" if before else None, **_fields(belief, last))
        if receipt.memory is None or receipt.memory.content != belief.content:
            raise SystemExit(f"{belief.id} was not kept as it is: {', '.join(receipt.reasons)}")
        if belief.resolved:
            mem.archive(receipt.memory.id)
        yield receipt.memory.id, belief.id


def _successors(belief: Belief, known: Mapping[str, Belief]) -> list[Belief]:
    """What took its place, and what took the place of that, up to what holds now."""
    after = known.get(belief.replaced_by or "")
    return [after, *_successors(after, known)] if after is not None else []


def _place(belief: Belief) -> tuple[str, str]:
    return belief.user, belief.scope


def _fields(belief: Belief, last: Belief) -> dict[str, Any]:
    return {
        "owner": belief.user,
        "scope": "shared" if belief.scope == UNIVERSAL else belief.scope,
        "title": last.name,
        "category": belief.type,
        "entities": [{"name": belief.name.replace("_", " "), "aliases": list(belief.aliases)}],
        "pinned": belief.pinned,
        "confidence": belief.confidence,
        "source": "user",
    }


def _answer(mem: recollect.Recollect, ids: Mapping[str, str], case: Case, narrowing: Mapping[str, Any]) -> Answer:
    domains = [scope for scope in case.scopes if scope != UNIVERSAL]
    types = sorted({belief.type for belief in case.beliefs} - {QUESTION})
    standing = mem.list(owner=case.user, scope=domains, pinned=True, category=types).items if domains else ()
    open_ones = mem.list(owner=case.user, scope=domains, pinned=True, category=QUESTION).items if domains else ()
    room = TOP_K if case.budget is None else case.budget - len(standing)
    return Answer(
        case,
        _beliefs(ids, _brought_up(mem, case, domains, types, room, narrowing)),
        _beliefs(ids, standing),
        _beliefs(ids, open_ones),
        tuple(memory.content for memory in mem.list(owner=case.user, scope="shared").items),
    )


def _brought_up(
    mem: recollect.Recollect,
    case: Case,
    domains: Sequence[str],
    types: Sequence[str],
    room: int,
    narrowing: Mapping[str, Any],
) -> list[recollect.Memory]:
    """What the question brings up besides what is told anyway. Where nothing is asked or told, there is no query."""
    if not domains or not case.text.strip() or room < 1:
        return []
    found = mem.query(
        case.text,
        owner=case.user,
        categories=types,
        filters={"scope": domains, "pinned": False},
        top_k=room,
        **narrowing,
    )
    return [item.memory for item in found.items]


def _beliefs(ids: Mapping[str, str], memories: Iterable[recollect.Memory]) -> tuple[str, ...]:
    return tuple(ids[memory.id] for memory in memories)
