"""What was made of memories that are to be erased: finding it in every stream, and cutting its links to them.

A person's right goes over every border, so this looks at all of a tenant, whoever asks. What the caller is told of it is another
matter, and is settled by the receipt.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.engine import tracing
from recollect.engine.context import Engine
from recollect.engine.expiry import expire_due
from recollect.engine.pen import Pen
from recollect.engine.provenance import meant
from recollect.model import trace
from recollect.model.canonical import canonical_json
from recollect.model.ledger import Entry, Event
from recollect.model.seals import NAMES, NEIGHBOUR, PARENT, SIGNATURE, Link, links_of, without
from recollect.model.vocabulary import Status
from recollect.rules.attribution import LISTED_ONLY
from recollect.rules.derivation import PROMOTED, made_of
from recollect.stores.protocol import NO_LIMIT, Erased, Reader, Selection, Stored, Writer

CUT, REVIEW = "erased:link_cut", "erased:for_review"
SERVED = (Status.ACTIVE, Status.CONTRADICTORY, Status.PENDING)
"""What is recalled, or waits to be."""


class Tie(NamedTuple):
    """A memory that stays, what ties it to those that go, and which of its links have to be cut.

    ``how`` is empty where it was only near to one of them in meaning. ``sealed`` is false for a version from before links had
    seals, which names a parent that cannot be taken out of it; ``named`` is true for one that will go on naming a person.
    """

    stored: Stored
    how: tuple[str, ...]
    cut: tuple[Link, ...]
    sealed: bool = True
    named: bool = False

    @property
    def id(self) -> str:
        return self.stored.state.id

    @property
    def by_policy(self) -> bool:
        """Whether the policy says what becomes of it: it was made of what goes, or for whom it goes."""
        return not LISTED_ONLY.issuperset(self.how)

    @property
    def to_review(self) -> bool:
        """Whether there is something to decide: the policy speaks of it, and it would still be recalled."""
        return self.by_policy and self.stored.state.status in SERVED

    @property
    def listed(self) -> list[Erased]:
        """How the list beside the store knows the links, to cut them again in a restored copy."""
        return [Erased(self.stored.tenant, "link", f"{self.id}:{link.seal}") for link in self.cut]


# ── finding ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ties_to(reader: Reader, tenant: str, gone: Mapping[str, Stored]) -> dict[str, Tie]:
    """Every memory of the tenant that stays and is tied to one of those that go."""
    hashes = sorted({str((stored.body or {}).get("content_hash")) for stored in gone.values()})
    children = reader.built_upon(tenant, hashes, Selection(), NO_LIMIT)
    records = reader.with_hashes(tenant, hashes, Selection(), NO_LIMIT) if children else []
    near = [*children, *reader.tied_to(tenant, sorted(gone))]
    staying = {stored.state.id: stored for stored in near if stored.state.id not in gone}
    ties = (_tie(stored, gone, hashes, records) for stored in staying.values())
    return {tie.id: tie for tie in ties if tie.how or tie.cut}


def _tie(stored: Stored, gone: Mapping[str, Stored], hashes: Collection[str], records: Sequence[Stored]) -> Tie:
    body = stored.body or {}
    parents = {one for one in body.get(PARENT, ()) if one in hashes and _means_one(stored, one, records, gone)}
    links = links_of(body)
    cut = [link for link in links if _leads_to(link, parents, gone)]
    sealed = {link.value for link in links if link.field == PARENT}
    is_next_version = stored.state.supersedes_id in gone
    return Tie(stored, made_of(body, () if is_next_version else parents, gone), tuple(cut), parents <= sealed)


def _means_one(child: Stored, hash: str, records: Sequence[Stored], gone: Collection[str]) -> bool:
    """Whether a hash means a memory that goes. Where another of the same words stays, it may mean that one."""
    found = meant(child, hash, records)
    return found is None or found.state.id in gone


def _leads_to(link: Link, parents: Collection[str], gone: Collection[str]) -> bool:
    """A signature covers the parents: whoever guessed one could check the guess by it. A name leads to nobody's memory."""
    if link.field in NAMES:
        return False
    if link.field == NEIGHBOUR:
        return link.value[0] in gone
    return bool(parents) if link.field == SIGNATURE else link.value in parents


def going_along(reader: Reader, tenant: str, asked: Mapping[str, Stored]) -> dict[str, Tie]:
    """Everything that was made of these, of what was made of them, and so on."""
    return _onwards(reader, tenant, asked, lambda tie: bool(tie.how))


