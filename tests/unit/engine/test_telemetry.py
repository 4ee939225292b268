"""Spans: one for each public operation, in codes and counts alone; and nothing at all without the library."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import recollect
from recollect.engine import telemetry
from recollect.interfaces.python import Recollect
from support import script

NOT_OPERATIONS = {"as_caller", "at_revision", "close", "list_all", "once", "with_key"}
"""What calls no operation, one operation for each page, or what it is given."""


@cache
def provider() -> TracerProvider:
    """Return the one provider that a process may have, however often these tests begin again between others."""
    made = TracerProvider()
    trace.set_tracer_provider(made)
    return made


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """Collect spans until the tests that follow are another module's."""
    exporter = InMemorySpanExporter()
    provider().add_span_processor(SimpleSpanProcessor(exporter))
    yield exporter
    exporter.shutdown()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Callable[[], list[ReadableSpan]]:
    exporter.clear()
    return lambda: list(exporter.get_finished_spans())


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with recollect.open(":memory:") as opened:
        yield opened


Spans = Callable[[], list[ReadableSpan]]


def told(span: ReadableSpan) -> dict[str, Any]:
    """What a span says, without the prefix."""
    return {name.removeprefix(telemetry.PREFIX): value for name, value in (span.attributes or {}).items()}


def test_every_public_operation_has_a_span() -> None:
    methods = {name: one for name, one in inspect.getmembers(Recollect, inspect.isfunction) if not name.startswith("_")}
    plain = {name for name, method in methods.items() if not hasattr(method, "__wrapped__")}
    assert plain == NOT_OPERATIONS


def test_a_write_tells_its_outcome_and_why(mem: Recollect, spans: Spans) -> None:
    receipt = mem.add("Ana lives in Lisbon", owner="ana", space="user")
    refused = mem.add("my password is hunter2-Zx9Q")
    stored, denied = spans()
    assert stored.name == denied.name == "recollect.add"
    assert told(stored) == {
        "op": "add",
        "outcome": "stored",
        "reasons": receipt.reasons,
        "namespace": "prod",
        "space": "user",
        "replayed": False,
    }
    assert told(denied)["outcome"] == "denied" and told(denied)["reasons"] == refused.reasons
    assert denied.status.status_code is trace.StatusCode.UNSET, "a refusal is an answer"


def test_counts_are_told(mem: Recollect, spans: Spans) -> None:
    mem.add_many([{"content": "Tea is hot"}, {"content": "Ink is blue"}, {"content": "heartbeat"}])
    mem.query("tea", space="user")
    mem.list()
    mem.upkeep()
    mem.consolidate()
    mem.verify()
    mem.events()
    mem.import_(['{"content": "Grass is green"}'])
    mem.erase(owner="default")
    by_name = {span.name.removeprefix("recollect."): told(span) for span in spans()}
    expected = {
        "add_many": {"count": 3, "count.stored": 2, "count.denied": 1},
        "query": {"count": 1, "space": "user"},
        "list": {"count": 2},
        "upkeep": {"count.expired": 0, "count.forgotten": 0, "count.purged": 0},
        "consolidate": {"count": 0, "outcome": "proposed"},
        "verify": {"count": 2, "outcome": "ok"},
        "events": {"count": 8},
        "import": {"count": 1, "count.stored": 1},
        "erase": {"count": 3, "count.streams": 1},
    }
    assert by_name == {name: {"op": name, **said} for name, said in expected.items()}


def test_an_error_is_recorded_by_its_code(mem: Recollect, spans: Spans) -> None:
    with pytest.raises(recollect.NotFound):
        mem.get("facade00-quartz")
    with pytest.raises(recollect.BadInput):
        mem.query("")
    missing, bad = spans()
    for span, code in ((missing, "not_found"), (bad, "bad_input")):
        assert span.status.status_code is trace.StatusCode.ERROR
        assert span.status.description == told(span)["error.type"] == code
        assert span.events == (), "an exception's message may name somebody"


def test_an_error_of_another_kind_is_recorded_by_its_type(mem: Recollect, spans: Spans) -> None:
    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    mem.add("Tea is hot")
    with pytest.raises(KeyboardInterrupt):
        mem.verify(interrupted)
    assert told(spans()[-1])["error.type"] == "KeyboardInterrupt"


def test_spans_hold_no_content_no_names_and_no_ids(mem: Recollect, spans: Spans) -> None:
    words = ("amethyst", "opal-owner", "jade-user", "onyx-thread", "beryl-category", "topaz-agent", "quartz-session")
    bound = mem.as_caller(user=words[1], agent=words[5], session=words[6])
    memory = mem.add(f"The {words[0]} is blue", owner=words[1], thread_id=words[3], category=words[4]).memory
    assert memory is not None
    bound.add(f"My {words[0]} is red")
    bound.query(words[0])
    mem.query(words[0], owner=words[1])
    mem.edit(memory.id, tags=["agate-tag"])
    mem.history(memory.id)
    for act in (
        lambda: mem.query(words[0], space="ruby-space"),
        lambda: mem.get("ruby-id"),
        lambda: bound.erase(owner="ruby-owner"),
        lambda: mem.history(owner="ana", include_namespaces=["ruby-namespace"]),
    ):
        with pytest.raises(recollect.RecollectError):
            act()
    mem.erase(owner=words[1])
    everything = "\n".join(span.to_json() for span in spans())
    assert len(spans()) == 11
    for word in (*words, "agate-tag", "ruby", memory.id, memory.short_id, memory.canonical_key):
        assert word not in everything


def test_spans_nest_under_the_application_s(mem: Recollect, spans: Spans) -> None:
    with trace.get_tracer("application").start_as_current_span("request") as request:
        mem.add("Tea is hot")
    inner, outer = spans()
    assert inner.parent is not None and inner.parent.span_id == request.get_span_context().span_id
    assert outer.name == "request"


UNTRACED = """
import sys
sys.modules["opentelemetry"] = None  # as if it were not installed
import recollect
from recollect.engine import telemetry
from recollect.interfaces.python import Recollect
from support import script

assert not telemetry.present and not hasattr(Recollect.add, "__wrapped__"), "nothing is wrapped"
with script.open_seeded(seed=5) as mem:
    print(mem.add("Ana lives in Lisbon", owner="ana").to_dict())
    script.run(mem, seed=5, steps=40)
    print(script.digest(mem))
assert not [name for name in sys.modules if name.startswith("opentelemetry.")]
"""


def test_tracing_changes_no_answer_and_no_state(spans: Spans, tmp_path: Path) -> None:
    """The same script in a process without the library and in this one, which records every span."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", UNTRACED], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    with script.open_seeded(seed=5) as mem:
        answer = mem.add("Ana lives in Lisbon", owner="ana").to_dict()
        script.run(mem, seed=5, steps=40)
        assert done.stdout == f"{answer}\n{script.digest(mem)}\n"
    assert len(spans()) > 40
