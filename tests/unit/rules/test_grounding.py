"""What a model proposes is in what was said, or it is refused, with the reason."""

import doctest
from collections.abc import Collection
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import recollect.llm
import recollect.llm.endpoint
from recollect.model.ledger import Address
from recollect.model.policy import Agents, Policy
from recollect.model.vocabulary import SHARED, Authority, KeySource, Kind, Namespace, Space
from recollect.rules import model_budget
from recollect.rules.grounding import gate
from recollect.rules.grounding.gate import check_grounding
from recollect.rules.grounding.proposal import Proposal, Quote, SourceMemory
from recollect.rules.identity.rejected_values import Claim, Sealed, rejected_marks, seal
from recollect.rules.reasons import REASONS
from rows import every_row
from support import load_cases

CASES, LIES = load_cases("grounding/claims"), load_cases("grounding/lies")
HOSTILE = load_cases("grounding/hostile")
ANA = Address("default", Namespace.PROD, Space.USER, "ana")
NO_LISTS = Policy()
SAID_AT = datetime(2026, 5, 20, 10, tzinfo=UTC)


def said(text: str, id: str = "1", **other: object) -> SourceMemory:
    return SourceMemory(id, text, SAID_AT, **{"address": ANA, "speakers": ("Ana",), **other})


def proposed(content: str, *spans: str, **other: object) -> Proposal:
    quotes = tuple(Quote("1", span) for span in spans)
    return Proposal(content, **{"quotes": quotes, "source_ids": ("1",), "address": ANA, **other})


@every_row("case", CASES)
def test_labelled_claims(case: dict[str, str]) -> None:
    proposal = proposed(case["claim"], case.get("span", case["said"]), kind=Kind(case.get("kind", "semantic")))
    assert check_grounding(proposal, [said(case["said"])], Policy()).code == case["verdict"]


def judged(case: dict[str, Any], kind: Kind) -> bool:
    proposal = proposed(case["claim"], *case.get("quotes", [case["said"]]), kind=kind)
    return check_grounding(proposal, [said(case["said"])], Policy()).accepted


@every_row("case", HOSTILE["lies"])
def test_no_hostile_claim_is_a_fact_and_few_are_insights(case: dict[str, Any]) -> None:
    assert not judged(case, Kind.SEMANTIC)
    assert judged(case, Kind.INSIGHT) == case.get("infers", False)


@every_row("case", HOSTILE["facts"])
def test_what_was_said_is_a_fact(case: dict[str, Any]) -> None:
    assert judged(case, Kind.SEMANTIC)


@pytest.mark.parametrize("half", ["open", "frozen"])
def test_no_lie_passes_and_most_facts_do(half: str) -> None:
    told = [(case["said"], claim, which) for case in LIES[half] for which in ("lies", "facts") for claim in case[which]]
    passed = [one for one in told if check_grounding(proposed(one[1], one[0]), [said(one[0])], Policy()).accepted]
    assert [claim for _, claim, which in passed if which == "lies"] == []
    facts = [which for _, _, which in told].count("facts")
    assert len(passed) >= 0.6 * facts, "a gate that lets nothing pass is of no use"


def code(
    proposal: Proposal, *sources: SourceMemory, policy: Policy = NO_LISTS, rejections: Collection[Sealed] = ()
) -> str:
    return check_grounding(proposal, sources, policy, rejections).code


def test_every_code_is_listed_and_shown_by_a_claim() -> None:
    listed = {code for code in REASONS if code.startswith(("grounded:", "ungrounded:"))}
    borders = {f"ungrounded:{what}" for what in "source authority two_owners owner space scope category".split()}
    assert listed == borders | {case["verdict"] for case in CASES}


def test_a_proposal_stays_within_the_borders_of_its_sources() -> None:
    tea = said("I like tea.")
    of = partial(proposed, "Ana likes tea.", "I like tea")
    assert code(of(), tea) == "grounded:fact"
    assert code(of(scope="planner"), tea) == "grounded:fact", "one agent is fewer than all"
    assert code(of(authority=Authority.USER_ASSERTED), tea) == "ungrounded:authority"
    assert code(of(source_ids=()), tea) == "ungrounded:source"
    assert code(of(source_ids=("1", "2")), tea) == "ungrounded:source"
    assert code(of(quotes=(Quote("2", "I like tea"),)), tea, said("I like tea.", "2")) == "ungrounded:source"
    assert code(of(address=ANA._replace(owner="ben")), tea) == "ungrounded:owner"
    assert code(of(address=ANA._replace(space=Space.PROJECT)), tea) == "ungrounded:space"
    assert code(of(address=ANA._replace(tenant="other")), tea) == "ungrounded:space"
    assert code(of(), tea._replace(scope="planner")) == "ungrounded:scope"
    assert code(of(scope="planner"), tea._replace(scope="planner")) == "grounded:fact"
    both = of(source_ids=("1", "2"), scope="planner")
    assert code(both, tea._replace(scope="planner"), said("I like tea.", "2", scope="stylist")) == "ungrounded:scope"
    bens = said("I like tea.", "2", address=ANA._replace(owner="ben"))
    assert code(of(source_ids=("1", "2")), tea, bens) == "ungrounded:two_owners"


