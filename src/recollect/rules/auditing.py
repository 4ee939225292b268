"""What is wrong with somebody's memories, record by record, without keeping any of them.

The same rules that stand at the gates look at each record: noise, test data, secrets and personal data, and at the
records before it: the same words again, nearly the same, or another value for the same thing.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from recollect.model.canonical import Plain
from recollect.model.policy import Policy
from recollect.model.record import Candidate
from recollect.model.vocabulary import KIND_CLASS, Change, KindClass, Namespace
from recollect.rules.gates.content import assign_namespace, noise_signal
from recollect.rules.identity.change import TENTATIVE, classify_change
from recollect.rules.identity.keys import read_key
from recollect.rules.identity.likeness import how_alike, overlap, prefix_length
from recollect.rules.language.text import fingerprint, terms
from recollect.rules.privacy import TYPES, redact, scan
from recollect.rules.privacy.gate import strings
from recollect.rules.statements import read_statement

FINDINGS: Mapping[str, str] = {
    "broken": "Records that cannot be read, or are no memory at all.",
    "noise": "Journal entries: heartbeats, tick markers, nothing to report.",
    "test": "Test data among the real.",
    "duplicate": "The same words again.",
    "near_duplicate": "Almost the same words again, and nothing that matters differs.",
    "contradiction": "Two records about one thing that cannot both be true.",
    "outdated": "An earlier value that is still kept beside the later one.",
    "secret": "Keys, tokens and passwords, and numbers that open accounts.",
    "personal": "Personal data: addresses, telephone numbers and the like.",
}
"""What an audit looks for, in the order in which a report tells it."""
WORTHLESS = frozenset({"broken", "noise", "test", "duplicate", "near_duplicate"})
"""Findings after which nothing is left that is worth keeping."""
MAX_EXAMPLES = 10
MAX_SHOWN_CHARACTERS = 240
MAX_COMPARED = 50_000
"""How many different texts later ones are compared with; the report says how many there were."""
MAX_COMPARED_CHARACTERS = 2_000
MAX_POSTINGS = 500
"""How many texts with one word in common are looked at: a word that more of them have tells little."""
MAX_JUDGED = 8
SKIPPED_FIELDS = frozenset({"aliases"})


class Example(NamedTuple):
    """Where something was found, and what it says, with what is sensitive cut out; ``beside`` is the record it is about."""

    place: str
    text: str
    why: str
    beside: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Audit(Plain):
    """What an audit found. ``worthless`` counts the records of which nothing is left that is worth keeping."""

    read: int
    skipped: int
    worthless: int
    clean: int
    """Records about which there is nothing to say."""
    counts: dict[str, int]
    sensitive: dict[str, int]
    """How many records hold each type of sensitive data."""
    compared: int
    """With how many different texts the others were compared."""
    owners: int
    examples: dict[str, tuple[Example, ...]] = field(default_factory=dict)


class _Known(NamedTuple):
    """A text that later ones are compared with."""

    place: str
    owner: str
    text: str
    words: frozenset[str]


class Auditor:
    """Looks at records one after the other, in bounded memory."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._read = self._skipped = self._worthless = self._clean = 0
        self._counts: Counter[str] = Counter()
        self._sensitive: Counter[str] = Counter()
        self._examples: dict[str, list[Example]] = {}
        self._words: dict[tuple[str, str], str] = {}
        self._concepts: dict[tuple[str, ...], _Known] = {}
        self._texts: list[_Known] = []
        self._index: dict[tuple[str, str], list[int]] = {}
        self._owners: set[str] = set()

    def skip(self) -> None:
        """A record that its own format says is none, such as one that was deleted."""
        self._skipped += 1

    def broken(self, place: str, why: str) -> None:
        """A record that cannot be read."""
        self._note(place, "", [("broken", why, None)])

    def note(self, place: str, candidate: Candidate) -> None:
        """A record that would be offered to the gates."""
        self._owners.add(candidate.owner)
        found = [*self._of_itself(candidate), *self._of_others(place, candidate), *self._private(candidate)]
        self._note(place, candidate.content, found)

    def _note(self, place: str, text: str, found: "list[_Finding]") -> None:
        self._read += 1
        kinds = dict.fromkeys(kind for kind, _, _ in found)
        self._worthless += not WORTHLESS.isdisjoint(kinds)
        self._clean += not found
        for kind in kinds:
            self._counts[kind] += 1
        for kind, why, beside in found:
            examples = self._examples.setdefault(kind, [])
            if len(examples) < MAX_EXAMPLES:
                examples.append(Example(place, show_text(text), why, beside))

    def _of_itself(self, candidate: Candidate) -> "list[_Finding]":
        found: list[_Finding] = []
        signal = noise_signal(candidate.content, self._policy.noise)
        if signal is not None:
            found.append(("noise", f"reads as a journal entry: {signal}", None))
        namespace, rule = assign_namespace(candidate, self._policy.namespaces)
        if namespace is Namespace.TEST:
            found.append(("test", rule.rpartition(":")[2], None))
        return found

    def _private(self, candidate: Candidate) -> "list[_Finding]":
        """Every type of sensitive data in any field, once each."""
        types = {
            hit.type
            for name in sorted(candidate.model_fields_set - SKIPPED_FIELDS)
            for text in strings(getattr(candidate, name))
            for hit in scan(text)
        }
        self._sensitive.update(types)
        return [("personal" if is_personal(type) else "secret", type, None) for type in sorted(types)]

    def _of_others(self, place: str, candidate: Candidate) -> "list[_Finding]":
        if KIND_CLASS[candidate.kind] is KindClass.EVENT:
            return []  # the same words said twice are two events
        text, owner = candidate.content, candidate.owner
        words = (owner, fingerprint(text, self._policy.text.synonyms))
        if words in self._words:
            return [("duplicate", "the same words", self._words[words])]
        self._words[words] = place
        known = _Known(place, owner, text[:MAX_COMPARED_CHARACTERS], frozenset(terms(text, self._policy.text.synonyms)))
        return self._of_concept(known) or self._alike(known)

    def _of_concept(self, known: _Known) -> "list[_Finding]":
        """Another statement about the same thing, which the later one puts out of date or contradicts."""
        frames = [frame for frame in read_statement(known.text)[:1] if frame.single and not frame.negated]
        concept = read_key(frames)
        if concept is None:
            return []
        key = known.owner, concept.digest
        before = self._concepts.get(key)
        self._concepts[key] = known
        return [_judge_change(before, known)] if before is not None else []

    def _alike(self, known: _Known) -> "list[_Finding]":
        settings = self._policy.near_duplicates
        compare = partial(how_alike, overlap_min=settings.overlap_min, ratio_min=settings.ratio_min)
        nearest = [self._texts[number] for number in self._candidates(known)]
        self._keep(known)
        for one in nearest:
            verdict = compare(one.text, known.text, one.words, known.words)
            if verdict.same:
                return [("near_duplicate", f"{verdict.score:.0%} alike", one.place)]
        return []

    def _candidates(self, known: _Known) -> list[int]:
        """The owner's texts that share most words, by the rarest: whoever overlaps enough shares one of those."""
        least, words = self._policy.near_duplicates.overlap_min, known.words
        lists = sorted((self._index.get((known.owner, word), []) for word in sorted(words)), key=len)
        looked_up = lists[: prefix_length(len(words), least)]
        found = {number for numbers in looked_up for number in numbers[:MAX_POSTINGS]}
        alike = [(-overlap(self._texts[number].words, words), number) for number in found]
        return [number for score, number in sorted(alike)[:MAX_JUDGED] if -score >= least]

    def _keep(self, known: _Known) -> None:
        if len(self._texts) < MAX_COMPARED:
            for word in known.words:
                self._index.setdefault((known.owner, word), []).append(len(self._texts))
            self._texts.append(known)

    def report(self) -> Audit:
        return Audit(
            read=self._read,
            skipped=self._skipped,
            worthless=self._worthless,
            clean=self._clean,
            counts={kind: self._counts[kind] for kind in FINDINGS},
            sensitive=dict(sorted(self._sensitive.items())),
            compared=len(self._texts) + len(self._concepts),
            owners=len(self._owners),
            examples={kind: tuple(self._examples.get(kind, ())) for kind in FINDINGS},
        )


_Finding = tuple[str, str, str | None]
"""What was found, why, and beside which other record."""


def _judge_change(before: _Known, after: _Known) -> _Finding:
    decided = classify_change(before.text, after.text)
    if decided.change is Change.SAME or decided.rule in TENTATIVE:
        return "near_duplicate", decided.rule, before.place
    kind = "contradiction" if decided.change is Change.CONTRADICTION else "outdated"
    return kind, decided.rule, before.place


def is_personal(type: str) -> bool:
    """Whether a type of sensitive data is about a person, and not what opens something."""
    return not TYPES[type].secret and TYPES[type].default_action != "deny"


def show_text(text: str) -> str:
    """A text as a report may show it: nothing sensitive, and not all of it."""
    start = text[:MAX_COMPARED_CHARACTERS]  # far more than is shown, so that no secret is cut where it is
    cut = redact(start, scan(start))
    return cut if len(cut) <= MAX_SHOWN_CHARACTERS else cut[: MAX_SHOWN_CHARACTERS - 1] + "…"


def share_of(part: int, whole: int) -> float:
    """A part of the whole, from 0 to 1."""
    return part / whole if whole else 0.0
