"""What a vouch weighs: a word from somebody relied upon counts, and a thousand identities of one actor count as one."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.trust.vouch_weight import ENOUGH, UNITS, Vouch, capacities, weight

HONEST = {"ana": ["ben", "cat"], "ben": ["dan"], "cat": ["dan", "eve"], "dan": ["fay"]}


def test_whoever_asks_counts_whole_and_trust_halves_with_each_step() -> None:
    assert [weight([Vouch(name)], HONEST, ["ana"]) for name in ("ana", "ben", "dan", "fay")] == [1.0, 0.5, 0.25, 0.125]


def test_strangers_weigh_nothing() -> None:
    assert weight([Vouch("zoe"), Vouch("yan")], HONEST, ["ana"]) == 0
    assert weight([Vouch("ana")], HONEST, []) == 0
    assert weight([], HONEST, ["ana"]) == 0


def test_beyond_the_last_step_nobody_is_trusted() -> None:
    chain = {"ana": ["b1"], "b1": ["b2"], "b2": ["b3"], "b3": ["b4"]}
    assert weight([Vouch("b3")], chain, ["ana"]) == 0.125
    assert weight([Vouch("b4")], chain, ["ana"]) == 0
    assert weight([Vouch("b1")], chain, ["ana"], max_steps=0) == 0


def test_the_nearest_seed_counts() -> None:
    assert weight([Vouch("fay")], HONEST, ["ana", "dan"]) == 0.5


def test_how_sure_a_voucher_is_bounds_the_word() -> None:
    assert weight([Vouch("ana", 0.3)], HONEST, ["ana"]) == 0.3
    assert weight([Vouch("ben", 0.9)], HONEST, ["ana"]) == 0.5
    assert weight([Vouch("ben", 0.0)], HONEST, ["ana"]) == 0


def test_several_words_add_up_as_far_as_they_are_independent() -> None:
    assert weight([Vouch("ben"), Vouch("cat")], HONEST, ["ana"]) == 1.0
    assert weight([Vouch("ana"), Vouch("ben"), Vouch("cat")], HONEST, ["ana"]) == 2.0
    assert weight([Vouch("ana"), Vouch("zed")], HONEST, ["ana", "zed"]) == 2.0
    only_through_ben = {"ana": ["ben"], "ben": ["x", "y", "z"]}
    assert weight([Vouch("x"), Vouch("y"), Vouch("z")], only_through_ben, ["ana"]) == 0.5


def test_more_than_enough_is_not_counted() -> None:
    seeds = [f"s{number}" for number in range(9)]
    assert weight([Vouch(name) for name in seeds], {}, seeds) == ENOUGH


def test_a_circle_of_trust_gives_nothing_more() -> None:
    circle = {"ana": ["ben"], "ben": ["cat"], "cat": ["ben", "ana"]}
    assert weight([Vouch("ben"), Vouch("cat")], circle, ["ana"]) == 0.5
    assert weight([Vouch("ben")], {"ben": ["cat"], "cat": ["ben"]}, ["ana"]) == 0


def attacked(socks: int, random: Random) -> dict[str, list[str]]:
    """The honest graph, in which ben was fooled into vouching for mallory, who runs so many identities."""
    mine = ["mallory", *(f"sock{number}" for number in range(socks))]
    graph = {name: list(others) for name, others in HONEST.items()}
    graph["ben"].append("mallory")
    for name in mine:
        graph[name] = [*random.sample(mine, min(len(mine), 20)), "fay", "ana"]
    graph["mallory"] = mine[1:]
    return graph


@pytest.mark.parametrize("socks", [0, 1, 10, 1_000])
def test_a_thousand_identities_weigh_what_one_does(socks: int) -> None:
    graph = attacked(socks, Random(socks))
    everybody = [Vouch("mallory"), *(Vouch(f"sock{number}") for number in range(socks))]
    assert weight(everybody, graph, ["ana"]) == weight([Vouch("mallory")], graph, ["ana"]) == 0.25


def test_they_lose_against_one_honest_word() -> None:
    graph = attacked(1_000, Random(1))
    socks = [Vouch(f"sock{number}") for number in range(1_000)]
    assert weight(socks, graph, ["ana"]) < weight([Vouch("cat")], graph, ["ana"])


def test_without_anybody_fooled_they_weigh_nothing() -> None:
    graph = attacked(1_000, Random(2))
    graph["ben"].remove("mallory")
    assert weight([Vouch(f"sock{number}") for number in range(1_000)], graph, ["ana"]) == 0


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefghM"), max_size=4), max_size=8),
    st.integers(0, 40),
    st.randoms(use_true_random=False),
)
def test_the_flow_is_bounded_by_those_who_were_vouched_for(
    honest: dict[str, list[str]], socks: int, random: Random
) -> None:
    """Whatever the honest graph and however the attacker wires the identities: all of them weigh no more than the one
    whom honest people vouched for may pass on."""
    mine = ["M", *(f"sock{number}" for number in range(socks))]
    wired = {name: random.sample(mine, min(4, len(mine))) for name in mine}
    graph = {**honest, **wired}
    assert weight([Vouch(name) for name in mine], graph, ["a"]) * UNITS <= capacities(honest, ["a"], 0.5, 3).get("M", 0)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=4), max_size=6),
    st.lists(st.sampled_from("abcdef"), unique=True),
)
def test_one_more_voucher_never_takes_weight_away(graph: dict[str, list[str]], vouchers: list[str]) -> None:
    weights = [weight([Vouch(name) for name in vouchers[:count]], graph, ["a"]) for count in range(len(vouchers) + 1)]
    assert weights == sorted(weights)
    assert all(0 <= one <= ENOUGH for one in weights)
