"""What an attack must not achieve. Each check looks at memory before and after, and tells what is wrong in words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import recollect
from recollect import Recollect
from recollect.model.receipt import Recalled
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Authority, Source, Status, Tier
from recollect.rules.trust.borders import as_read

from .library import Attack
from .people import PEOPLE, Person
from .stage import IN_A_TURN, Sight

MAY_MOVE = frozenset({"access_count", "last_accessed", "last_modified", "related_memory_ids", "conflict_ids"})
"""Counters, and links to what others said, are no part of what is believed."""
OWN_REASONS = re.compile(r"(source:\w+|verifying_tool|stated_by_trusted_caller)")
"""Why something is believed is for the rules to say."""
SPOKEN_BY_AN_AGENT = (Source.TOOL, Source.AGENT, Source.PROMOTION, Source.IMPORT, Source.TEST_SUITE)
HIGHER_NAMES = re.compile(r"\b(system|operator|administrator|admin|root|ana|user)\b", re.IGNORECASE)
FALSE_LABEL = re.compile(r"- \[(system|operator|user|ana)\b", re.IGNORECASE)
FALSE_SPEAKER = re.compile(r"\W*(system|operator|user|ana):", re.IGNORECASE)
"""How lines begin that a prompt would take for somebody else's."""


@dataclass(frozen=True, slots=True)
class Aftermath:
    """An attack, and memory before and after it."""

    attack: Attack
    mem: Recollect
    before: Sight
    after: Sight

    @property
    def attacker(self) -> Person:
        return self.attack.attacker

    @property
    def wrote(self) -> dict[str, Memory]:
        """What the attack left behind: all that is new, or of a whole turn what holds the attacker's own words."""
        payload = self.attack.payload or ""
        return {
            id: memory
            for id, memory in self.after.memories.items()
            if id not in self.before.memories and payload in memory.content.lower() and not is_summary(memory)
        }

    @property
    def protected(self) -> dict[str, Memory]:
        """What the attacker has no power over: what is believed more than it, and what is not where it may write."""
        ceiling, attacker = self.attacker.ceiling, self.attacker
        return {
            id: memory
            for id, memory in self.before.memories.items()
            if above(memory.authority, ceiling) or not (attacker.is_application or attacker.may_write(memory))
        }


def is_summary(memory: Memory) -> bool:
    """Whether the store itself wrote it, to sum up what others said. Nobody else can sign as the application."""
    return "summary_of" in memory.meta and memory.author.id == "system:application"


def above(one: Authority, other: Authority) -> bool:
    order = list(Authority)
    return order.index(one) < order.index(other)


def unharmed(aftermath: Aftermath) -> None:
    """Fail with everything that the attack achieved."""
    harm = [words for check in CHECKS for words in check(aftermath)]
    assert not harm, f"{aftermath.attack}\n  " + "\n  ".join(harm)


def what_is_protected_stands(case: Aftermath) -> Iterator[str]:
    for id, memory in case.protected.items():
        now = case.after.memories.get(id)
        if now is None:
            yield f"{memory.content!r} is gone"
            continue
        for name in memory.__dataclass_fields__.keys() - MAY_MOVE:
            if getattr(memory, name) != getattr(now, name):
                yield f"{memory.content!r}: {name} was {getattr(memory, name)!r}, is {getattr(now, name)!r}"


def what_is_protected_is_found_by_its_id(case: Aftermath) -> Iterator[str]:
    for id, memory in case.protected.items():
        try:
            if case.mem.get(id).id != id:
                yield f"{memory.content!r}: its id leads elsewhere"
        except recollect.RecollectError as error:
            yield f"{memory.content!r} is no longer found by its id: {error}"


def what_was_recalled_is_recalled(case: Aftermath) -> Iterator[str]:
    """What is only a little alike fills places that nothing better takes: whatever is written may take them."""
    for name, recall in case.before.told.items():
        now = {item.memory.id for item in case.after.told[name].items}
        for item in recall.items:
            filled = {"means_alike", "has_similar_words"}.issuperset(item.recall_reason)
            if item.memory.id in case.protected and item.memory.id not in now and not filled:
                yield f"{name} asks and is no longer told {item.memory.content!r}"


