"""The writing constraints: what agents and models write is held to them, and what a person says never is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.write.drafting import draft_for
from recollect.interfaces.mcp.catalogue import choose_tools
from recollect.model.record import Candidate
from recollect.model.vocabulary import Kind
from recollect.policies import PRESETS, load_policy
from recollect.rules.gates.draft import Rejection
from recollect.rules.gates.writing import FAULTS, faults_of, trim

GOOD = """
Ana has lived in Lisbon since May 2024.
Ana's pronouns are they/them
The user prefers short answers with code first.
The US office of Globex uses IT services from Acme.
User shows increased trust when admitting mistakes.
Ana's band is called "It's Me!".
Dr. Weber treats Ana every second Tuesday. The practice is in Graz.
World War I is Ben's field of research.
Deploys run every Friday at noon.
Ana wohnt seit 2024 in Lissabon.
Ana vive en Lisboa desde mayo.
""".strip().splitlines()
BAD = {
    "She likes tea.": ["pronoun"],
    "This is why the build fails.": ["pronoun"],
    "I moved to Porto.": ["not_third_person"],
    "You should use tabs.": ["not_third_person"],
    "Prefers dark mode": ["not_a_sentence"],
    "Ana's favorite color": ["not_a_sentence"],
    "Ana likes tea and": ["not_a_sentence"],
    "What does Ana like?": ["not_a_sentence"],
    "Ana moved yesterday.": ["not_self_contained"],
    "As discussed, the launch moved to May.": ["not_self_contained"],
    "Unfortunately the server failed.": ["not_neutral"],
    "Ana likes tea!": ["not_neutral"],
    "Ana likes tea. Ana likes milk. Ana likes bread.": ["too_many_sentences"],
    f"Ana collects {'very ' * 60}old maps.": ["too_long"],
}
EPISODES = {
    "The team discussed the budget for 2026. Ben was asked to write the notes.": [],
    "Ana moved to Porto in May.": [],
    "Ana lives in Lisbon.": ["not_past_tense", "stable_fact"],
    "The team will meet.": ["not_past_tense"],
    "Ana called. Ben came. Cleo left.": ["too_many_sentences"],
}


def codes(*short: str) -> tuple[str, ...]:
    return tuple(f"writing:{one}" for one in short)


def test_each_fault_has_a_code_and_good_text_has_none() -> None:
    assert {text: faults_of(text, Kind.SEMANTIC) for text in GOOD} == dict.fromkeys(GOOD, ())
    assert {text: faults_of(text, Kind.SEMANTIC) for text in BAD} == {
        text: codes(*found) for text, found in BAD.items()
    }
    wrong = {text: faults_of(text, Kind.EPISODIC) for text in EPISODES}
    assert wrong == {text: codes(*found) for text, found in EPISODES.items()}
    assert {code for found in (BAD | EPISODES).values() for code in codes(*found)} == set(FAULTS)


def test_trimming_keeps_whole_sentences_or_nothing() -> None:
    long = f"Ana collects {'very ' * 60}old maps."
    assert trim(f"Ana likes tea. {long}") == "Ana likes tea."
    assert trim(long) is None


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")


@pytest.fixture
def mem(place: Any) -> Iterator[Any]:
    with recollect.open(place) as opened:
        yield opened


def test_an_agents_text_is_flagged_and_a_persons_is_not(mem: Any) -> None:
    bot, ana = mem.as_caller(user="ana", agent="planner"), mem.as_caller(user="ana")
    flagged = bot.add("She likes tea and her van is red.")
    assert flagged.outcome == "stored" and flagged.reasons[-1] == "writing:pronoun"
    met = bot.add("Ana has lived in Lisbon since May 2024.")
    assert met.reasons == ("identity:new", "allowed_by:write_policy:normal")
    assert "it meets the writing constraints" in mem.explain(met.memory.id).text, "writing:passed"
    assert not any(code.startswith("writing:") for code in ana.add("She called me yesterday!").reasons)
    assert not any(code.startswith("writing:") for code in bot.add("Ok!", kind="short_term").reasons)
    assert [(one.checked, one.met) for one in mem.ops(by="total") if one.checked] == [(2, 1)]
    assert [(one.checked, one.met) for one in ana.ops(by="total") if one.checked] == [(2, 1)]


def test_the_policy_trims_refuses_or_looks_away(place: Any) -> None:
    text = "Ana likes tea. Ana likes milk. She hates bread."
    with recollect.open(place, policy={"writing": {"action": {"agent": "trim"}}}) as mem:
        kept = mem.add(text, source="agent")
        assert kept.memory.content == "Ana likes tea. Ana likes milk." and kept.reasons[-1] == "writing:trimmed"
        assert mem.add(f"Ana collects {'very ' * 60}old maps.", source="agent").reasons == ("writing_constraints",)
    with recollect.open(place, policy={"writing": {"action": "reject"}}) as mem:
        refused = mem.add("She likes coffee.", source="agent")
        assert refused.denied and "writing:pronoun" in refused.detail
        assert mem.add("She likes coffee.", source="user").outcome == "stored"
        assert [(one.status, one.checked, one.met) for one in mem.ops(by="total") if one.checked] == [
            ("ok", 1, 0),
            ("skipped", 2, 0),
        ]
    with recollect.open(place, policy={"writing": {"action": False}}) as mem:
        assert mem.add("She likes cocoa.", source="agent").reasons[0] == "identity:new"


def test_what_a_model_proposes_is_refused_by_default() -> None:
    with recollect.open(":memory:") as mem:
        answer = draft_for(mem.engine, Candidate(content="She likes tea."), proposed=True)
        assert isinstance(answer, Rejection) and answer.code == "writing_constraints"
        good = Candidate(content="Ana likes tea.", source="agent")
        assert not isinstance(draft_for(mem.engine, good, proposed=True), Rejection)


def test_presets_that_are_literal_hold_nobody_to_them() -> None:
    off = [name for name in PRESETS if set(load_policy(name).writing.action.values()) == {"off"}]
    assert sorted(off) == ["entry", "governed", "store", "v4", "vault"]
    with pytest.raises(recollect.BadPolicy, match=r"writing\.action"):
        load_policy({"writing": {"action": {"agent": "maybe"}}})


def test_a_model_is_told_the_constraints_before_it_writes() -> None:
    told = choose_tools("add")["memory_add"].listing["description"]
    for words in ("third person", "280 characters", "never pronouns", "neutral", "past tense", "complete sentences"):
        assert words in told, words
    told = choose_tools("update")["memory_update"].listing["description"]
    assert all(words in told for words in ("third person", "280 characters", "no pronouns", "neutral"))
