"""The settings of the optional language model: where it is, and how much it may use."""

from typing import Annotated

from pydantic import AfterValidator, Field, HttpUrl, ValidationError, model_validator

from recollect.model.policy_governance import Section

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def _address(text: str) -> str:
    """Refuse an address to which nothing should be sent. Keys in it would be shown with the policy."""
    if not text:
        return text
    try:
        url = HttpUrl(text)
    except ValidationError:
        raise ValueError("is no http or https address; e.g. http://localhost:11434/v1") from None
    if url.scheme != "https" and url.host not in LOOPBACK:
        raise ValueError("would send memories unencrypted; use https, or an address of this machine")
    if url.username or url.password or url.query or url.fragment:
        raise ValueError("has a user, a password or a query; name the key's variable in model.key_variable")
    return text


Address = Annotated[str, AfterValidator(_address)]


class LanguageModel(Section):
    """Which language model proposes memories, and how much it may use; none without an endpoint.

    A limit counts the tokens of prompts and answers, of failed calls too. A day is a day in UTC. Money is in the currency of the
    prices.
    """

    endpoint: Address = Field(
        "",
        max_length=2_000,
        description="the address of a server that speaks OpenAI's chat protocol, with its version, such as "
        "`http://localhost:11434/v1`; empty: there is no model. Only https, except on this machine",
    )
    name: str = Field("", max_length=200, description="the model, as the server calls it")
    key_variable: str = Field("", max_length=200, description="the environment variable with the key, if one is needed")
    timeout_s: float = Field(60.0, gt=0, le=600, description="how long one answer may take")
    max_retries: int = Field(
        3, ge=0, le=10, description="how often a call is repeated when the server is busy or fails"
    )
    max_call_tokens: int | None = Field(
        8_000, ge=1, description="tokens of one call, retries included (null: no limit)"
    )
    max_run_tokens: int | None = Field(100_000, ge=1, description="tokens of one run (null: no limit)")
    max_tenant_tokens: int | None = Field(200_000, ge=1, description="tokens of one tenant's day (null: no limit)")
    max_day_tokens: int | None = Field(1_000_000, ge=1, description="tokens of all tenants' day (null: no limit)")
    prompt_price: float | None = Field(None, ge=0, description="what a million tokens of prompts cost")
    answer_price: float | None = Field(None, ge=0, description="what a million tokens of answers cost")
    max_call_cost: float | None = Field(None, gt=0, description="what one call may cost (null: no limit)")
    max_run_cost: float | None = Field(None, gt=0, description="what one run may cost (null: no limit)")
    max_tenant_cost: float | None = Field(None, gt=0, description="what one tenant's day may cost (null: no limit)")
    max_day_cost: float | None = Field(None, gt=0, description="what all tenants' day may cost (null: no limit)")

    @model_validator(mode="after")
    def _makes_sense(self) -> "LanguageModel":
        if bool(self.endpoint) != bool(self.name):
            raise ValueError("endpoint and name go together: name a model that the server has")
        if (self.prompt_price is None) != (self.answer_price is None):
            raise ValueError("prompt_price and answer_price go together; a model that costs nothing has 0")
        costs = (self.max_call_cost, self.max_run_cost, self.max_tenant_cost, self.max_day_cost)
        if self.prompt_price is None and any(cost is not None for cost in costs):
            raise ValueError("a limit in money needs prompt_price and answer_price")
        return self
