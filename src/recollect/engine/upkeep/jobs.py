"""Run the jobs that ask a language model.

A job works on one stream at a time and finds its own work there: what was read or compared lately is not asked about again.
So a scheduler only has to name the streams that may have work.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from recollect.engine.arguments import check_word
from recollect.engine.context import Engine, find
from recollect.engine.operations import failures_noted
from recollect.engine.read.reading import readable_streams
from recollect.engine.upkeep import extract, insights, pairs, procedures, runs
from recollect.engine.upkeep.running import Running
from recollect.llm import Model, open_model
from recollect.model.caller import Right
from recollect.model.errors import BadInput, BadPolicy
from recollect.model.operation import Node, Op
from recollect.model.run import Job, Run
from recollect.model.vocabulary import Namespace, Space
from recollect.stores.protocol import Stream


class JobRule(NamedTuple):
    """A job's function for one stream, and the spaces that it works on."""

    run: Callable[[Running], None]
    spaces: tuple[Space, ...]
    on_request: bool = False
    """Whether it runs only when somebody names the memories that it is about."""


MAX_LINES = 10_000
"""Among how many of a person's latest lines the sessions in which they spoke are looked for."""
_LASTING = (Space.USER, Space.PROJECT, Space.SYSTEM)

JOBS: dict[Job, JobRule] = {
    Job.EXTRACT: JobRule(extract.run, (Space.SESSION, Space.USER)),
    Job.INSIGHTS: JobRule(insights.run, (Space.USER,)),
    Job.CONSOLIDATE: JobRule(pairs.run, _LASTING),
    Job.PROCEDURES: JobRule(procedures.run, tuple(Space), on_request=True),
}
"""Every job that asks a model."""


@failures_noted(Node.WORKER, Op.CREATE)
def run_job(
    engine: Engine,
    job: str,
    *,
    owner: str | None = None,
    stream: int | None = None,
    ids: Sequence[str] = (),
    model: Model | None = None,
) -> tuple[Run, ...]:
    """Run a job on one stream, on an owner's streams, or on all of production; return the runs that asked the model.

    ``ids`` are the memories that ``procedures`` is asked about. Without a ``model`` it is the one that the policy configures.
    A limit, or a model that does not answer, ends the job: the last run says which.
    """
    engine.require(Right.OPERATE, "have a language model read memories")
    name = Job(check_word("job", Job, job))
    rule = JOBS[name]
    if rule.on_request != bool(ids):
        hint = f"{name} takes the ids of the memories that it is about." if rule.on_request else "Leave ids out."
        raise BadInput("name the memories." if rule.on_request else "belong to procedures.", field="ids", hint=hint)
    asked = model or open_model(engine.policy.model)
    if asked is None:
        hint = "Set model.endpoint and model.name in the policy; docs/models.md has examples."
        raise BadPolicy("no language model is configured.", field="model.endpoint", hint=hint)
    try:
        return _run_all(engine, name, rule, _find_streams(engine, rule, owner, stream, ids), asked, ids)
    finally:
        if model is None:
            asked.close()


def _run_all(
    engine: Engine, job: Job, rule: JobRule, streams: Sequence[Stream], model: Model, ids: Sequence[str]
) -> tuple[Run, ...]:
    done: list[Run] = []
    for stream in streams:
        running = Running(engine, job, stream, model, ids)
        try:
            rule.run(running)
        finally:
            running.end()
        if running.is_kept:
            done.append(replace(runs.run(engine, running.id), problem=running.problem))
        if running.stopped:
            break
    return tuple(done)


def _find_streams(
    engine: Engine, rule: JobRule, owner: str | None, number: int | None, ids: Sequence[str]
) -> list[Stream]:
    """Return the streams to work on, in order: that of the named memories, the numbered one, or an owner's."""
    with engine.read() as reader:
        if ids:
            found = {find(engine, reader, id).stream for id in ids}
            if len(found) > 1:
                raise BadInput("are of different owners or spaces.", field="ids", hint="Name memories of one stream.")
            return [reader.stream_numbered(engine.tenant, *found)]
        if number is not None:
            return [reader.stream_numbered(engine.tenant, number)]
        found_in = readable_streams(engine, reader, owner, rule.spaces, (Namespace.PROD,))
        if owner is None or Space.SESSION not in rule.spaces:
            return found_in
        spoke_in = {one.stream for one in reader.select(engine.tenant, extract.select_lines(user=owner), MAX_LINES)}
        known = {stream.number for stream in found_in}
        others = (reader.stream_numbered(engine.tenant, one) for one in sorted(spoke_in - known))
        return [*found_in, *(one for one in others if one.address and one.address.namespace is Namespace.PROD)]
