"""LangGraph's own conformance suite for checkpointers, every capability of it."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from langgraph.checkpoint.conformance import validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.conformance.initializer import RegisteredCheckpointer

from recollect.langgraph import RecollectSaver


@pytest.mark.parametrize("capability", [one.value for one in Capability])
def test_capability(capability: str, location: str) -> None:
    async def make() -> AsyncGenerator[RecollectSaver, None]:
        async with RecollectSaver.from_conn_string(location) as saver:
            yield saver

    report = asyncio.run(validate(RegisteredCheckpointer("RecollectSaver", make), capabilities={capability}))
    result = report.results[capability]
    assert result.passed, result.failures
    assert result.tests_passed > 0 and not result.tests_skipped


def test_in_memory_too(tmp_path: Path) -> None:
    async def make() -> AsyncGenerator[RecollectSaver, None]:
        async with RecollectSaver.from_conn_string(":memory:") as saver:
            yield saver

    report = asyncio.run(validate(RegisteredCheckpointer("RecollectSaver", make)))
    assert {name: result.passed for name, result in report.results.items()} == dict.fromkeys(report.results, True)
    assert set(report.results) == {one.value for one in Capability}
