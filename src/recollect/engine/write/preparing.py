"""Prepare a write before the lock: run the gates, embed the text, and search for duplicates and related memories."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from recollect.engine.context import Engine
from recollect.engine.read.meaning import vector_of, vectors_of
from recollect.engine.write import incumbents, relations
from recollect.engine.write.drafting import (
    draft_for,
)
from recollect.model.ledger import Address
from recollect.model.record import Candidate
from recollect.rules.gates.draft import Draft, Rejection
from recollect.stores.protocol import Reader, Reading, Search, Stream

BRIEF = 8
"""How many drafts are searched within about a millisecond."""


class Prepared(NamedTuple):
    """A draft that passed the gates, with the results of the searches before the lock."""

    draft: Draft
    address: Address
    similar: incumbents.Search = incumbents.NOTHING
    related: relations.Search | None = relations.NOTHING
    """``None`` if it is not to be linked."""
    shadowed: bool = False
    """Whether its key is shadowed: memories hidden from the caller hold it too."""
    spoken: bool = False
    """Whether it is said now. Imported and derived statements lift no rejection."""

    def decide(self, rule: str, detail: str = "", **values: Any) -> "Prepared":
        return self._replace(draft=self.draft.decide(rule, detail, **values))

    def noting(self, **meta: Any) -> "Prepared":
        """Add to ``meta`` what is known only inside the transaction, such as the ids of a turn."""
        candidate = self.draft.candidate
        candidate = candidate.model_copy(update={"meta": {**candidate.meta, **meta}})
        return self._replace(draft=self.draft._replace(candidate=candidate))


class Refused(NamedTuple):
    """A candidate that a gate stopped."""

    candidate: Candidate
    no: Rejection


Answer = Prepared | Refused


def prepare(
    engine: Engine,
    candidate: Candidate,
    *,
    promoting: bool = False,
    proposed: bool = False,
    reader: Reader | None = None,
    linked: bool = True,
) -> Answer:
    """Run the gates and search for near-duplicates: before the lock, or inside it with the transaction as ``reader``.

    ``proposed`` marks text by a model of upkeep, which the policy holds to stricter writing constraints.
    """
    draft = draft_for(engine, candidate, promoting=promoting, proposed=proposed)
    if isinstance(draft, Rejection):
        return Refused(candidate, draft)
    draft = draft._replace(vector=vector_of(engine, candidate.content, reader))
    return _compare_all(engine, [_prepare(engine, draft, linked)], reader)[0]


AskInAdvance = Callable[[Engine, Reader | None, Stream, Prepared], None]


def prepare_all(
    engine: Engine,
    candidates: Sequence[Candidate],
    *,
    linked: bool = True,
    ask_in_advance: AskInAdvance | None = None,
) -> list[Answer]:
    """Prepare a batch: shared names are scanned once, all texts are embedded in one call, and one snapshot is searched.

    ``ask_in_advance`` also makes the first reads of a single write in that snapshot.
    """
    clean: set[str] = set()
    drafts = [draft_for(engine, candidate, clean=clean) for candidate in candidates]
    both = list(zip(candidates, drafts, strict=True))
    vectors = iter(_vectors(engine, [candidate.content for candidate, draft in both if isinstance(draft, Draft)]))
    answers = [
        Refused(candidate, draft)
        if isinstance(draft, Rejection)
        else _prepare(engine, draft._replace(vector=next(vectors)), linked)
        for candidate, draft in both
    ]
    return _compare_all(engine, answers, None, ask_in_advance if len(answers) == 1 else None)


def _vectors(engine: Engine, texts: Sequence[str]) -> Sequence[bytes]:
    if not texts:
        return ()
    embedder = engine.meanings.embedder(engine, None)
    return vectors_of(embedder, texts) if embedder.dimensions else [b""] * len(texts)


def _prepare(engine: Engine, draft: Draft, linked: bool) -> Prepared:
    candidate = draft.candidate
    address = Address(engine.tenant, draft.namespace, candidate.space, candidate.owner)
    return Prepared(draft, address) if linked else Prepared(draft, address, related=None)


def _compare_all(
    engine: Engine, answers: Sequence[Answer], reader: Reader | None, ask: AskInAdvance | None = None
) -> list[Answer]:
    """Search for duplicates of each draft and, if it is to be linked, for related memories."""
    searched = [isinstance(answer, Prepared) and _is_looked_up(engine, answer) for answer in answers]
    if not any(searched):
        return list(answers)
    found = list(answers)
    places: dict[Address, list[int]] = defaultdict(list)
    for place, answer in enumerate(answers):
        if isinstance(answer, Prepared) and searched[place]:
            places[answer.address].append(place)
    with nullcontext(reader) if reader is not None else engine.read(brief=sum(searched) <= BRIEF) as open_reader:
        for address, at in places.items():
            together = [answer for place in at if isinstance(answer := answers[place], Prepared)]
            compared = _compare_together(engine, open_reader, address, together, ask, committed=reader is None)
            for place, prepared in zip(at, compared, strict=True):
                found[place] = prepared
    return found


def _is_looked_up(engine: Engine, prepared: Prepared) -> bool:
    linked = prepared.related is not None
    return incumbents.may_merge(engine, prepared.draft) or (linked and relations.may_link(engine, prepared.draft))


def _compare_together(
    engine: Engine,
    reader: Reader,
    address: Address,
    together: Sequence[Prepared],
    ask: AskInAdvance | None,
    *,
    committed: bool,
) -> list[Prepared]:
    """Search the stream at an address for near-duplicates and related memories of each draft."""
    if committed:
        terms = sorted({term for prepared in together for term in prepared.draft.terms})
        at_hand = engine.meanings.at_hand(engine.tenant, [address.owner])
        search = Search([address.owner], [address.namespace], [Reading(terms, 0)], at_hand)
        reader.announce_search(engine.tenant, search)
    stream = reader.stream_at(address)
    if stream is None:
        return list(together)
    drafts = [prepared.draft for prepared in together]
    similar = incumbents.search(engine, reader, stream, drafts)
    linked = [prepared.draft for prepared in together if prepared.related is not None]
    related = iter(relations.search(engine, reader, stream, linked, committed=committed))
    compared = [
        prepared._replace(similar=alike, related=None if prepared.related is None else next(related))
        for prepared, alike in zip(together, similar, strict=True)
    ]
    if ask is not None:
        ask(engine, reader.in_advance(), stream, compared[0])
    return compared


def as_spoken(answers: Iterable[Answer]) -> list[Answer]:
    """Mark answers as said now, by a person or an agent, and not imported."""
    return [answer._replace(spoken=True) if isinstance(answer, Prepared) else answer for answer in answers]


def addresses_of(answers: Iterable[Answer]) -> list[Address]:
    """Return the streams to write to, in locking order."""
    return sorted({answer.address for answer in answers if isinstance(answer, Prepared)})
