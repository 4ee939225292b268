"""Changing one memory that is there: who may, and in which transaction."""

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.engine import operations
from recollect.engine.context import Engine, find, visible
from recollect.engine.expiry import expire_due
from recollect.engine.pen import Pen
from recollect.engine.tracing import border_check, keep, refused
from recollect.model import trace
from recollect.model.address import Address
from recollect.model.caller import Right
from recollect.model.errors import NotAllowed, WrongState
from recollect.model.operation import Op
from recollect.model.vocabulary import Authority, Source, Space, Status
from recollect.rules.authority import grant_authority, outranks
from recollect.rules.borders import write_refusal
from recollect.stores.protocol import Reader, Stored, Writer


@contextmanager
def changing(
    engine: Engine, id: str, op: Op = Op.UPDATE, *, field: str = "id", overrules: bool = True
) -> Iterator[tuple[Pen, Stored]]:
    """A pen on one memory's stream, for a caller that may write there; what it does is noted as ``op``.

    Unless it ``overrules`` the memory, the caller need not be believed as much as the memory is.
    """
    with engine.write() as writer:
        at = engine.now()
        stream = writer.locked_stream(engine.tenant, find(engine, writer, id, field).stream)
        stored = find(engine, writer, id, field)
        require_change(engine, writer, stored)
        if overrules:
            may_overrule(engine, stored)
        pen = Pen(engine, writer, stream, at)
        expired = expire_due(pen)
        keep(engine, writer, expired, stream.number)
        stored = writer.by_ids(engine.tenant, [stored.state.id])[stored.state.id]
        pen.load(stored)
        yield pen, stored
        pen.finish()
        operations.keep(engine, writer, [operations.about(engine, pen.stored(stored.state.id), op, pen.at)])
        engine.accesses.carry_along(writer, engine.tenant)


def require_change(engine: Engine, writer: Writer, stored: Stored) -> None:
    """Raise unless the caller may write where a memory lies, and its content is still there."""
    if stored.body is None:
        raise WrongState(f"its content was {stored.state.removed}.", field="id", hint="Nothing more can be done to it.")
    address = writer.stream_numbered(engine.tenant, stored.stream).address
    space = Space(stored.body["space"])
    refusal = write_refusal(engine.caller, address, stored.body["scope"], Source.USER) if address else None
    check = border_check(engine, "write", space, refusal)
    if address is None or refusal is not None:
        no = NotAllowed("this caller may not change it.", field="id", hint="It takes the write right on its space.")
        raise refused(engine, check, no)
    keep(engine, writer, [check], stored.stream)


class Pens:
    """One pen for each stream that a transaction writes to; what has expired there is put away first."""

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self._engine, self._writer, self._at = engine, writer, engine.now()
        self._pens: dict[int, Pen] = {}

    def numbered(self, number: int) -> Pen:
        """Return the pen of a stream that is there."""
        if number not in self._pens:
            self._add(
                Pen(self._engine, self._writer, self._writer.locked_stream(self._engine.tenant, number), self._at)
            )
        return self._pens[number]

    def at(self, address: Address) -> Pen:
        """Return the pen of the stream at an address, which is made if nobody has written there yet."""
        stream = self._writer.stream_at(address)
        if stream is not None:
            return self.numbered(stream.number)
        return self._add(Pen.at_address(self._engine, self._writer, address, self._at))

    def finish(self) -> None:
        for pen in self._pens.values():
            pen.finish()

    def _add(self, pen: Pen) -> Pen:
        self._pens[pen.stream.number] = pen
        keep(self._engine, self._writer, expire_due(pen), pen.stream.number)
        return pen


def may_change(engine: Engine, reader: Reader, stored: Stored) -> bool:
    """Return whether the caller sees a memory, may write to its space, and is believed as much as the memory is."""
    address, body = reader.stream_numbered(engine.tenant, stored.stream).address, stored.body
    if address is None or body is None or not visible(engine, reader, stored):
        return False
    if write_refusal(engine.caller, address, body["scope"], Source.USER) is not None:
        return False
    return engine.caller.may(Right.GOVERN) or not _is_outranked(engine, stored)


def _is_outranked(engine: Engine, stored: Stored) -> bool:
    caller, order = engine.caller, engine.policy.conflict.authority_order
    granted, _ = grant_authority(caller.speaks_as, caller, None, engine.policy.authority.verifying_tools)
    return not caller.trusted and outranks(Authority(stored.state.authority), granted, order)


def may_overrule(engine: Engine, stored: Stored) -> None:
    """What a higher authority said is not a lower one's to take away."""
    if _is_outranked(engine, stored):
        engine.require(Right.GOVERN, f"change what is {stored.state.authority}")


def tell_gone(pen: Pen, stored: Stored, reason: str) -> None:
    """Say that an active memory leaves the active set, just before it does."""
    if stored.body is not None and stored.state.status is Status.ACTIVE:
        engine = pen.engine
        gone = trace.memory_deleted(engine.caller, stored.state.id, stored.body, reason, engine.in_force.expanded)
        keep(engine, pen.writer, [gone], pen.stream.number)
