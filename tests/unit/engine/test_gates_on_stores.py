"""What the gates let in and where it goes, on every store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Recollect]:
    place = tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(str(place)) as memory:
        yield memory


@pytest.mark.parametrize(
    "content",
    [
        "Our integration tests write to the staging database",
        "The integration test entry point is tests/run.py",
        "Heartbeat interval is 30 seconds",
        "Check-in is at 15:00",
    ],
)
def test_a_fact_about_tests_or_heartbeats_is_kept_in_production(mem: Recollect, content: str) -> None:
    receipt = mem.add(content)
    assert receipt.memory is not None and (receipt.outcome, receipt.memory.namespace) == ("stored", "prod")
    assert not [code for code in receipt.reasons if code.startswith("namespace:")]


def test_a_journal_entry_is_refused(mem: Recollect) -> None:
    assert mem.add("routine scan: nothing to report").reasons == ("noise_signal",)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": "Elefante E2E Test Memory 1718"}, "namespace:test:pattern"),
        ({"content": "The sky is green", "tags": ["e2e"]}, "namespace:test:tag"),
        ({"content": "The sky is green", "category": "test"}, "namespace:test:category"),
        ({"content": "The sky is green", "source": "test_suite"}, "namespace:test:source"),
        ({"content": "The sky is green", "diagnostic": True}, "namespace:ephemeral:flagged"),
    ],
)
def test_a_write_that_is_routed_elsewhere_says_why(mem: Recollect, fields: dict[str, object], code: str) -> None:
    first, again = mem.add(**fields), mem.add(**fields)  # type: ignore[arg-type]
    assert (first.outcome, again.outcome) == ("stored", "reinforced")
    assert first.reasons[-1] == again.reasons[-1] == code


@pytest.mark.parametrize(
    ("word", "source"),
    [("user_input", "user"), ("chat", "user"), ("manual", "user"), ("ai", "agent"), ("import", "import")],
)
def test_words_of_other_schemas_for_a_source_are_understood(mem: Recollect, word: str, source: str) -> None:
    receipt = mem.add("The harbour is north of the mill", source=word)
    assert receipt.memory is not None and receipt.memory.source == source


def test_an_unknown_source_is_refused_with_the_known_words(mem: Recollect) -> None:
    with pytest.raises(BadInput) as caught:
        mem.add("The harbour is north of the mill", source="rumour")
    assert caught.value.field == "source"
    for word in ("user", "agent", "test_suite", "user_input", "ai", "chat", "manual"):
        assert word in (caught.value.hint or "")
