"""The policy: every number and switch that a rule reads, as one validated, frozen object.

A policy file is YAML. ``preset`` names the policy to start from; every other key overrides one setting of it. A key
that does not exist is an error that names it and the nearest one that does.
"""

import difflib
import re
from collections.abc import Mapping
from re import _parser  # type: ignore[attr-defined]
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from recollect.model.canonical import canonical_json
from recollect.model.errors import BadPolicy
from recollect.model.policy_governance import (
    Erasure,
    Phase,
    Promotion,
    Provenance,
    Retention,
    Section,
    Spaces,
    Trust,
    Turns,
)
from recollect.model.policy_model import LanguageModel, Upkeep
from recollect.model.vocabulary import Authority, EventType, Source

_SEE_ALL = "Run `recollect policy` to see every setting."

PrivacyAction = Literal["deny", "redact", "allow"]


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r:.80} is not a regular expression: {error}") from error
    return text


MAX_REPEATED = 20_000
"""How many characters the repeats of a pattern may stand for: twice the longest memory, and some 20 MB once compiled."""


def _written_out(parsed: Any) -> int:
    """Return how long a parsed pattern is with every count written out; ``*`` and ``+`` stand for one."""
    if isinstance(parsed, _parser.SubPattern):
        return sum(_repeated(*values) if op in _REPEATS else max(1, _written_out(values)) for op, values in parsed)
    return sum(map(_written_out, parsed)) if isinstance(parsed, list | tuple) else 0


def _repeated(least: int, most: int, parsed: Any) -> int:
    return (max(1, least) if most == _parser.MAXREPEAT else most) * _written_out(parsed)


_REPEATS = (_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT)


def _check_limited_pattern(text: str) -> str:
    """Check a deny pattern with the library that runs it as well, which can be stopped, but compiles every repeat of a count."""
    import regex  # takes 25 ms to import, and few policies have patterns of their own

    _check_pattern(text)
    if (length := _written_out(_parser.parse(text))) > MAX_REPEATED + len(text):
        raise ValueError(
            f"{text!r:.80} repeats too much: with its counts written out it has {length:,} characters, and may have "
            f"{MAX_REPEATED:,} more than it is long. Use smaller counts, or * and +, which cost nothing"
        )
    try:
        regex.compile(text)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r:.80} is not a regular expression: {error}") from error
    return text


LimitedPattern = Annotated[str, AfterValidator(_check_limited_pattern)]


class Keys(Section):
    """How a memory is named."""

    parser: bool = Field(
        True,
        description="name plain statements by rule, with the statement reader; without it only explicit keys are shared",
    )
    fallback: Literal["fingerprint", "folded", "shared"] = Field(
        "fingerprint",
        description="the key of a statement that no rule is sure about: its own (fingerprint), its own whatever its "
        "capitals and blanks (folded), or the one literal World-Fact-General that all of them share (shared)",
    )
    unrelated: Literal["hold", "replace"] = Field(
        "hold",
        description="a text under a title or key that the caller gave, which shares no word with the active memory there: "
        "hold it as a contradiction (hold), or take it for the new value (replace)",
    )


class Text(Section):
    """How text is read."""

    synonyms: dict[str, str] = Field(
        default_factory=dict, description="words folded into another before comparing, such as js: JavaScript"
    )


