"""Jobs of a language model, its runs and its proposals, on the command line and as MCP tools."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from models.server import MODEL, said, serving
from models.test_pairs import LISBON, PORTO, judge

from .shell import Shell

FACTS = {
    "facts": [{"content": "The vet moved to Mill Lane 4 in May.", "quotes": ["The vet moved to Mill Lane 4 in May"]}]
}


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    def written(endpoint: str) -> str:
        file = tmp_path / "policy.yaml"
        file.write_text(yaml.safe_dump({"model": {"endpoint": endpoint, "name": MODEL}}), encoding="utf-8")
        return str(file)

    return written


def test_a_run_is_started_listed_shown_and_undone(shell: Shell, policy: Any) -> None:
    with serving(said(json.dumps(FACTS))) as server:
        use = ("--policy", policy(server.endpoint))
        said_so = "The vet moved to Mill Lane 4 in May. It is loud there."
        shell.json("turn", "--session", "s1", "--owner", "ana", "--user", said_so)
        (run,) = shell.json("upkeep", "--job", "extract", *use)
        assert run["counts"] == {"applied": 1}
        assert [one["id"] for one in shell.json("runs", "list")["items"]] == [run["id"]]
        shown = shell.json("runs", "show", run["id"][:8])
        assert shown["proposals"][0]["status"] == "applied" and "applied" in shell.run("runs", "show", run["id"])
        assert shell.json("runs", "undo", run["id"])["removed"] == [shown["proposals"][0]["memory_id"]]
        assert "already" in shell.json("runs", "undo", run["id"], code=1)["error"]["message"]
    assert "model.endpoint" in json.dumps(shell.json("upkeep", "--job", "extract", code=2))


def test_proposals_are_listed_applied_and_declined(shell: Shell, policy: Any) -> None:
    with serving(judge("update")) as server:
        for text in (LISBON, PORTO):
            shell.json("add", text, "--owner", "ana")
        shell.json("upkeep", "--job", "consolidate", "--policy", policy(server.endpoint))
    (waits,) = shell.json("proposals", "list", "--owner", "ana")
    assert (waits["action"], [one["span"] for one in waits["evidence"]]) == ("update", [LISBON, PORTO])
    assert "Lisbon" in shell.run("proposals", "list")
    assert shell.json("proposals", "apply", waits["id"])["status"] == "applied"
    assert shell.json("proposals", "decline", waits["id"], code=1)["error"]["hint"]
    assert shell.json("proposals", "list") == []
