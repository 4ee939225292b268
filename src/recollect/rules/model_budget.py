"""Say what a language model may still use, before each call, and which limit was reached."""

from typing import NamedTuple

from recollect.model.policy_model import LanguageModel

MILLION = 1_000_000


class Spent(NamedTuple):
    """What calls have used so far, failed ones included. Money is counted in millionths, so that sums are exact."""

    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost_millionths: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


class Allowance(NamedTuple):
    """What the next call may use, with its retries: so many tokens, or any number (``None``).

    ``reason`` is the code of the limit that it would pass; a call that may be made has none.
    """

    tokens: int | None
    reason: str = ""


def cost_of(model: LanguageModel, prompt_tokens: int, answer_tokens: int) -> int:
    """Return what tokens cost, in millionths of the prices' currency, rounded up to a whole one.

    >>> cost_of(LanguageModel(prompt_price=0.15, answer_price=0.6), 1_000, 100)
    210
    """
    prices = (model.prompt_price or 0.0, model.answer_price or 0.0)
    counts = (prompt_tokens, answer_tokens)
    exact = sum(round(price * MILLION) * count for price, count in zip(prices, counts, strict=True))
    return -(-exact // MILLION)


def allow_call(
    model: LanguageModel, prompt_tokens: int, answer_tokens: int, *, run: Spent, tenant: Spent, day: Spent
) -> Allowance:
    """Return what a call may use that has a prompt of so many tokens and wants an answer of so many at most.

    The call is refused unless its prompt and its longest answer fit below every limit, so that no limit is ever passed by
    more than the server adds to a prompt. The narrowest limit names the reason.

    >>> model = LanguageModel(endpoint="http://localhost/v1", name="tiny", max_run_tokens=1_000)
    >>> allow_call(model, 300, 200, run=Spent(400), tenant=Spent(), day=Spent())
    Allowance(tokens=600, reason='')
    >>> allow_call(model, 300, 200, run=Spent(600), tenant=Spent(), day=Spent()).reason
    'model:run_limit'
    """
    if not model.endpoint:
        return Allowance(0, "model:none")
    wanted = Spent(prompt_tokens, answer_tokens, cost_of(model, prompt_tokens, answer_tokens))
    left: list[int] = []
    for name, spent in (("call", Spent()), ("run", run), ("tenant", tenant), ("day", day)):
        tokens, cost = getattr(model, f"max_{name}_tokens"), getattr(model, f"max_{name}_cost")
        beyond_tokens = tokens is not None and spent.tokens + wanted.tokens > tokens
        beyond_cost = cost is not None and spent.cost_millionths + wanted.cost_millionths > round(cost * MILLION)
        if beyond_tokens or beyond_cost:
            return Allowance(0, f"model:{name}_limit")
        left += [] if tokens is None else [tokens - spent.tokens]
        left += [] if cost is None else [_tokens_for(model, round(cost * MILLION) - spent.cost_millionths, wanted)]
    return Allowance(min(left, default=None))


def _tokens_for(model: LanguageModel, millionths: int, wanted: Spent) -> int:
    """Return how many tokens that much money buys, all at the dearer price; at least those of the call that was found to fit."""
    dearer = max(model.prompt_price or 0.0, model.answer_price or 0.0)
    return max(wanted.tokens, int(millionths / dearer)) if dearer else MILLION * MILLION