_TEST_RUN = r"(?:e2e|end-to-end|integration|smoke|unit|regression|automated)(?: |-)"
_TEST_RECORD = r"(?:test|dummy)(?: |-)(?:memory|entry|record|note|write)"
TEST_PATTERNS = (
    # The label of a record, and what labels are followed by: "Test memory 12", "This is just a test entry: …".
    rf"(?i)^\W*(?:(?:this|it) is (?:just |only )?)?(?:an? )?(?:{_TEST_RUN})?{_TEST_RECORD}"
    r"(?=\W*$|\s*[:#.,;!(]|\s+(?:[-\u2013\u2014]\s|#?\d|[0-9a-f]{6,}\b|(?:no|number|id|created|written|for|from|by|please|ignore)\b))",
    # The same after the name of a product: "Elefante E2E Test Memory 1718".
    rf"(?i)^\W*(?:(?!(?:the|our|my|your|each|every|all|no) )[\w.]+ ){{1,2}}{_TEST_RUN}{_TEST_RECORD}"
    r"(?=\W*$|\s+(?:#?\d|[0-9a-f]{6,}\b))",
    r"(?i)^\W*\[\s*(?:\w+[ -])?test(?:ing|[ -]?data)?\s*\]",
    rf"(?i)^\W*{_TEST_RUN}test\s*[:#]",
    r"(?i)^\W*(?:(?:this|it) is )?(?:just |only )?(?:a )?(?:test|dummy)(?:ing)?(?:[ -]data)?\d*"
    r"(?:\W+(?:\d+|test(?:ing)?|one|two|three|please|ignore|me|this|it))*\W*$",
    r"(?i)^\W*(?:foo|asdf|qwerty)(?:\W+(?:foo|bar|baz|qux|asdf|qwerty|test|\d+))+\W*$",
    r"(?i)^lorem ipsum(?: dolor\b|\W*$)",
)
"""Texts that say of themselves that they are test records. "The test entry point is …" is about tests, and is none."""


def _check_test_pattern(text: str) -> str:
    return text if text in TEST_PATTERNS else _check_limited_pattern(text)


TestPattern = Annotated[str, AfterValidator(_check_test_pattern)]


class Namespaces(Section):
    """What is kept out of production, and for how long it lives."""

    test_tags: tuple[str, ...] = Field(("test", "e2e"), description="tags that mark a test memory")
    test_categories: tuple[str, ...] = Field(("test",), description="categories that mark a test memory")
    test_patterns: tuple[TestPattern, ...] = Field(
        TEST_PATTERNS,
        description="content that says of itself that it is a test record; a statement about tests is none",
    )
    test_ttl_s: int | None = Field(604_800, ge=1, description="seconds until a test memory expires (null: never)")
    ephemeral_ttl_s: int = Field(86_400, ge=1, description="seconds until an ephemeral memory expires")


class Write(Section):
    """What may be written at all."""

    policy: Literal["none", "minimal", "normal", "aggressive"] = Field(
        "normal",
        description="none: nothing; minimal: the conversation's window, and preferences, decisions and corrections; normal: "
        "everything, and of a turn what the person states; aggressive: of a turn also what tools and the model say",
    )
    allow_event_types: tuple[EventType, ...] | None = Field(None, description="if set, only these event types")
    deny_event_types: tuple[EventType, ...] = Field((), description="never these event types")

    @model_validator(mode="after")
    def _check(self) -> "Write":
        both = [event for event in self.allow_event_types or () if event in self.deny_event_types]
        if both:
            raise ValueError(f"allow_event_types: {both[0]} is both allowed and denied")
        return self


GATES = tuple(
    "place namespace border classify write_policy retention steps noise writing length privacy validity naming".split()
)
_GATES_BEFORE = {
    "border": {"place", "namespace"},
    "classify": {"border"},
    "write_policy": {"classify"},
    "retention": {"classify"},
    "privacy": {"steps"},
    "validity": {"privacy"},
    "naming": {"validity", "classify"},
}
"""What each gate reads is set by these, so they come before it."""


class Gates(Section):
    """In which order a memory is looked at, before it is compared with others."""

    order: tuple[str, ...] = Field(
        GATES, description="the gates in their order; the first that refuses a memory ends it. Each is there once"
    )

    @model_validator(mode="after")
    def _check(self) -> "Gates":
        if sorted(self.order) != sorted(GATES):
            raise ValueError(f"order: must list each of these once: {', '.join(GATES)}")
        for number, name in enumerate(self.order):
            late = _GATES_BEFORE.get(name, set()).difference(self.order[:number])
            if late:
                raise ValueError(f"order: {min(late)} must come before {name}")
        return self


