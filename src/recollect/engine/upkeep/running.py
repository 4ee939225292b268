"""Run a job on one stream: ask the model within its limits, and keep each proposal with its outcome.

A call is written before it is made, with the most tokens that it may use, and corrected afterwards, so that a crashed call
counts too. The model is called outside every lock. A run that had nothing to ask leaves no row.
"""

import hmac
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from importlib import resources
from string import Template
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from recollect.embed.static import count_tokens
from recollect.engine.context import Engine
from recollect.engine.retries import again_on_conflict
from recollect.llm.protocol import A, Failure, Message, Model, ModelFailed, Prompt, Usage
from recollect.model.canonical import canonical_json
from recollect.model.operation import Node
from recollect.model.run import Action, Job, ModelCall, ProposalStatus, RunOutcome, StoredProposal, StoredRun
from recollect.rules.model_budget import Spent, allow_call, cost_of
from recollect.rules.reasons import plain
from recollect.stores.protocol import Stream, Writer

T = TypeVar("T")

KNOWN, UNDONE = "model:known", "upkeep:undone"
ASKED, RECEIVED, ANSWERED = "asked", "received", "answered"
"""The outcomes of a call that was sent, of one that came back, and of one whose answer was processed."""
TOKENS_PER_MESSAGE = 8
"""How many tokens servers add to each message."""
_OF_ONE_PROMPT = frozenset({Failure.INVALID, Failure.OVERLONG, Failure.UNREADABLE})
"""Failures after which the next prompt may be asked; after any other the run ends."""
_GOES_ON = {
    "model:none": "Set model.endpoint and model.name in the policy.",
    "model:call_limit": "Raise the limit, or what this prompt is about is never read.",
    "model:run_limit": "The next run goes on.",
    "model:tenant_limit": "Runs go on tomorrow.",
    "model:day_limit": "Runs go on tomorrow.",
}
_ID_BYTES, _SECRET_BYTES = 8, 32
_AS_LETTERS = str.maketrans("0123456789", "ghijklmnop")


class PromptTemplate(NamedTuple):
    """A prompt file: its version, the longest answer in tokens, the messages with places for values, and maybe an example."""

    name: str
    version: int
    max_tokens: int
    system: str
    user: str
    example: Mapping[str, str] = MappingProxyType({})
    """Values that are asked about before the real ones, and the ``answer`` to them."""

    def messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """Return the messages of a prompt; the last one asks."""
        system, user = Template(self.system).substitute(values), Template(self.user)
        messages = [Message("system", system)]
        if self.example:
            shown = Message("user", user.substitute(self.example))
            messages += [shown, Message("assistant", self.example["answer"])]
        return *messages, Message("user", user.substitute(values))


@cache
def read_template(name: str) -> PromptTemplate:
    """Return the prompt of this name."""
    text = resources.files(__package__).joinpath("prompts", f"{name}.toml").read_text(encoding="utf-8")
    return PromptTemplate(name, **tomllib.loads(text))