def test_a_category_is_no_wider_than_the_lists_of_agents_make_it() -> None:
    ill = said("I have diabetes.", category="health")
    told = partial(proposed, "Ana has diabetes.", "I have diabetes")
    assert code(told(category="goals"), ill, policy=LISTS) == "ungrounded:category"
    assert code(told(category="health"), ill, policy=LISTS) == "grounded:fact"
    assert code(told(category="goals"), ill) == "grounded:fact", "without lists all agents read all categories"


def rejection_of(proposal: Proposal) -> list[Sealed]:
    secret = "00" * 32
    claim = Claim(proposal.address, proposal.content, "", KeySource.FALLBACK, proposal.address.owner)
    return [Sealed("r1", secret, seal(secret, mark)) for mark in rejected_marks(claim, {})]


def test_a_rejected_value_does_not_come_back() -> None:
    source = said("My sister is called Lea.")
    again = proposed("Ana's sister is called Lea.", "My sister is called Lea")
    assert code(again, source) == "grounded:fact"
    assert code(again, source, rejections=rejection_of(again)) == "rejected:value"


WORDS = "I you Ana Ben Porto Acme tea coffee like likes hate lives in at not never may 2 3 km May yesterday , . but my".split()
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
PLACES = st.builds(
    Address,
    st.sampled_from(["a", "b"]),
    st.sampled_from(Namespace),
    st.sampled_from(Space),
    st.sampled_from(["ana", "ben"]),
)
LISTS = Policy(agents=Agents(allowlists={"planner": ("goals",), "coach": ("goals", "health")}))
CATEGORIES = st.sampled_from(["goals", "health", "general"])
SCOPES = st.sampled_from([SHARED, "planner", "coach"])


STRANGE = {
    "content": TEXT,
    "quotes": st.lists(st.builds(Quote, st.sampled_from(["0", "1"]), TEXT), max_size=2).map(tuple),
    "source_ids": st.lists(st.sampled_from(["0", "1", "x"]), max_size=2).map(tuple),
    "address": PLACES,
    "scope": SCOPES,
    "category": CATEGORIES,
    "authority": st.sampled_from(Authority),
    "kind": st.just(Kind.INSIGHT),
}
"""What a model may do to a proposal that was sound."""


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_proposal_that_is_accepted_says_or_shows_more_than_its_sources(data: st.DataObject) -> None:
    """Sound proposals with up to two fields replaced, so that many are accepted and many are not."""
    places = [data.draw(PLACES)] * 2 if data.draw(st.booleans()) else [data.draw(PLACES), data.draw(PLACES)]
    sources = [
        said(data.draw(TEXT), str(n), address=place, scope=data.draw(SCOPES), category=data.draw(CATEGORIES))
        for n, place in enumerate(places)
    ]
    first = sources[0]
    sound = Proposal(
        first.text, (Quote("0", first.text),), ("0",), first.address, Kind.SEMANTIC, first.scope, first.category
    )
    changed = data.draw(st.lists(st.sampled_from(sorted(STRANGE)), max_size=2))
    proposal = sound._replace(**{name: data.draw(STRANGE[name]) for name in changed})
    verdict = check_grounding(proposal, sources, LISTS)
    assert verdict.code in REASONS
    event("accepted" if verdict.accepted else "refused")
    if not verdict.accepted:
        return
    used = [sources[int(id)] for id in proposal.source_ids]
    assert {one.address for one in used} == {proposal.address}
    assert proposal.authority is Authority.AI_INFERRED
    assert {one.scope for one in used} <= {SHARED, proposal.scope}
    for listed in LISTS.agents.allowlists.values():
        assert proposal.category not in listed or {one.category for one in used} <= set(listed)
    for quote in proposal.quotes:
        assert quote.source_id in proposal.source_ids
        assert quote.span in sources[int(quote.source_id)].text
    spoken = {word for quote in proposal.quotes for word in quote.span.split()}
    around = {word for one in used for word in one.text.split()}
    for word in {"Ana", "Ben", "Porto", "Acme", "2", "3", "never"} & set(proposal.content.split()):
        assert word in spoken or (word == "Ana" and {"I", "my"} & around)
    assert code(proposal, *sources, policy=LISTS, rejections=rejection_of(proposal)) == "rejected:value"


def test_the_examples_in_the_docstrings_hold() -> None:
    results = [doctest.testmod(module) for module in (gate, model_budget, recollect.llm, recollect.llm.endpoint)]
    assert all(result.attempted and not result.failed for result in results)