NOISE_SIGNALS = (
    "tick marker",
    "runtime snapshot",
    "check-in",
    "heartbeat",
    "burst tick",
    "no changes",
    "nothing to report",
    "status unchanged",
    "routine scan",
    "ephemeral",
)


class Noise(Section):
    """What is a journal entry and not a memory."""

    match: Literal["never", "whole", "substring"] = Field(
        "whole",
        description="whole: only a message that is nothing but a journal entry; substring: any message with a signal in "
        "it; never: no message",
    )
    signals: tuple[str, ...] = Field(NOISE_SIGNALS, description="the phrases that mark a journal entry")


class Length(Section):
    """Limits below the hard one of 10,240 bytes; beyond them a write is denied."""

    max_characters: int | None = Field(None, ge=1, description="any memory (null: only the hard limit)")
    tier_max_characters: int = Field(1_200, ge=1, description="memories of a vault tier")
    model_written_max_characters: int = Field(280, ge=1, description="summaries and insights that a model wrote")


WritingAction = Literal["off", "flag", "trim", "reject"]
Writer = Literal["agent", "model"]
_WRITING: dict[Writer, WritingAction] = {"agent": "flag", "model": "reject"}


class Writing(Section):
    """What happens to text that an agent or a model writes against the writing constraints."""

    action: dict[Writer, WritingAction] = Field(
        _WRITING,
        description="for what an agent writes, and for what a model of upkeep proposes. off: not looked at; flag: stored, and "
        "the receipt says what is wrong; trim: cut to the leading sentences that fit, and flagged; reject: refused. One word "
        "goes for both; a writer left out has its own default. A person's words are never held to them",
    )

    @field_validator("action", mode="before")
    @classmethod
    def _spread_action(cls, given: Any) -> Any:
        """Take one word for all writers, and what YAML makes of a bare ``off``."""
        each = given if isinstance(given, Mapping) else dict.fromkeys(_WRITING, given)
        return {**_WRITING, **{writer: "off" if action is False else action for writer, action in each.items()}}

    def action_for(self, writer: Writer) -> WritingAction:
        return self.action[writer]


PROFILE_KEYS = """
    name preferred_name pronouns city country location home_city language languages time_zone timezone employer
    company role job_title birthday email phone tone goals diet allergies likes dislikes hobbies family pets
    favorite_color favourite_colour communication_style expertise education
""".split()


CONSENT_KEYS = tuple("name preferred_name pronouns city country location home_city language languages".split())
"""Profile facts that are for the person alone to set."""


class Privacy(Section):
    """What must not be remembered, or not without the person's consent."""

    actions: dict[str, PrivacyAction] = Field(
        default_factory=dict,
        description="deny, redact or allow for each type of sensitive data; a type left out has its own default",
    )
    deny_patterns: tuple[LimitedPattern, ...] = Field(
        (), description="regular expressions of your own; what one finds, or searches for too long, is refused"
    )
    profile_keys: tuple[str, ...] | None = Field(
        tuple(PROFILE_KEYS), description="the fact keys that a profile memory may have (null: any)"
    )
    consent_keys: tuple[str, ...] = Field(
        CONSENT_KEYS,
        description="the fact keys of profile memories that wait as pending, unless the person stated them",
    )


class Consent(Section):
    """How a profile field that somebody else proposes waits for the person, and when a harmless one applies itself.

    Which fields take consent is said by ``privacy.consent_keys``.
    """

    wait_days: int = Field(7, ge=1, le=3_650, description="days that a proposal waits before it lapses")
    benign_keys: tuple[str, ...] = Field(
        ("tone", "communication_style", "goals"),
        description="the fact keys of profile memories that apply themselves when two independent signals agree, or when one "
        "insight is sure enough; until then they wait as pending",
    )
    confidence_min: float = Field(
        0.8,
        ge=0,
        le=1,
        description="how sure an insight must be for a benign field that is built upon it to apply itself",
    )
    overlap_min: float = Field(
        0.8, gt=0, le=1, description="share of common words from which two statements of a profile field are alike"
    )
    ratio_min: float = Field(
        0.9, gt=0, le=1, description="similarity of the letters from which two statements of a profile field are alike"
    )


