"""Runs and proposals as MCP tools: what they answer, and that an agent decides nothing."""

from typing import Any

import pytest

from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.model.errors import NotAllowed

from .conftest import Opened
from .test_pairs import LISBON, PORTO, added, judge


def call(name: str, memory: Any, **request: Any) -> dict[str, Any]:
    return TOOLS[name].call(memory, request).values


def test_the_tools_of_administration_show_decide_and_undo(opened: Opened) -> None:
    with opened(judge("update")) as (mem, _):
        old, new = added(mem, LISBON, PORTO)
        added(mem, "Ana's winter house stands in Faro by the sea", "The winter house of Ana was rebuilt in Sines")
        mem.upkeep(job="consolidate")
        ana = mem.as_caller(user="ana", rights=("read", "write", "operate"))
        waits = call("memory_proposals", ana)["proposals"]
        first = next(one for one in waits if one["sources"] == [old, new])
        with pytest.raises(NotAllowed):
            call("memory_apply_proposal", ana, id=first["id"], agent="planner")
        assert call("memory_apply_proposal", ana, id=first["id"])["proposal"]["status"] == "applied"
        other = next(one for one in waits if old not in one["sources"] and new not in one["sources"])
        assert call("memory_decline_proposal", ana, id=other["id"], reason="no")["proposal"]["status"] == "declined"
        (run,) = call("memory_runs", ana, job="consolidate")["runs"]
        assert len(call("memory_run", ana, id=run["id"])["run"]["proposals"]) == len(waits)
        assert call("memory_undo", ana, id=run["id"])["undone"]["restored"] == [old]
        assert mem.get(old).status == "active"
