"""Decide whether a language model's proposal is in the memories that it was made from.

A proposal makes one claim, names the memories that it is made from, and quotes the spans that support the claim. It is refused
unless the spans are in the memories word for word, and hold every name, number, date, amount and negation of the claim. A fact
may say little more than its spans; an insight may infer. Neither may be seen by anybody who does not see all of its sources.

The check is one-sided: a claim that the rules cannot follow is refused. A false memory costs more than a missing one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from recollect.model.ledger import Address
from recollect.model.policy import Policy
from recollect.model.vocabulary import SHARED, Authority, KeySource, Kind
from recollect.rules.grounding.clauses import check_clauses, check_denials, fewest_clauses, held_by, is_covered
from recollect.rules.grounding.evidence import (
    QUANTIFIERS,
    WORDS_OF_MEANING,
    Evidence,
    Said,
    leading_names,
    split_clauses,
)
from recollect.rules.grounding.proposal import FACT, INFERENCE, Proposal, SourceMemory, Verdict
from recollect.rules.grounding.quoting import find_places, flatten
from recollect.rules.grounding.specifics import (
    DENIALS,
    check_amounts,
    check_dates,
    check_names,
    check_negations,
    check_numbers,
    strip_times,
)
from recollect.rules.identity.rejected_values import Claim, Sealed, is_rejected
from recollect.rules.language.marks import Aspect, Mark
from recollect.rules.language.reading import read
from recollect.rules.language.text import STOP_WORDS, fold, stem, words
from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import Frame, Tense, read_statement

COVERED_MIN = 0.8
"""The share of a fact's content words that its spans have to hold."""
_TELL_NOTHING = {stem(word) for word in word_set("user person people family team household thing currently now today")}
"""Words that a claim may add to what its spans say."""
_WHEN = word_set("already yet formerly previously soon later earlier recently anymore again ago")
"""Words of time that a fact may not add."""


def check_grounding(
    proposal: Proposal, sources: Collection[SourceMemory], policy: Policy, rejections: Collection[Sealed] = ()
) -> Verdict:
    """Accept a proposal, or return the first reason against it.

    ``sources`` are the memories as they are now, found by the ids that the proposal names. ``rejections`` are the values that
    people rejected in the proposal's stream. The ordinary gates (privacy, noise, length) run afterwards, when it is written.

    >>> from datetime import UTC, datetime
    >>> from recollect.model.vocabulary import Namespace, Space
    >>> from recollect.rules.grounding.proposal import Quote
    >>> ana = Address("default", Namespace.PROD, Space.USER, "ana")
    >>> said = SourceMemory("1", "I live in Porto.", datetime(2026, 5, 20, tzinfo=UTC), ana, speakers=("Ana",))
    >>> quotes = (Quote("1", "I live in Porto"),)
    >>> check_grounding(Proposal("Ana lives in Porto.", quotes, ("1",), ana), [said], Policy())
    Verdict(code='grounded:fact', about='')
    >>> check_grounding(Proposal("Ana lives in Faro.", quotes, ("1",), ana), [said], Policy())
    Verdict(code='ungrounded:name', about='Faro')
    """
    by_id = {one.id: one for one in sources}
    first = chain(_check_place(proposal, by_id, policy), _check_quotes(proposal, by_id))
    against = next(first, None)
    if against is None:
        evidence = Evidence(proposal.quotes, by_id)
        against = next(_check_words(proposal, evidence), None) or _check_rejections(proposal, policy, rejections)
    return against or Verdict(INFERENCE if proposal.kind is Kind.INSIGHT else FACT)


def may_inform(source: SourceMemory, address: Address, category: str, policy: Policy) -> bool:
    """Return whether everybody who will see what is stored there for all agents may see this source as well."""
    place = Proposal("", (), (source.id,), address, category=category)
    return next(_check_place(place, {source.id: source}, policy), None) is None


def _check_place(proposal: Proposal, by_id: Mapping[str, SourceMemory], policy: Policy) -> Iterator[Verdict]:
    """Yield what would let it be believed more, or seen by more, than the memories that it is made from."""
    missing = [id for id in proposal.source_ids if id not in by_id]
    if missing or not proposal.source_ids:
        yield Verdict("ungrounded:source", missing[0] if missing else "")
        return
    sources = [by_id[id] for id in proposal.source_ids]
    if proposal.authority is not Authority.AI_INFERRED:
        yield Verdict("ungrounded:authority", proposal.authority)
    if len({one.address for one in sources}) > 1:
        yield Verdict("ungrounded:two_owners")
    if proposal.address.owner != sources[0].address.owner:
        yield Verdict("ungrounded:owner")
    if proposal.address != sources[0].address:
        yield Verdict("ungrounded:space", proposal.address.space)
    if {one.scope for one in sources} - {SHARED, proposal.scope}:
        yield Verdict("ungrounded:scope", proposal.scope)
    readable_with_it = [set(listed) for listed in policy.agents.allowlists.values() if proposal.category in listed]
    if any(one.category not in listed for one in sources for listed in readable_with_it):
        yield Verdict("ungrounded:category", proposal.category)


