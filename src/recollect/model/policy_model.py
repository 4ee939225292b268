"""The settings of the optional language model: where it is, and how much it may use."""

from typing import Annotated, Literal

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
    verdicts: Literal["propose", "apply"] = Field(
        "propose",
        description="what happens when the model says that two memories say the same, replace or contradict each other. propose: "
        "it waits until somebody decides; apply: it is done at once, and `runs undo` takes it back",
    )
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
    def _check(self) -> "LanguageModel":
        if bool(self.endpoint) != bool(self.name):
            raise ValueError("endpoint and name go together: name a model that the server has")
        if (self.prompt_price is None) != (self.answer_price is None):
            raise ValueError("prompt_price and answer_price go together; a model that costs nothing has 0")
        costs = (self.max_call_cost, self.max_run_cost, self.max_tenant_cost, self.max_day_cost)
        if self.prompt_price is None and any(cost is not None for cost in costs):
            raise ValueError("a limit in money needs prompt_price and answer_price")
        return self


class Upkeep(Section):
    """What the jobs of upkeep ask a language model, and how often.

    The bands compare a new fact with the nearest active memory by the cosine of their meanings, on the static embedder's scale.
    """

    extract_characters: int = Field(
        280,
        ge=1,
        description="extract: a message of more characters is read by the model; a shorter one if the rules read less "
        "than it states",
    )
    extract_turn_writes: int = Field(3, ge=1, le=5, description="extract: facts that one message may leave behind")
    extract_day_writes: int = Field(
        20, ge=1, description="extract: facts that a person's messages may leave behind in a day"
    )
    auto_merge: float = Field(
        0.98,
        ge=0,
        le=1,
        description="band auto-merge: from here on a new fact is known already, unless something that matters differs",
    )
    check_low: float = Field(
        0.97,
        ge=0,
        le=1,
        description="band update: from here on a new fact may change the nearest memory; the rules of identity decide, and "
        "where they are not sure it waits as a proposal",
    )
    fallback_low: float = Field(
        0.28,
        ge=0,
        le=1,
        description="band recreate: from here up to `check_low` a new fact is stored as a memory of its own, and consolidate "
        "compares the two; below it (fallback) the two are apart and never compared",
    )
    insights_every_h: float = Field(
        24, ge=0, description="insights: hours before a person's activity is looked at again"
    )
    pool_h: float = Field(
        72, gt=0, description="consolidate: hours within which a memory was made or changed to be compared"
    )
    pool_importance: int = Field(
        3, ge=1, le=6, description="consolidate: from this importance on a memory is compared whenever it was changed"
    )
    max_age_days: int = Field(90, ge=1, description="consolidate: days after which a memory is no longer compared")
    day_pairs: int = Field(50, ge=1, description="consolidate: pairs of a person that are compared in a day")
    prompt_pairs: int = Field(8, ge=5, le=10, description="consolidate: pairs in one prompt")
    recheck_days: int = Field(14, ge=0, description="consolidate: days before the same pair is compared again")

    @model_validator(mode="after")
    def _check(self) -> "Upkeep":
        if not self.fallback_low <= self.check_low <= self.auto_merge:
            raise ValueError("fallback_low, check_low and auto_merge must rise in this order")
        return self
