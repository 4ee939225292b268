"""Try another policy on past writes and report which of them would have ended differently. Nothing is stored.

The memory is rebuilt twice as it was before those writes, in temporary stores: one run uses the policy in force, the
other the policy on trial. Effects of time alone are the same in both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import repeat
from typing import Any

from recollect.engine.arguments import check_number
from recollect.engine.context import Engine, PolicyInForce
from recollect.engine.read.as_of import Point, as_it_stood, cuts_at
from recollect.engine.write.ingest import add
from recollect.model.caller import Right
from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import BadInput, Refused
from recollect.model.policy import Policy
from recollect.model.receipt import PolicyTrial, Receipt, TriedWrite
from recollect.model.vocabulary import KeySource
from recollect.stores.protocol import Reader, Stored, Stream

MAX_TRIED = 1_000
SAID = """content space owner scope kind category tags entities relationships artifact_ref context author source authority
authority_reason user_id agent_id run_id thread_id actor_id role confidence topic_id tier""".split()
"""Fields given with a write. The others were decided by rules, and are decided again."""


def try_policy(engine: Engine, policy: Policy, limit: int = 100) -> PolicyTrial:
    """Return which of the last ``limit`` writes would have ended differently under this policy."""
    engine.require(Right.OPERATE, "try a policy")
    check_number("limit", limit, 1, MAX_TRIED)
    with engine.read() as reader:
        found = reader.select(engine.tenant, engine.selecting(), limit)
        writes = sorted(
            ((_find_written_at(reader, stored), stored) for stored in found if stored.body), key=lambda pair: pair[0]
        )
        if not writes:
            return PolicyTrial(0, ())
        before = Point(time=format_time(parse_time(writes[0][0]) - timedelta(microseconds=1)))
        numbers = sorted({stored.stream for _, stored in writes})
        streams = [reader.stream_numbered(engine.tenant, number) for number in numbers]
        now, then = (
            _replay(engine, reader, streams, before, writes, in_force)
            for in_force in (engine.in_force, PolicyInForce(policy))
        )
    tried = [(at, stored, now[n], then[n]) for n, (at, stored) in enumerate(writes)]
    changed = [
        _to_tried_write(at, stored, old, new)
        for at, stored, old, new in tried
        if _summarise_result(old) != _summarise_result(new)
    ]
    return PolicyTrial(sum(old is not None for _, _, old, _ in tried), tuple(changed))


def _find_written_at(reader: Reader, stored: Stored) -> str:
    return reader.entries_about(stored.tenant, stored.state.id)[0].at


def _replay(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    before: Point,
    writes: Sequence[tuple[str, Stored]],
    in_force: PolicyInForce,
) -> list[Receipt | None]:
    """Return the receipt of each write under a policy; ``None`` for a write that cannot be repeated."""
    receipts: list[Receipt | None] = []
    with as_it_stood(engine, reader, cuts_at(engine, reader, streams, before)) as past:
        for at, stored in writes:
            moment = parse_time(at)
            trying = replace(past, in_force=in_force, clock=repeat(moment).__next__)
            try:
                receipts.append(add(trying, _read_fields(stored.body or {})))
            except (BadInput, Refused):
                receipts.append(None)
    return receipts


def _read_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a version was written with, where its body has them."""
    fields = {name: body[name] for name in SAID if body.get(name) not in (None, [], {})}
    key = (body.get("meta") or {}).get("key")
    named = {"canonical_key": body["canonical_key"]} if body["key_source"] == KeySource.EXPLICIT else {}
    return fields | named | ({"key": key} if key else {})


def _summarise_result(receipt: Receipt | None) -> tuple[Any, ...]:
    """Return what counts as the result of a write: its outcome, and what is stored where."""
    if receipt is None:
        return ()
    kept = receipt.memory
    reasons = receipt.reasons if receipt.denied else ()
    return (receipt.outcome, reasons, *((kept.namespace, kept.canonical_key, kept.content) if kept else ()))


def _to_tried_write(at: str, stored: Stored, old: Receipt | None, new: Receipt | None) -> TriedWrite:
    before, after = (str(receipt.outcome) if receipt is not None else "bad_input" for receipt in (old, new))
    reasons = tuple(receipt.reasons if receipt is not None else () for receipt in (old, new))
    return TriedWrite(stored.state.id, (stored.body or {})["content"], at, before, after, *reasons)