def _check_rejections(proposal: Proposal, policy: Policy, rejections: Collection[Sealed]) -> Verdict | None:
    claim = Claim(proposal.address, proposal.content, "", KeySource.FALLBACK, proposal.address.owner)
    return Verdict("rejected:value") if is_rejected(claim, rejections, policy.text.synonyms) else None


def _check_quotes(proposal: Proposal, by_id: Mapping[str, SourceMemory]) -> Iterator[Verdict]:
    if not proposal.quotes:
        yield Verdict("ungrounded:span")
    for quote in proposal.quotes:
        if quote.source_id not in proposal.source_ids:
            yield Verdict("ungrounded:source", quote.source_id)
        elif not find_places(flatten(quote.span), flatten(by_id[quote.source_id].text)):
            yield Verdict("ungrounded:span", quote.span)


def _check_words(proposal: Proposal, evidence: Evidence) -> Iterator[Verdict]:
    claim = strip_times(flatten(proposal.content), evidence)
    said = Said(claim, read(claim).marks, leading_names(claim), proposal.kind is Kind.EPISODIC)
    for check in (check_names, check_dates, check_amounts, check_numbers, check_negations):
        yield from check(said, evidence)
    content = [mark for mark in said.marks if _carries_meaning(mark, evidence)]
    specific = [mark for mark in said.marks if mark.aspect in (Aspect.NUMBER, Aspect.DATE)]
    open_words = [
        mark for mark in content if not (said.is_name(mark) or is_covered(mark, evidence.keys, evidence.stems))
    ]
    least = COVERED_MIN if any(c.isupper() for c in claim) and not claim.isupper() else 1.0
    is_said = bool(content or specific) and len(open_words) <= (1 - least) * len(content) + 1e-9
    if proposal.kind is Kind.INSIGHT and not is_said:
        yield from _check_inference(said, content, evidence)
        return
    yield from check_clauses(flatten(proposal.content), said, [*content, *specific], evidence)
    if _reads_the_same(claim, evidence):
        return
    added = [mark for mark in open_words if not {stem(word) for word in words(mark.surface)} <= _TELL_NOTHING]
    for mark in said.marks if proposal.kind is not Kind.INSIGHT else ():  # "his shifts" are not "all shifts"
        tells = mark.aspect is Aspect.MODALITY or mark.key in _WHEN
        if tells and not is_covered(mark, evidence.keys, evidence.stems):
            yield Verdict("ungrounded:words", mark.surface)
    if (added and proposal.kind is not Kind.INSIGHT) or not is_said:
        yield Verdict("ungrounded:words", " ".join(mark.surface for mark in added or open_words))
    for _, part in split_clauses(claim):
        keys = {mark.key for mark in read(part).marks}
        within = [mark for mark in content if mark.key in keys]
        most = max((len(held_by(within, [clause])) for clause in evidence.clauses), default=0)
        if 2 * most <= len({mark.key for mark in within}) > 1:
            yield Verdict("ungrounded:mixed", part)


def _check_inference(said: Said, content: Sequence[Mark], evidence: Evidence) -> Iterator[Verdict]:
    """Yield how an insight that tells more than its spans denies them, or makes more of them: "always" of "sometimes"."""
    if not any(clause.is_own for clause in evidence.clauses):
        yield Verdict("ungrounded:material", evidence.text)
    reach = [mark for mark in said.marks if mark.aspect is Aspect.MODALITY or mark.key in QUANTIFIERS]
    extents = [mark for mark in reach if mark.key not in evidence.keys]
    own = {mark.key for mark in said.marks}
    for clause in fewest_clauses(content, evidence.clauses):
        yield from check_denials(said, clause)
        left_out = any(mark.aspect is Aspect.MODALITY and mark.key not in own for mark in clause.marks)
        if extents and left_out:
            yield Verdict("ungrounded:hedge", extents[0].surface)


def _carries_meaning(mark: Mark, evidence: Evidence) -> bool:
    """Return whether a mark counts as a content word; the name of the person who speaks follows from who they are."""
    if not mark.is_word or mark.aspect not in WORDS_OF_MEANING or mark.key in DENIALS or mark.key == "'s":
        return False
    return not set(words(fold(mark.surface))) <= STOP_WORDS | evidence.speakers


def _reads_the_same(claim: str, evidence: Evidence) -> bool:
    """Return whether the statement reader finds the claim in a clause of another language, whose words are not stemmed."""
    return any(
        _facts(read_statement(claim, clause.speaker, "de")) & _facts(read_statement(clause.text, clause.speaker, "de"))
        for clause in evidence.clauses
        if read(clause.text).language.value != "english"
    )


def _facts(frames: Sequence[Frame]) -> set[tuple[str, str, str, bool, Tense]]:
    return {(one.subject, one.attribute, one.value, one.negated, one.tense) for one in frames}