class NearDuplicates(Section):
    """What happens to words that are almost those of another memory under another key."""

    action: Literal["ignore", "reinforce", "link", "reject"] = Field(
        "reinforce",
        description="reinforce: count it where nothing that matters differs, else store and link; link: store and link; "
        "reject: deny; ignore: do not look",
    )
    compare: Literal["meaning", "literal"] = Field(
        "meaning", description="meaning: stemmed words, and whether anything that matters differs; literal: raw tokens"
    )
    overlap_min: float = Field(0.60, gt=0, le=1, description="share of common words from which two texts are alike")
    ratio_min: float = Field(0.70, gt=0, le=1, description="similarity of the letters from which two texts are alike")
    max_candidates: int = Field(200, ge=1, le=10_000, description="how many candidates are compared")


class Identity(Section):
    """What happens where no rule is sure whether a new memory is about the same as an older one."""

    offer: bool = Field(True, description="show the writer up to three active memories that the new one may replace")
    flag: bool = Field(
        True,
        description="link a new memory to those that it may make outdated (may_update), and let contested values stand "
        "side by side",
    )
    confirmed: Literal["version", "edit"] = Field(
        "version",
        description="a higher authority says what a lower one stated: version: its words are the next version, with nothing "
        "that the lower one attached; edit: no new version, and what the lower one attached is removed",
    )
    near_min: float = Field(
        0.3, ge=0, le=1, description="how alike two memories must be for a link without a stated reason"
    )
    near_links: int = Field(
        3, ge=0, le=10, description="how many memories a new one is linked to without a stated reason"
    )
    found_by_former: bool = Field(
        True, description="a memory is also found by the words and the meaning of the one whose place it took"
    )
    outdated: Literal["mark", "drop"] = Field(
        "mark",
        description="an answer that holds both ends of a may_update link: mark: the later one first, the earlier one marked; "
        "drop: the later one alone",
    )


class Conflict(Section):
    """Who wins when two memories of one key contradict each other."""

    policy: Literal["authority", "manual", "latest_wins", "source_priority"] = Field(
        "authority",
        description="authority: authority, then correction, recency, importance; manual: a person decides; latest_wins; "
        "source_priority",
    )
    corrections_stand: bool = Field(
        False, description="a correction stands against a later plain statement of the same authority"
    )
    losing_newcomer: Literal["wait", "leave"] = Field(
        "wait",
        description="a new statement that loses waits for a person's decision (wait), or leaves at once and is kept in "
        "history alone (leave)",
    )
    authority_order: tuple[Authority, ...] = Field(tuple(Authority), description="highest first")
    source_order: tuple[Source, ...] = Field(tuple(Source), description="highest first")

    @model_validator(mode="after")
    def _check_orders(self) -> "Conflict":
        for name, order, words in (
            ("authority_order", self.authority_order, Authority),
            ("source_order", self.source_order, Source),
        ):
            if sorted(order) != sorted(words):
                raise ValueError(f"{name}: must list each of these once: {', '.join(words)}")
        return self


class AuthorityRules(Section):
    """Who is believed."""

    verifying_tools: tuple[str, ...] = Field((), description="agents or tools whose output counts as tool_verified")


class Capacity(Section):
    """How much may be active at once."""

    max_active: int | None = Field(None, ge=1, description="active memories in all of production (null: no limit)")