class Running:
    """A run at work."""

    def __init__(self, engine: Engine, job: Job, stream: Stream, model: Model, ids: Sequence[str] = ()) -> None:
        self.engine = replace(engine, node=Node.WORKER)
        self.job, self.stream, self.model = job, stream, model
        self.ids = tuple(ids)
        """The memories that the run was asked to work on, for a job that needs them named."""
        self.id = _fresh_id(engine)
        self.is_kept = False
        """Whether the run has left a row."""
        self.stopped = ""
        """The code of the reason why the run asks no more: a limit, or a failure of the model."""
        self.problem = ""
        """The same reason in words, with what to do next."""
        self._calls: list[ModelCall] = []
        now, secret = engine.now(), engine.randomness.bytes(_SECRET_BYTES)
        self._row = StoredRun(self.id, str(job), stream.number, now, None, RunOutcome.RUNNING, "", secret)

    def ask(self, name: str, values: Mapping[str, str], schema: type[A], sources: Sequence[str]) -> A | None:
        """Return the model's answer to a prompt made from these sources; ``None`` if a limit or a failure prevents it.

        Call ``mark_answered`` once everything in the answer has been processed.
        """
        if self.stopped:
            return None
        prompt = read_template(name)
        messages = prompt.messages(values)
        call = self._reserve_call(prompt, messages, schema, sources)
        if call is None:
            return None
        begun, budget = self.engine.clock(), call.prompt_tokens + call.answer_tokens
        asked = Prompt(messages, schema, prompt.max_tokens, call.temperature, call.seed, budget)
        try:
            reply = self.model.complete(asked)
        except ModelFailed as failed:
            if failed.failure not in _OF_ONE_PROMPT:
                self.stopped, self.problem = f"model:{failed.failure}", str(failed)
            self._settle(call, failed.usage, begun, str(failed.failure))
            return None
        self._settle(call, reply.usage, begun, RECEIVED)
        return reply.answer

    def mark_answered(self) -> None:
        """Note that the last answer was processed, so that its sources are not read again."""
        _put_call(self.engine, self._calls[-1]._replace(outcome=ANSWERED), Spent())

    def _reserve_call(
        self, prompt: PromptTemplate, messages: Sequence[Message], schema: type[A], sources: Sequence[str]
    ) -> ModelCall | None:
        """Write a call that is about to be made, with the most that it may use; return ``None`` if a limit forbids it."""
        schema_text = json.dumps(schema.model_json_schema())
        tokens = sum(count_tokens(one.content) + TOKENS_PER_MESSAGE for one in messages) + count_tokens(schema_text)
        assert self._row.secret is not None, "a run at work has its secret"
        seal = hmac.digest(self._row.secret, canonical_json([list(one) for one in messages]).encode(), "sha256").hex()
        call = ModelCall(
            run_id=self.id,
            number=len(self._calls) + 1,
            at=self.engine.now(),
            job=str(self.job),
            template=prompt.name,
            template_version=prompt.version,
            prompt_seal=seal,
            source_ids=tuple(dict.fromkeys(sources)),
            model=self.model.name,
            max_tokens=prompt.max_tokens,
            temperature=0.0,
            seed=0,
            calls=0,
            prompt_tokens=tokens,
            answer_tokens=prompt.max_tokens,
            estimated=True,
            cost_millionths=0,
            duration_ms=0,
            outcome=ASKED,
        )
        reserved = _reserve(self.engine, self._row, call)
        self.is_kept = True
        if reserved == UNDONE:
            self.stopped, self.problem = UNDONE, plain(UNDONE)
            return None
        if isinstance(reserved, str):
            limits = f"model.max_{reserved.removeprefix('model:').removesuffix('_limit')}_tokens and _cost"
            self.stopped, self.problem = reserved, f"{limits}: {plain(reserved)}. {_GOES_ON[reserved]}"
            return None
        self._calls.append(reserved)
        return reserved

    def _settle(self, call: ModelCall, usage: Usage, begun: datetime, outcome: str) -> None:
        """Replace the reserved figures of a call by what it took."""
        took = (self.engine.clock() - begun).total_seconds()
        settled = call._replace(
            calls=usage.calls,
            prompt_tokens=usage.prompt_tokens,
            answer_tokens=usage.answer_tokens,
            estimated=usage.estimated,
            cost_millionths=cost_of(self.engine.policy.model, usage.prompt_tokens, usage.answer_tokens),
            duration_ms=max(0, round(took * 1_000)),
            outcome=outcome,
        )
        self._calls[-1] = settled
        spent = Spent(*(now - most for now, most in zip(_used(settled), _used(call), strict=True)))
        _put_call(self.engine, settled, spent)

    def proposal(self, action: Action, sources: Sequence[str], *, pair: str | None = None) -> StoredProposal:
        """Return the row of a new proposal without an outcome."""
        return StoredProposal(
            id=_fresh_id(self.engine),
            run_id=self.id,
            at=self.engine.now(),
            job=str(self.job),
            stream=self.stream.number,
            action=str(action),
            status=ProposalStatus.REFUSED,
            reason="",
            memory_id=None,
            pair=pair,
            sources=tuple(dict.fromkeys(sources)),
            body=None,
        )

    def end(self) -> None:
        """Write how the run ended, if it did anything."""
        if self.is_kept:
            of_limits = self.stopped.endswith("_limit")
            outcome = RunOutcome.DONE if not self.stopped else RunOutcome.LIMITED if of_limits else RunOutcome.FAILED
            row = self._row._replace(ended_at=self.engine.now(), outcome=outcome, reason=self.stopped)
            write_alone(self.engine, lambda writer: writer.put_model_run(self.engine.tenant, row))


