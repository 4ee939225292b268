"""The fused score: each feature alone, what neighbours lend, and that the order never depends on chance."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.policy import Ranking
from recollect.model.vocabulary import Authority
from recollect.rules.ranking.fusion import (
    SHORTLIST,
    Evidence,
    Facts,
    Features,
    Place,
    Scored,
    add_neighbours,
    fuse,
    members_first,
    recall_reason,
    relevance,
    score_contents,
    score_place,
    sort_scored,
    text_scores,
    worth_reading,
)
from recollect.rules.ranking.question import Question, read_question
from rows import every_row

MAY = datetime(2024, 5, 3, tzinfo=UTC)
PLAIN = Facts(session="s", at=MAY, authority=Authority.USER_ASSERTED)
NOTHING = Evidence({}, {}, {})


def ask(text: str) -> Question:
    return read_question(text, MAY)


def first(question: str, facts: dict[Place, Facts], evidence: Evidence = NOTHING) -> Place:
    return fuse(ask(question), evidence, facts)[0].place


# Each feature decides where all else is equal.


@every_row(
    ("question", "better"),
    [
        ("What did Ana say?", PLAIN._replace(speaker="Ana")),
        ("What about Ana's work?", PLAIN._replace(speaker="Ana")),
        ("Where is the red house?", PLAIN._replace(entities=("red house",))),
        ("What happened in March 2024?", PLAIN._replace(at=datetime(2024, 3, 9, tzinfo=UTC))),
        ("anything", PLAIN._replace(importance=5)),
        ("anything", PLAIN._replace(vouchers=1)),
        ("anything", PLAIN._replace(pinned=True)),
        ("anything", PLAIN._replace(canon=True)),
    ],
)
def test_a_feature_decides_between_equals(question: str, better: Facts) -> None:
    assert first(question, {(1, 1): PLAIN._replace(session="a"), (1, 2): better}) == (1, 2)


def test_a_person_counts_for_more_than_a_model() -> None:
    inferred = PLAIN._replace(authority=Authority.AI_INFERRED)
    facts = {(1, 1): inferred, (1, 2): PLAIN}
    assert first("which theme?", facts) == (1, 2)
    assert first("which theme did you recommend?", facts) == (1, 1)


def test_meaning_and_relations_count() -> None:
    facts = {(1, 1): PLAIN, (1, 2): PLAIN}
    assert first("theme", facts, Evidence({}, {(1, 2): 0.4}, {})) == (1, 2)
    assert first("theme", facts, Evidence({}, {}, {(1, 2): 0.4})) == (1, 2)


def test_a_model_that_reads_a_text_as_a_whole_is_believed_over_words() -> None:
    facts = {(1, 1): PLAIN, (1, 9): PLAIN}
    words_or_meaning = Evidence({"theme": {(1, 1): 2.0}}, {(1, 9): 0.15}, {})
    assert first("theme", facts, words_or_meaning) == (1, 1)
    assert first("theme", facts, words_or_meaning._replace(reads_context=True)) == (1, 9)


def test_an_opposite_meaning_counts_as_none() -> None:
    found = fuse(ask("theme"), Evidence({}, {(1, 1): -0.9}, {}), {(1, 1): PLAIN})
    assert found[0].features.meaning == 0.0


def test_only_part_of_a_name_names_nobody() -> None:
    found = fuse(ask("Where is the house?"), NOTHING, {(1, 1): PLAIN._replace(entities=("red house",))})
    assert found[0].features.names == 0.0


def test_importance_never_outweighs_a_better_match() -> None:
    evidence = Evidence({"theme": {(1, 1): 2.0, (1, 9): 0.4}}, {}, {})
    loud = PLAIN._replace(importance=5, vouchers=3, pinned=True)
    assert first("theme", {(1, 1): PLAIN._replace(importance=1), (1, 9): loud}, evidence) == (1, 1)


def test_the_features_add_up_to_the_score() -> None:
    evidence = Evidence({"theme": {(1, 1): 2.0}}, {(1, 1): 0.5}, {(1, 1): 0.5})
    one = fuse(ask("theme in May 2024"), evidence, {(1, 1): PLAIN._replace(pinned=True)})[0]
    assert one.score == pytest.approx(sum(one.features))
    assert one.features.text == Ranking().text


def test_words_stand_in_for_vectors_where_there_are_none() -> None:
    weights = Ranking()
    one = fuse(ask("theme"), Evidence({"theme": {(1, 1): 2.0}}, {}, {}), {(1, 1): PLAIN})[0]
    assert one.features.text == weights.text + weights.meaning + weights.nearest_words


# Neighbours.


def lent(
    shares: dict[str, dict[Place, float]], facts: dict[Place, Facts], question: str = "red house"
) -> dict[Place, float]:
    return text_scores(ask(question), shares, facts, (0.5, 0.25))


def test_a_turn_gets_a_share_of_what_its_neighbours_say() -> None:
    facts = {(1, number): PLAIN for number in range(6)}
    assert lent({"red": {(1, 2): 4.0}}, facts) == {(1, 0): 1.0, (1, 1): 2.0, (1, 2): 4.0, (1, 3): 2.0, (1, 4): 1.0}


def test_different_words_of_neighbours_add_up_and_the_same_word_counts_once() -> None:
    facts = {(1, number): PLAIN for number in range(3)}
    assert lent({"red": {(1, 0): 4.0}, "hous": {(1, 2): 4.0}}, facts)[1, 1] == 4.0
    assert lent({"red": {(1, 0): 4.0, (1, 2): 4.0}}, facts)[1, 1] == 2.0


def test_a_turn_keeps_what_it_says_itself() -> None:
    facts = {(1, 0): PLAIN, (1, 1): PLAIN}
    assert lent({"red": {(1, 0): 4.0, (1, 1): 3.0}}, facts) == {(1, 0): 4.0, (1, 1): 3.0}


def test_nothing_is_lent_across_sessions_or_streams() -> None:
    facts = {(1, 1): PLAIN, (1, 2): PLAIN._replace(session="another"), (2, 2): PLAIN}
    assert lent({"red": {(1, 1): 4.0}}, facts) == {(1, 1): 4.0}


def test_what_is_not_among_the_candidates_lends_nothing() -> None:
    assert lent({"red": {(1, 1): 4.0}}, {(1, 2): PLAIN}) == {}


def test_the_names_of_those_who_speak_are_not_searched_for_in_texts() -> None:
    facts = {(1, 1): PLAIN._replace(speaker="Ana"), (1, 2): PLAIN._replace(speaker="Ben")}
    assert lent({"ana": {(1, 2): 4.0}, "red": {(1, 1): 1.0}}, facts, "Ana red") == {(1, 1): 1.0, (1, 2): 0.5}


def test_a_question_of_names_alone_is_still_searched_for() -> None:
    facts = {(1, 1): PLAIN._replace(speaker="Ana")}
    assert lent({"ana": {(1, 1): 4.0}}, facts, "Ana?") == {(1, 1): 4.0}


# Candidates.


def test_candidates_are_widened_by_their_neighbours() -> None:
    assert add_neighbours([(1, 5), (1, 6), (2, 5)], 1) == [(1, 4), (1, 5), (1, 6), (1, 7), (2, 4), (2, 5), (2, 6)]


def test_what_has_nothing_to_do_with_the_question_is_left_out() -> None:
    talk = {(1, n): PLAIN._replace(session="talk") for n in range(1, 7)}
    evidence = Evidence({"theme": {(1, 1): 2.0, (1, 6): 0.1}}, {(2, 1): 0.5, (2, 2): 0.4}, {(2, 3): 0.7})
    facts = talk | {(2, n): PLAIN._replace(session=f"alone {n}") for n in (1, 2, 3, 4)}
    told = {one.place for one in fuse(ask("theme"), evidence, facts, meaning_min=0.45)}
    assert told == {(1, 1), (1, 2), (1, 3), (1, 6), (2, 1), (2, 3)}, "words, neighbours' words, meaning, a relation"
    assert len(fuse(ask("theme"), evidence, facts)) == len(facts)


# Content.


def test_a_statement_is_preferred_to_a_question() -> None:
    best = [score_place((1, 1), Features(text=0.5)), score_place((1, 2), Features(text=0.5))]
    contents = {(1, 1): "Have you moved? ", (1, 2): "I have moved."}
    assert score_contents(best, contents)[0].place == (1, 2)


@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["Moved?", "Moved"])), max_size=60),
    st.integers(1, 12),
)
def test_what_is_not_worth_reading_would_not_be_among_the_best(said: list[tuple[int, str]], wanted: int) -> None:
    ranked = sort_scored(score_place((1, n), Features(text=hundredths / 100)) for n, (hundredths, _) in enumerate(said))
    contents = {(1, n): content for n, (_, content) in enumerate(said)}
    read = worth_reading(ranked, wanted, Ranking())
    everybody = score_contents(ranked[: max(SHORTLIST, wanted)], contents)
    assert score_contents(read, contents)[:wanted] == everybody[:wanted]


def test_what_lies_far_behind_is_not_read() -> None:
    ranked = [score_place((1, n), Features(text=1 - n / 10)) for n in range(10)]
    assert worth_reading(ranked, 3, Ranking()) == ranked[:3]
    assert worth_reading(ranked, 10, Ranking()) == ranked
    assert worth_reading(ranked, 3, Ranking(), by_vectors=True) == ranked


def test_relevance_is_the_share_of_telling_words_or_the_cosine() -> None:
    idf = {"red": 3.0, "hous": 1.0}
    assert relevance(ask("red house"), idf, ["hous", "garden"], 0.0) == 0.25
    assert relevance(ask("red house"), idf, ["red", "hous"], 0.3) == 1.0
    assert relevance(ask("red house"), idf, [], 0.3) == 0.3
    assert relevance(ask("?"), {}, [], 0.0) == 0.0


# Determinism.


def test_ties_go_to_the_older_one() -> None:
    facts = {(2, 1): PLAIN, (1, 9): PLAIN, (1, 3): PLAIN}
    assert [one.place for one in fuse(ask("x"), NOTHING, facts)] == [(1, 3), (1, 9), (2, 1)]


def test_a_difference_in_the_last_bit_decides_nothing() -> None:
    one, other = score_place((1, 1), Features(text=0.3)), score_place((1, 2), Features(text=0.1 + 0.2))
    assert sort_scored([other, one])[0].place == (1, 1)


@given(st.randoms(use_true_random=False), st.lists(st.floats(0, 5), min_size=3, max_size=12))
def test_the_order_in_which_things_come_in_changes_nothing(chance: random.Random, values: list[float]) -> None:
    def ranked(order: list[int]) -> list[Scored]:
        shares = {(1, number): values[number] for number in order}
        facts = {(1, number): PLAIN for number in order}
        return fuse(ask("red house"), Evidence({"red": shares, "hous": shares}, shares, {}), facts)

    numbers = list(range(len(values)))
    shuffled = chance.sample(numbers, len(numbers))
    assert ranked(numbers) == ranked(shuffled)


def test_a_weight_of_nothing_turns_a_feature_off() -> None:
    weights = [name for name, known in Ranking.model_fields.items() if known.annotation is float]
    off = Ranking(**dict.fromkeys(weights, 0.0))
    evidence = Evidence({"theme": {(1, 1): 2.0}}, {(1, 1): 0.5}, {(1, 1): 0.5})
    assert fuse(ask("theme"), evidence, {(1, 1): PLAIN._replace(pinned=True)}, off)[0].score == 0.0


@pytest.mark.parametrize(
    ("words", "features", "reason"),
    [
        (0.4, {"text": 1.0, "relation": 0.2}, "matches_query"),
        (0.0, {"text": 0.3, "relation": 0.2}, "near_a_match"),
        (0.0, {"meaning": 0.3, "relation": 0.2}, "related_to_a_match"),
        (0.0, {"meaning": 0.3}, "means_alike"),
    ],
)
def test_what_brought_a_memory_is_the_strongest_of_its_reasons(
    words: float, features: dict[str, float], reason: str
) -> None:
    assert recall_reason(words, features) == reason


def test_each_member_of_a_list_is_told_before_one_is_repeated() -> None:
    said = ["We went to Lisbon by train", "By train we went to Lisbon in May", "Bergen was rainy", "Ghent has canals"]
    contents = {(1, number): text for number, text in enumerate(said)}
    ranked = [score_place((1, number), Features(text=1.0 - number / 10)) for number in range(len(said))]
    told = members_first(ask("Which cities have I visited?"), ranked, contents)
    assert [one.place[1] for one in told] == [0, 2, 3, 1]
    assert told[-1].features.repeats < 0 and told == sort_scored(told)
    assert members_first(ask("Which cities?"), ranked[2:], contents) == ranked[2:]


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which cities have I visited?", True),
        ("What are my children called?", True),
        ("What board games do we own?", True),
        ("Who are my doctors?", True),
        ("What is my name?", False),
        ("What does she do?", False),
        ("Which bus is mine?", False),
    ],
)
def test_questions_for_all_members(question: str, several: bool) -> None:
    assert ask(question).asks_for_members is several