def staying_behind(reader: Reader, tenant: str, gone: Mapping[str, Stored]) -> dict[str, Tie]:
    """What was made of these, or only linked to them; and the copies of copies, which say the same words."""
    direct = ties_to(reader, tenant, gone)
    copies = {id: tie.stored for id, tie in direct.items() if PROMOTED in tie.how}
    further = _onwards(reader, tenant, copies, lambda tie: PROMOTED in tie.how) if copies else {}
    again = {id: tie._replace(how=(PROMOTED,), cut=()) for id, tie in further.items() if id not in {*direct, *gone}}
    return direct | again


def _onwards(
    reader: Reader, tenant: str, start: Mapping[str, Stored], follows: Callable[[Tie], bool]
) -> dict[str, Tie]:
    found: dict[str, Tie] = {}
    gone, level = dict(start), dict(start)
    while level:
        new = {id: tie for id, tie in ties_to(reader, tenant, level).items() if id not in gone and follows(tie)}
        found |= new
        level = {id: tie.stored for id, tie in new.items()}
        gone |= level
    return found


def links_back(reader: Reader, tenant: str, listed: Iterable[str]) -> dict[str, Tie]:
    """Memories of a restored copy that have a link again which the list says was cut."""
    seals: dict[str, set[str]] = {}
    for one in listed:
        id, _, seal = one.partition(":")
        seals.setdefault(id, set()).add(seal)
    found = reader.by_ids(tenant, sorted(seals)) if seals else {}
    ties = (_tie_again(stored, seals[id]) for id, stored in found.items() if stored.body is not None)
    return {tie.id: tie for tie in ties if tie.cut}


def _tie_again(stored: Stored, seals: Collection[str]) -> Tie:
    cut = tuple(link for link in links_of(stored.body or {}) if link.seal in seals)
    how = made_of({}, [link.value for link in cut if link.field == PARENT], ())
    return Tie(stored, how, cut)


# ── cutting ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Let(NamedTuple):
    """What was done to those that stay: the entries that say so, and who was taken out of recall."""

    entries: tuple[Entry, ...] = ()
    reviewed: frozenset[str] = frozenset()


def let_go(engine: Engine, writer: Writer, tenant: str, ties: Collection[Tie], at: str, aside: Collection[str]) -> Let:
    """Cut the links of those that stay, and take out of recall those to be put ``aside``.

    Their streams do not age by it: somebody else's right must not wear out their memories.
    """
    done = Let()
    by_stream: dict[int, list[Tie]] = {}
    for tie in sorted(ties, key=lambda one: (one.stored.stream, one.stored.number)):
        by_stream.setdefault(tie.stored.stream, []).append(tie)
    for number, of_stream in by_stream.items():
        pen = Pen(engine, writer, writer.locked_stream(tenant, number), at, ages=False)
        tracing.keep(engine, writer, expire_due(pen), number)
        for tie in of_stream:
            done = _let_one_go(pen, tie, done, aside)
        pen.finish()
    return done


def _let_one_go(pen: Pen, tie: Tie, done: Let, aside: Collection[str]) -> Let:
    stored = pen.writer.by_ids(pen.stream.tenant, [tie.id])[tie.id]
    if tie.cut:
        body = without(stored.body or {}, tie.cut)
        hashes = [link.value for link in tie.cut if link.field == PARENT]
        pen.writer.cut_links(pen.stream, stored.number, tie.id, canonical_json(body), hashes)
        if any(link.field in NAMES for link in tie.cut):
            pen.writer.put_memory(pen.stream, stored.number, stored.state, body, None)
        stored = stored._replace(body=body)
    pen.load(stored)
    entries = [pen.record(Event.SEVERED, tie.id, rule=CUT, commitment=link.seal) for link in tie.cut]
    if tie.id not in aside or stored.state.status not in SERVED:
        return Let((*done.entries, *entries), done.reviewed)
    entries.append(_put_aside(pen, stored))
    return Let((*done.entries, *entries), done.reviewed | {tie.id})


def _put_aside(pen: Pen, stored: Stored) -> Entry:
    engine, body = pen.engine, stored.body or {}
    if stored.state.status is Status.ACTIVE:
        gone = trace.memory_deleted(engine.caller, stored.state.id, body, REVIEW, engine.in_force.expanded)
        tracing.keep(engine, pen.writer, [gone], pen.stream.number)
    return pen.record(Event.ARCHIVED, stored.state.id, rule=REVIEW, to=Status.ARCHIVED)