class Lifecycle(Section):
    """When the unused is put away, and when what was put away is gone."""

    unused_after_days: int = Field(60, ge=1, description="days without access after which a memory may be put away")
    unused_importance_below: int = Field(3, ge=1, le=6, description="only memories less important than this")
    purge_after_days: int = Field(30, ge=0, description="days from soft deletion until the content is removed")


class Category(Section):
    """One category, and how much of it a context gets."""

    name: str = Field(min_length=1, max_length=256)
    context: Literal["all", "rag"] = Field("rag", description="all of it, or what is relevant")
    rag_length: int = Field(30, ge=1, le=1_000, description="how many relevant ones at most")


class Categories(Section):
    """Which categories there are, and what a context gets of each."""

    system: tuple[Category, ...] = Field(
        (
            Category(name="profile", context="all"),
            Category(name="event", context="rag", rag_length=30),
            Category(name="activity", context="rag", rag_length=50),
        ),
        description="the categories that come with the system: name, context (all or rag), rag_length",
    )
    custom: tuple[Category, ...] = Field((), description="categories of your own, in the same form")

    @model_validator(mode="after")
    def _check(self) -> "Categories":
        names = [category.name for category in (*self.system, *self.custom)]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"custom: the category {twice[0]} is there twice")
        return self

    def known(self, name: str) -> Category | None:
        return next((category for category in (*self.system, *self.custom) if category.name == name), None)


class Agents(Section):
    """What each agent may know of."""

    allowlists: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="the categories that each agent may read and write; once there is a list, an agent without one may none. "
        "In a file it may stand at the top, too, as `allowlists`",
    )

    def categories(self, agent: str | None) -> tuple[str, ...] | None:
        """Return the categories of an agent; ``None`` for all, if there are no lists or the caller is no agent."""
        return None if agent is None or not self.allowlists else self.allowlists.get(agent, ())


class Recall(Section):
    """How reading is bounded."""

    top_k: int = Field(5, ge=1, le=1_000, description="how many memories a query returns")
    confidence_min: float = Field(
        0.32,
        ge=0,
        le=1,
        description="the confidence below which a plain question is left unanswered; 0: it is always answered",
    )
    max_postings: int = Field(
        2_000, ge=100, description="how many index entries a query reads; its rarest words are read first"
    )
    max_compared: int = Field(
        150, ge=10, description="how many of the best are compared by the words that were too common to read whole"
    )
    vectors_at_hand: int = Field(
        1_000_000,
        ge=1_000,
        description="how many vectors a process caches, 256 bytes each by default, and eight times as many by their signs alone",
    )
    similar_words: float = Field(
        0.6,
        ge=0,
        le=1,
        description="how much a similar word counts beside the question's own, times how like it is; 0: not at all",
    )
    bm25_k1: float = Field(0.9, ge=0, description="how fast repetition of a word stops counting")
    bm25_b: float = Field(0.5, ge=0, le=1, description="how much long texts are discounted")


class Ranking(Section):
    """What each feature of a memory counts for.

    Chosen over all sets that `bench/recall.py` measures; `bench/tune.py`, which searches on all but one, finds none that are
    better by more than 0.003 on the one left out. Importance, vouching, pinned and canon, which no set shows, are small: they
    decide between near-equals and never over a better answer.
    """

    text: float = Field(0.3, ge=0, le=10, description="the words that it shares with the question, rare ones most")
    meaning: float = Field(1.5, ge=0, le=10, description="likeness of meaning, where vectors are kept")
    nearest_words: float = Field(
        2.0, ge=0, le=10, description="how near each word of the question is to some word of it, where vectors are kept"
    )
    names: float = Field(0.25, ge=0, le=10, description="the question names who said it, or what it is about")
    time: float = Field(1.0, ge=0, le=10, description="it is from a time that the question names")
    authority: float = Field(0.4, ge=0, le=10, description="a person, a tool or the operator stands for it")
    asks: float = Field(-0.07, ge=-10, le=0, description="the memory is itself only a question")
    lent: tuple[float, ...] = Field(
        (0.6, 0.4, 0.2), max_length=8, description="what neighbours in a conversation lend of their words, by distance"
    )
    importance: float = Field(0.1, ge=0, le=10, description="how important it is")
    vouching: float = Field(0.1, ge=0, le=10, description="others vouch for it")
    relation: float = Field(0.1, ge=0, le=10, description="it is related to one of the best matches")
    bearing: float = Field(
        0.3, ge=0, le=10, description="it is about what the question depends on, such as what one cannot eat"
    )
    asked_for: float = Field(1.0, ge=0, le=10, description="the question asks for all that is known of a person")
    meaning_min: float = Field(
        0.1, ge=0, le=1, description="how like the question a memory must be that shares no word with it"
    )
    pinned: float = Field(0.15, ge=0, le=10, description="it is pinned")
    canon: float = Field(0.15, ge=0, le=10, description="it is canon")
    insight: float = Field(
        -1.5, ge=-10, le=0, description="it is an insight: what somebody said or stored as a fact comes before it"
    )
    newest_first: bool = Field(
        True,
        description="of two statements about the same thing the newer one comes first; asked for the first, the earliest",
    )


