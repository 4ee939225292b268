"""Recall on demand: a look into memory in the middle of a turn, for the few turns in which whoever answers is unsure.

Whether it is worth it is a rule: the stated confidence is below the policy's ``on_demand.confidence_below``. Each decision
is noted as an operational event (node ``context``, operation ``classify``; ``ok`` where memory was asked, ``skipped`` where it
was not), so the share of turns that needed it can be read off at any time, by whoever opens the store next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.embed import tokens
from recollect.engine import operations
from recollect.engine.arguments import check_number, check_sought
from recollect.engine.context import Engine
from recollect.engine.reading import Spaces
from recollect.engine.recall import query
from recollect.model.caller import Right
from recollect.model.errors import BadInput
from recollect.model.operation import Node, Op, OpStatus
from recollect.model.receipt import Plain, Recall
from recollect.rules.injection import RELEVANT, CountTokens, block

UNSURE = "on_demand:unsure"
SURE = "on_demand:sure_enough"


@dataclass(frozen=True, slots=True)
class OnDemand(Plain):
    """Whether memory was asked, by which rule, and what it said: ``text`` is a block for a prompt, ``bullets`` the small form."""

    asked: bool
    reason: str
    text: str = ""
    recall: Recall | None = None

    def bullets(self) -> list[dict[str, Any]]:
        return self.recall.bullets() if self.recall is not None else []


@dataclass(frozen=True, slots=True)
class OnDemandShare(Plain):
    """In how many turns memory was asked, of those in which it could have been. ``share`` is 0 where there were none."""

    turns: int
    asked: int
    share: float


def recall_if_unsure(
    engine: Engine,
    text: str,
    confidence: float,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = ("prod",),
    categories: Sequence[str] | None = None,
    filters: Mapping[str, Any] | None = None,
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> OnDemand:
    """Ask memory about a text if ``confidence`` (0 to 1) is below the policy's threshold: a few memories, within a budget.

    Call it once a turn, however sure you are: the share of turns that needed it is counted from these calls.
    """
    settings = engine.policy.on_demand
    engine.require(Right.READ, "recall")
    budget = _budget(settings.budget_tokens, budget_tokens)
    if _checked(confidence) >= settings.confidence_below:
        _note(engine, owner, OpStatus.SKIPPED)
        return OnDemand(False, SURE)
    found = query(
        engine,
        text,
        owner=owner,
        space=space,
        include_namespaces=include_namespaces,
        categories=categories,
        filters=filters,
        top_k=settings.top_k,
        budget_tokens=budget,
    )
    _note(engine, owner, OpStatus.OK)
    memories = [item.memory for item in found.items]
    count = count_tokens or tokens.count_tokens
    told = block(RELEVANT, memories, budget, count, engine.policy.injection.item_characters)
    return OnDemand(True, UNSURE, told.text, found)


def on_demand_share(engine: Engine, *, since: datetime | str | None = None, user: str | None = None) -> OnDemandShare:
    """How often memory was asked on demand, as far as operational events are kept; a bound caller counts its own user's."""
    counts = {
        one.status: one.count
        for one in operations.ops(engine, by="total", since=since, user=user)
        if (one.node, one.op) == (Node.CONTEXT, Op.CLASSIFY)
    }
    asked = counts.get(OpStatus.OK, 0)
    turns = asked + counts.get(OpStatus.SKIPPED, 0)
    return OnDemandShare(turns, asked, round(asked / turns, 4) if turns else 0.0)


def _note(engine: Engine, owner: str | None, status: OpStatus) -> None:
    whose = operations.queried(engine, _known(engine, owner), engine.now())
    operations.note(engine, whose._replace(op=Op.CLASSIFY, status=status))


def _known(engine: Engine, owner: str | None) -> str | None:
    """An owner who has something in the store: no other name is kept, for it may be anything."""
    if owner is None or not engine.caller.trusted:
        return None
    with engine.read(brief=True) as reader:
        return owner if reader.streams_of(engine.tenant, check_sought("owner", owner)) else None


def _checked(confidence: Any) -> float:
    if not isinstance(confidence, int | float) or isinstance(confidence, bool) or not 0 <= confidence <= 1:
        raise BadInput("must be a number between 0 and 1.", field="confidence", hint="1 is sure, 0 has no idea.")
    return float(confidence)


def _budget(most: int, asked: int | None) -> int:
    """A call may ask for less than the policy allows, never for more."""
    return most if asked is None else min(most, check_number("budget_tokens", asked, 1))