def set_outcome(proposal: StoredProposal, status: ProposalStatus, reason: str, **values: Any) -> StoredProposal:
    """Return a proposal with its outcome. Its words are kept only while it waits."""
    body = values.pop("body", None) if status is ProposalStatus.WAITING else None
    return proposal._replace(status=str(status), reason=reason, body=body, **values)


def _fresh_id(engine: Engine) -> str:
    """Return an id of letters alone: sixteen digits that happen to be a card's would be refused by the privacy gate."""
    return engine.randomness.bytes(_ID_BYTES).hex().translate(_AS_LETTERS)


def day_of(engine: Engine) -> str:
    """Return the beginning of the current day, in UTC."""
    return f"{engine.now()[:10]}T"


@again_on_conflict
def _reserve(engine: Engine, run: StoredRun, call: ModelCall) -> ModelCall | str:
    """Write a call with the most that it may use, if every limit allows it; else return the code of the limit."""
    settings, day = engine.policy.model, day_of(engine)
    with engine.write() as writer:
        if was_undone(writer, engine.tenant, run.id):
            return UNDONE
        writer.lock_spending()
        of_run, of_tenant, of_all = writer.spent(engine.tenant, run.id, day)
        limits = {"run": of_run, "tenant": of_tenant, "day": of_all}
        allowed = allow_call(settings, call.prompt_tokens, call.answer_tokens, **limits)
        if allowed.reason:
            return allowed.reason
        least = call.prompt_tokens + call.answer_tokens
        most = least * 2 * (settings.max_retries + 1) if allowed.tokens is None else allowed.tokens
        answer_tokens = max(least, most) - call.prompt_tokens
        cost = cost_of(settings, call.prompt_tokens, answer_tokens)
        call = call._replace(answer_tokens=answer_tokens, cost_millionths=cost)
        writer.put_model_run(engine.tenant, run)
        writer.put_model_call(engine.tenant, call)
        writer.add_spending(call.at[:10], _used(call))
    return call


@again_on_conflict
def write_alone(engine: Engine, write: Callable[[Writer], T]) -> T:
    """Run one write in a transaction of its own, again if it lost against another writer."""
    with engine.write() as writer:
        return write(writer)


def _put_call(engine: Engine, call: ModelCall, spent: Spent) -> None:
    def write(writer: Writer) -> None:
        writer.put_model_call(engine.tenant, call._replace(source_ids=()))
        if any(spent):
            writer.add_spending(call.at[:10], spent)

    write_alone(engine, write)


def put_proposal(engine: Engine, proposal: StoredProposal) -> StoredProposal:
    """Write a proposal with its outcome, in a transaction of its own; return it as it was written.

    What waits already does not wait twice: of two runs at the same time, the second one's is only noted.
    """

    def write(writer: Writer) -> StoredProposal:
        done = proposal
        if done.status == ProposalStatus.WAITING and was_undone(writer, engine.tenant, done.run_id):
            done = set_outcome(done, ProposalStatus.UNDONE, UNDONE)
        if done.status == ProposalStatus.WAITING:
            waiting = writer.proposals_waiting(engine.tenant, done.stream)
            if any(_asks_the_same(one, done) for one in waiting if one.id != done.id):
                done = set_outcome(done, ProposalStatus.NOTED, KNOWN)
        writer.put_model_proposals(engine.tenant, [done])
        return done

    return write_alone(engine, write)


def was_undone(writer: Writer, tenant: str, run_id: str) -> bool:
    """Return whether somebody has undone a run that is still at work; until this transaction ends, nobody else can."""
    run = writer.locked_run(tenant, run_id)
    return run is not None and run.outcome == RunOutcome.UNDONE


def _asks_the_same(one: StoredProposal, other: StoredProposal) -> bool:
    """Return whether two waiting proposals are about one pair, or claim the same of the same sources."""
    if one.pair is not None or other.pair is not None:
        return one.pair == other.pair
    return (one.action, one.sources, _content_of(one)) == (other.action, other.sources, _content_of(other))


def _content_of(waiting: StoredProposal) -> object:
    try:
        return json.loads(waiting.body or "{}")["content"]
    except (ValueError, TypeError, LookupError):  # it is damaged, and `proposals list` says so
        return None


def _used(call: ModelCall) -> Spent:
    return Spent(call.prompt_tokens, call.answer_tokens, call.cost_millionths)