class Embedding(Section):
    """Whose vectors memories have; without a name, those that the store has, and a new one the static embedder's."""

    name: Literal["static", "none", "minilm", "openai"] | None = Field(
        None, description="`static`, `none`, `minilm`, `openai`; left out: as the store has it"
    )
    url: str = Field("", max_length=2_000, description="for `openai`: the address, with its version")
    model: str = Field("", max_length=200, description="for `openai`: the model")
    dimensions: int = Field(0, ge=0, le=65_536, description="for `openai`: how long its vectors are")
    key_variable: str = Field("", max_length=200, description="for `openai`: the environment variable with the key")
    timeout_s: float = Field(30.0, gt=0, le=600, description="for `openai`: how long to wait for an answer")
    scale: tuple[float, float] | None = Field(
        None,
        description="for `openai`: the cosines of texts that have nothing and much to do with each other; measured if left out",
    )


class Relations(Section):
    """How memories are linked to those that they have to do with."""

    neighbours: int = Field(
        3, ge=0, le=20, description="to how many of its nearest neighbours in meaning a new semantic memory is linked"
    )
    link_min: float = Field(0.6, ge=0, le=1, description="how like a neighbour must be")
    bullets: int = Field(
        2, ge=0, le=10, description="how many related memories are listed below the recalled ones, in all"
    )


class Injection(Section):
    """How large the blocks for prompts are."""

    max_items: int = Field(20, ge=1, le=1_000, description="how many relevant memories a block has at most")
    budget_tokens: int = Field(1_024, ge=1, le=1_000_000, description="how many tokens a block has at most")
    item_characters: int = Field(
        1_200, ge=40, le=10_240, description="how many characters of a memory a block shows; the rest is cut"
    )


class Procedures(Section):
    """What a memory of kind ``procedural`` is held to."""

    steps_required: bool = Field(True, description="refuse what is not numbered steps in the imperative")
    max_steps: int = Field(30, ge=1, le=999, description="how many steps at most")


class OnDemand(Section):
    """When memory is asked in the middle of a turn, and how much it may answer."""

    confidence_below: float = Field(
        0.5, ge=0, le=1, description="memory is searched if the model is less sure than this"
    )
    top_k: int = Field(3, ge=1, le=100, description="how many memories are returned at most")
    budget_tokens: int = Field(256, ge=1, le=100_000, description="how many tokens they have together at most")


class Checkpoints(Section):
    """How much history the threads of graphs keep."""

    keep_last: int | None = Field(500, ge=1, description="versions of a thread's graph that are kept (null: all)")
    keep_days: int | None = Field(None, ge=1, description="days after which a version is removed (null: never)")