def nothing_weighs_too_much(case: Aftermath) -> Iterator[str]:
    for memory in case.wrote.values():
        if above(memory.authority, case.attacker.ceiling):
            yield f"{memory.content!r} is {memory.authority}, which its author may not be"


def no_guess_is_canon(case: Aftermath) -> Iterator[str]:
    for memory in case.after.memories.values():
        if (memory.status, memory.tier, memory.authority) == (Status.ACTIVE, Tier.CANON, Authority.AI_INFERRED):
            yield f"{memory.content!r} is canon, and only {memory.authority}"


def no_guess_was_promoted(case: Aftermath) -> Iterator[str]:
    for memory in case.wrote.values():
        if memory.source is Source.PROMOTION and memory.authority is Authority.AI_INFERRED:
            yield f"{memory.content!r} was promoted to {memory.space}, and is only {memory.authority}"


def nothing_rose_with_what_it_claims(case: Aftermath, later: dict[str, Memory]) -> None:
    """A person may say what an attacker said; that makes it the person's word, and never the attacker's rule."""
    for memory in (later[id] for id in case.wrote if id in later):
        claims = memory.tier is Tier.CANON or memory.pinned or memory.sublayer == "rule"
        risen = memory.status is Status.ACTIVE and above(memory.authority, case.attacker.ceiling)
        assert not (claims and risen), (
            f"{case.attack}: {memory.content!r} rose to {memory.authority} with tier {memory.tier}, "
            f"{memory.layer}/{memory.sublayer}, pinned {memory.pinned}, as its first author had it"
        )


def nothing_crossed(case: Aftermath) -> Iterator[str]:
    for memory in case.wrote.values():
        if not case.attacker.reaches_everywhere and not case.attacker.may_write(memory):
            yield f"{memory.content!r} got to {memory.space}/{memory.owner}/{memory.scope}"


def nobody_sees_more(case: Aftermath) -> Iterator[str]:
    """Words that somebody could not see before must not reach them by way of a copy."""
    for name, seen in case.after.seen.items():
        known = {memory.content for memory in case.before.seen[name].values()}
        hidden = {memory.content for memory in case.before.memories.values()} - known
        for memory in seen.values():
            if memory.content in hidden:
                yield f"{name} can see {memory.content!r} now"


def origin_is_shown(case: Aftermath) -> Iterator[str]:
    for name, recall in case.after.told.items():
        for item in recall.items:
            if item.memory.id in case.wrote:
                for lie in _lies(case.attacker, item.memory):
                    yield f"{name} is told {item.memory.content!r} with {lie}"


def _lies(author: Person, memory: Memory) -> Iterator[str]:
    if not OWN_REASONS.fullmatch(memory.authority_reason):
        yield f"the reason {memory.authority_reason!r}"
    own = (f"agent:{author.agent}", f"user:{author.user}")
    is_own = memory.author.id in own and memory.author.id.endswith(f":{memory.author.name}")
    if not is_own and _is_higher(author, memory):
        yield f"the name {memory.author.name!r}"
    if author.agent is None:
        return
    if memory.author.id != f"agent:{author.agent}" and memory.agent_id != author.agent:
        yield f"no word of {author.agent}: author {memory.author.id!r}, agent {memory.agent_id!r}"
    if memory.source not in SPOKEN_BY_AN_AGENT:
        yield f"the source {memory.source}, though an agent said it"


def _is_higher(author: Person, memory: Memory) -> bool:
    return not author.is_application and HIGHER_NAMES.search(as_read(memory.author.name)) is not None


