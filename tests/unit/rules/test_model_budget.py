"""The limits of a language model, per call, run, tenant and day, in tokens and in money."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.errors import BadPolicy
from recollect.model.policy import parse_policy
from recollect.model.policy_model import LanguageModel
from recollect.rules.model_budget import Spent, allow_call, cost_of

HERE = {"endpoint": "http://127.0.0.1:1/v1", "name": "tiny"}
NOTHING = Spent()


def reason(model: LanguageModel, run: Spent = NOTHING, tenant: Spent = NOTHING, day: Spent = NOTHING) -> str:
    return allow_call(model, 300, 200, run=run, tenant=tenant, day=day).reason


def test_without_an_endpoint_there_is_no_model() -> None:
    assert reason(parse_policy({}).model) == "model:none"
    assert reason(LanguageModel(**HERE)) == ""


@pytest.mark.parametrize("limit", ["call", "run", "tenant", "day"])
def test_each_limit_stops_a_call_in_tokens_and_in_money(limit: str) -> None:
    spent = {} if limit == "call" else {limit: Spent(500, 0, 500)}
    prices = {"prompt_price": 1.0, "answer_price": 1.0}
    for setting in ({f"max_{limit}_tokens": 499}, {f"max_{limit}_cost": 0.000_499, **prices}):
        assert reason(LanguageModel(**HERE, **setting), **spent) == f"model:{limit}_limit"
    for setting in ({f"max_{limit}_tokens": 1_000}, {f"max_{limit}_cost": 0.001, **prices}):
        assert reason(LanguageModel(**HERE, **setting), **spent) == ""


@given(
    limit=st.integers(1, 5_000),
    calls=st.lists(st.tuples(st.integers(0, 900), st.integers(1, 900)), max_size=12),
    price=st.floats(0, 30),
)
def test_no_row_of_calls_passes_a_limit(limit: int, calls: list[tuple[int, int]], price: float) -> None:
    model = LanguageModel(**HERE, max_run_tokens=limit, max_run_cost=0.01, prompt_price=price, answer_price=2 * price)
    run = Spent()
    for prompt, answer in calls:
        allowed = allow_call(model, prompt, answer, run=run, tenant=run, day=run)
        if not allowed.reason:
            assert allowed.tokens is not None and prompt + answer <= allowed.tokens
            spent = Spent(prompt, answer, cost_of(model, prompt, answer))
            run = Spent(*(one + more for one, more in zip(run, spent, strict=True)))
    assert run.tokens <= limit
    assert run.cost_millionths <= 10_000


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"endpoint": "http://example.com/v1", "name": "m"}, "unencrypted"),
        ({"endpoint": "http://127.0.0.1.example.com/v1", "name": "m"}, "unencrypted"),
        ({"endpoint": "ftp://localhost/v1", "name": "m"}, "no http or https address"),
        ({"endpoint": "https://sk-1234@example.com/v1", "name": "m"}, "key_variable"),
        ({"endpoint": "https://example.com/v1?key=sk-1234", "name": "m"}, "key_variable"),
        ({"endpoint": "https://example.com/v1"}, "go together"),
        ({**HERE, "max_day_cost": 1.0}, "needs prompt_price"),
        ({**HERE, "prompt_price": 1.0}, "go together"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_its_name(settings: dict[str, object], says: str) -> None:
    with pytest.raises(BadPolicy, match=says) as refused:
        parse_policy({"model": settings})
    assert str(refused.value).startswith("model")
    assert "sk-1234" not in str(refused.value)