class Traces(Section):
    """Which governance events are kept in the store, besides being returned to the caller."""

    keep: Literal["none", "denied", "all"] = Field("denied", description="none, only what was refused, or every event")
    keep_days: int = Field(90, ge=1, le=36_500, description="days after which upkeep removes a kept event")
    max_kept: int | None = Field(
        100_000, ge=1, description="kept events of a tenant, beyond which upkeep removes the oldest (null: no limit)"
    )


class Operations(Section):
    """Whether operational events are kept, and for how long."""

    keep: bool = Field(True, description="note what was done, when and for whom, without any content")
    keep_days: int = Field(90, ge=1, le=36_500, description="days after which upkeep removes operational events")


class Policy(Section):
    """Every setting. See ``docs/policy.md`` for the table, and ``recollect policy`` for the one in force."""

    preset: str = Field("default", description="the policy that this one started from")
    keys: Keys = Keys()
    text: Text = Text()
    namespaces: Namespaces = Namespaces()
    write: Write = Write()
    gates: Gates = Gates()
    noise: Noise = Noise()
    writing: Writing = Writing()
    length: Length = Length()
    privacy: Privacy = Privacy()
    consent: Consent = Consent()
    near_duplicates: NearDuplicates = NearDuplicates()
    identity: Identity = Identity()
    conflict: Conflict = Conflict()
    authority: AuthorityRules = AuthorityRules()
    capacity: Capacity = Capacity()
    lifecycle: Lifecycle = Lifecycle()
    retention: Retention = Retention()
    promotion: Promotion = Promotion()
    spaces: Spaces = Spaces()
    turns: Turns = Turns()
    phase: Phase = Phase()
    categories: Categories = Categories()
    agents: Agents = Agents()
    recall: Recall = Recall()
    ranking: Ranking = Ranking()
    embedder: Embedding = Embedding()
    relations: Relations = Relations()
    injection: Injection = Injection()
    procedures: Procedures = Procedures()
    on_demand: OnDemand = OnDemand()
    checkpoints: Checkpoints = Checkpoints()
    traces: Traces = Traces()
    operations: Operations = Operations()
    provenance: Provenance = Provenance()
    erasure: Erasure = Erasure()
    trust: Trust = Trust()
    model: LanguageModel = LanguageModel()
    upkeep: Upkeep = Upkeep()

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def by_name(self) -> dict[str, Any]:
        """Return the plain value of each setting by its dotted name, as :func:`settings` lists them."""
        sections = {name: values for name, values in self.to_dict().items() if isinstance(values, dict)}
        inner = {f"{name}.{key}": value for name, values in sections.items() for key, value in values.items()}
        return {"preset": self.preset, **inner}

    def expanded(self) -> dict[str, Any]:
        """Return every setting with what follows from it: all cells of retention, as traces show them."""
        return {**self.to_dict(), "retention": self.retention.expanded()}

    def snapshot(self) -> str:
        """Return the expanded policy in canonical form, as traces refer to it."""
        return canonical_json(self.expanded())


def settings() -> list[tuple[str, str, Any]]:
    """Return every setting as ``(dotted name, description, default)``, in the order of the policy."""
    meanings = {"preset": Policy.model_fields["preset"].description or ""}
    for name, info in Policy.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Section):
            fields = info.annotation.model_fields
            meanings |= {f"{name}.{inner}": field.description or "" for inner, field in fields.items()}
    return [(name, meanings[name], default) for name, default in Policy().by_name().items()]


def parse_policy(data: dict[str, Any]) -> Policy:
    """Return a policy from plain values; a wrong one is refused with the setting's name and what would fit."""
    try:
        return Policy.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise BadPolicy("there is no such setting.", field=name, hint=_suggest(name)) from None
        message = str(first["msg"]).removeprefix("Value error, ")
        raise BadPolicy(f"{message}.", field=name or None, hint=_SEE_ALL) from None


def _suggest(name: str) -> str:
    known = [row[0] for row in settings()] + list(Policy.model_fields)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"Did you mean {near[0]}?" if near else _SEE_ALL