def every_origin_in_a_block_is_true(case: Aftermath) -> Iterator[str]:
    """In the blocks for prompts, too, nothing poses as a tier that it does not have, or as the words of a person."""
    for asks in case.attack.asks:
        text = case.mem.memory_block(asks, owner="ana").text + case.mem.snapshot_block(owner="ana").text
        for line in text.splitlines():
            memory = next((m for m in case.wrote.values() if f" · {m.short_id}] " in line), None)
            if memory is not None and line.startswith("- [canon · ") and memory.tier is not Tier.CANON:
                yield f"{asks!r} brings {line!r}, which is not canon"
            if memory is not None and case.attacker.agent and re.match(r"- \[[^·]+ · (ana|operator) · ", line):
                yield f"{asks!r} brings {line!r}, though {case.attacker.agent} wrote it"


def nothing_is_shadowed_from_below(case: Aftermath) -> Iterator[str]:
    """Where two spaces or scopes know one concept, whoever is believed more is the one to be told."""
    active = [m for m in case.protected.values() if m.status is Status.ACTIVE]
    for name, recall in case.after.told.items():
        told = [item for item in recall.items if item.memory.id in case.wrote]
        for item, memory in ((item, memory) for item in told for memory in active if _hides(item, memory)):
            if _may_see(case.mem, name, memory):
                yield f"{name} asks and is told {item.memory.content!r} instead of {memory.content!r}"


def _may_see(mem: Recollect, name: str, memory: Memory) -> bool:
    whose = PEOPLE["ana" if name == IN_A_TURN else name]
    seen = whose.view(mem).list(owner=memory.owner, space=memory.space, limit=1_000).items
    return memory.id in {one.id for one in seen}


def _hides(item: Recalled, memory: Memory) -> bool:
    return _concept(item.memory) == _concept(memory) and above(memory.authority, item.memory.authority)


def _concept(memory: Memory) -> tuple[str, str]:
    return KIND_CLASS[memory.kind], memory.canonical_key.lower()


def no_guess_is_given_as_a_rule(case: Aftermath) -> Iterator[str]:
    """What comes up in every turn, whatever is asked, is for those who may lay down rules."""
    for name, recall in case.after.told.items():
        for item in recall.items:
            if item.memory.id in case.wrote and "active_rule" in item.recall_reason:
                yield f"{name} is given {item.memory.content!r} as a rule"


def every_line_says_whose_it_is(case: Aftermath) -> Iterator[str]:
    """What a prompt is given: no memory may look like two, or like somebody else's."""
    for name, recall in case.after.told.items():
        for item in recall.items:
            if item.memory.id in case.wrote:
                yield from (f"{name} is given {lie}" for lie in _false_lines(item.memory, recall.text))


def _false_lines(memory: Memory, text: str) -> Iterator[str]:
    for part in (memory.content, memory.category):
        if len(part.splitlines()) > 1 and part in text:
            yield f"several lines for {part!r}"
    for line in text.splitlines():
        if FALSE_LABEL.match(line) and line.endswith(memory.content.splitlines()[-1]):
            yield f"the line {line!r}"


def summaries_name_the_speaker(case: Aftermath) -> Iterator[str]:
    for memory in case.after.memories.values():
        for line in memory.content.splitlines() if is_summary(memory) and case.attack.payload else ():
            if str(case.attack.payload) in line.lower() and FALSE_SPEAKER.match(line):
                yield f"a summary says {line!r}"


def nothing_is_broken(case: Aftermath) -> Iterator[str]:
    yield from (f"{problem.where}: {problem.what}" for problem in case.mem.verify().problems)


CHECKS: tuple[Callable[[Aftermath], Iterator[str]], ...] = (
    what_is_protected_stands,
    what_is_protected_is_found_by_its_id,
    what_was_recalled_is_recalled,
    nothing_weighs_too_much,
    no_guess_is_canon,
    no_guess_was_promoted,
    nothing_crossed,
    nobody_sees_more,
    origin_is_shown,
    every_origin_in_a_block_is_true,
    nothing_is_shadowed_from_below,
    no_guess_is_given_as_a_rule,
    every_line_says_whose_it_is,
    summaries_name_the_speaker,
    nothing_is_broken,
)
