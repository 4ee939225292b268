"""Compare a claim with the clauses that it rests on: whose they are, when, how firmly, and what they say of what."""

import re
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from recollect.rules.extraction.values import SUPPOSING
from recollect.rules.grounding.evidence import (
    BOUNDS,
    FIRST_PERSON,
    RELATIVE,
    THE_SPEAKER,
    THE_SPEAKERS,
    WE,
    Clause,
    Evidence,
    Said,
    is_exception,
    leading_nouns,
)
from recollect.rules.grounding.proposal import Verdict
from recollect.rules.grounding.specifics import DENIALS, OTHERS, find_denials
from recollect.rules.identity.difference import what_differs
from recollect.rules.identity.outdating import signs_of
from recollect.rules.language.lexicon import MODALITY, PREPOSITIONS, opposites_of
from recollect.rules.language.marks import Aspect, Mark
from recollect.rules.language.reading import read
from recollect.rules.language.spelling import other_tenses
from recollect.rules.language.text import STOP_WORDS, stem, terms, words
from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import Frame, Tense, read_statement
from recollect.rules.statements.frame import NO_SUBJECT

_EXCEPTION = re.compile(
    r"\b(?:except(?:ing|ed)?|excluding|barring|(?:apart|aside) from|other than|with the exception of)\b", re.IGNORECASE
)
_SEEMS = re.compile(
    r"\b(?:looks?|sounds?|feels?|seems?|appears?) (?:as (?:though|if)|like)\b|\bprovid(?:ed|ing)\b", re.IGNORECASE
)
_COMPARED = re.compile(r"(\w+) than (?:(?:the|a|my|our|his|her|their) )?(\w+)")
_NOT_QUITE = word_set(
    "deputy vice assistant acting interim former late fake mock imitation would-be honorary trainee associate"
)
"""Words without which somebody or something is another: the deputy head is not the head."""
_UNTRUE = re.compile(
    r"\b(?:false|untrue|a myth|den(?:y|ies|ied|ying)|disprove[sd]?|refute[sd]?|rul(?:e|es|ed|ing) out)\b", re.IGNORECASE
)
_PARTITIVE = re.compile(
    r"\b(?:one|two|three|four|half|third|quarter|part|some|few|any|either) of (?:my|our|his|her|their|its|the|these|those)\b",
    re.IGNORECASE,
)
_LIST_JOINT = re.compile(r"[,;] | and ", re.IGNORECASE)
_CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w+")
_SUBJECT = word_set("i we ich wir")
_PARTICLE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|stays?|remains?|turned|switched) (on|off|up|down|in|out)\b", re.I
)
_HIS = word_set("his her their its")
_MAY_BE_LEFT_OUT = word_set(
    """always usually normally generally typically often certainly definitely surely only about exactly precisely all every any
    many much more several both enough default least"""
)
"""Words of extent or certainty without which a statement says no more than it did. "Some", "most" and "mostly" are none."""
_HEDGES = (MODALITY - _MAY_BE_LEFT_OUT) | {"will", "going-to"}
"""Words without which a statement is firmer than it was."""
_HEDGING_STEMS = {stem(word) for word in SUPPOSING | _HEDGES if len(word) > 3 and not word.endswith("ly")} - {"will"}
"""Their stems, so that "thinking of" is "think"; but "likely" is not "like", and of the short ones "may" is a month."""
_BYGONE = word_set("was had did used-to formerly previously")
_HAVING = word_set("have had own get got with my our 's mein meine unser")
_COMPOUND = re.compile(r"\w+(?:[-–/+#]+\w+)*[+#]*")
_CALENDAR_DAY = re.compile(r"\d{1,4}([-/])\d{1,2}\1\d{1,4}")


def _makes_exception(text: str) -> bool:
    """Return whether a text says of what it does not hold."""
    before, but, after = text.partition(" but ")
    return _EXCEPTION.search(text) is not None or (bool(but) and is_exception(before, after))


def is_covered(mark: Mark, keys: Set[str], stems: Set[str]) -> bool:
    return mark.key in keys or {stem(word)[:64] for word in words(mark.surface)} <= stems


def check_clauses(whole: str, said: Said, content: Sequence[Mark], evidence: Evidence) -> Iterator[Verdict]:
    """Yield how the clauses that a claim rests on say something else: of somebody else, or of another time, or deny it."""
    yield from _check_compounds(whole, evidence)
    differences = (one for clause in evidence.clauses for one in what_differs(clause.text, whole))
    if _compares_others(whole, evidence.text) or any(one.aspect is Aspect.ORDER for one in differences):
        yield Verdict("ungrounded:order")
    about = [clause for clause in evidence.clauses if _same_subject(whole, clause)]
    rests_on = fewest_clauses(content, about) or fewest_clauses(content, evidence.clauses)
    for clause in rests_on:
        yield from _check_left_out(whole, said, clause)
    if find_denials(said.marks) and not any(find_denials(clause.marks) for clause in rests_on):
        yield Verdict("ungrounded:negation", said.text)
    if _says_has(said) and not any(clause.keys & _HAVING for clause in rests_on):
        yield Verdict("ungrounded:words", "has")
    if len(held_by(content, about)) < len(held_by(content, evidence.clauses)):
        yield Verdict("ungrounded:subject")
    done_to_the_speaker = (one.has_any(FIRST_PERSON) and not one.has_any(_SUBJECT) for one in rests_on)
    if _is_of_the_speaker(whole, said, evidence) and all(done_to_the_speaker):  # "my dentist moved", "she raised me"
        yield Verdict("ungrounded:subject", said.text)


def _check_compounds(whole: str, evidence: Evidence) -> Iterator[Verdict]:
    """Yield the words of a claim that are only parts of others in its evidence: "peanut" of "peanut-free", "C" of "C++"."""
    own = set(_COMPOUND.findall(whole.lower()))
    known = {word for clause in evidence.clauses for word in _COMPOUND.findall(clause.text.lower())}
    stems = {stem(word) for word in words(whole)}
    for word in sorted(known - own):
        parts = set(re.findall(r"\w+", word))
        is_reworded = word[-1] not in "+#" and all(stem(part) in stems for part in parts)
        if is_reworded or _CALENDAR_DAY.fullmatch(word):
            continue
        for part in sorted(parts & own - known):
            yield Verdict("ungrounded:number" if part.isdigit() else "ungrounded:words", part)


def _is_of_the_speaker(whole: str, said: Said, evidence: Evidence) -> bool:
    """Return whether a claim says of the person who speaks what they are or do, and not what they have or are called."""
    opening = re.match(r"(?:the )?([\w-]+)(?!['’]s)\b(?!['’]s)", whole, re.IGNORECASE)
    if opening is None or opening[1].lower() not in evidence.speakers:
        return False
    return not {mark.key for mark in said.marks} & (_HAVING | {"call", "called", "name"})


def _says_has(said: Said) -> bool:
    """Return whether a claim says that somebody has something: a stop word, and yet all that such a claim says."""
    return any(
        mark.key == "have" and not after.surface.endswith(("ed", "en")) and after.key not in DENIALS
        for mark, after in pairwise(said.marks)
    )


def held_by(content: Sequence[Mark], clauses: Sequence[Clause]) -> set[str]:
    return {mark.key for mark in content if any(is_covered(mark, one.keys, one.stems) for one in clauses)}


def fewest_clauses(content: Sequence[Mark], clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses that hold a claim's words: the one that holds the most, then for the rest the next."""
    left, chosen = list(content), list[Clause]()
    while left:
        held = {clause: [mark for mark in left if is_covered(mark, clause.keys, clause.stems)] for clause in clauses}
        most = max(map(len, held.values()), default=0)
        if not most:
            break
        best = [clause for clause, marks in held.items() if len(marks) == most]
        chosen += [clause for clause in best if clause not in chosen]
        left = [mark for mark in left if not any(mark in held[clause] for clause in best)]
    return chosen


def _check_left_out(whole: str, said: Said, clause: Clause) -> Iterator[Verdict]:
    own = {mark.key for mark in said.marks} | {stem(word) for word in words(whole)}
    if not clause.is_own:
        yield Verdict("ungrounded:material", clause.text)
    yield from check_denials(said, clause)
    there, here = (set(_PARTICLE.findall(text)) for text in (clause.text, whole))
    if there and here - there:
        yield Verdict("ungrounded:opposite", min(here - there))
    hedges = {mark.key for mark in clause.marks if mark.key in _HEDGES or mark.key == "?"}
    hedges |= (_HEDGING_STEMS | SUPPOSING) & {stem(word) for word in words(clause.text)}
    hedges = {hedge for hedge in hedges if hedge not in own and stem(hedge) not in own}
    if _SEEMS.search(clause.text) and not _SEEMS.search(whole):
        hedges.add("seems")
    if hedges - {"will"} or ("will" in hedges and _tense_of(whole, clause.speaker) is Tense.NOW):
        yield Verdict("ungrounded:hedge", min(hedges))
    of_another_time = {(Tense.PAST, Tense.NOW)} | (set() if said.is_event else {(Tense.NOW, Tense.PAST)})
    if _is_past(said, clause) or _tenses(whole, clause) in of_another_time:
        yield Verdict("ungrounded:tense", clause.text)
    if (ended := signs_of(clause.text).ends) and signs_of(whole).ends is None and not ended <= set(terms(whole)):
        yield Verdict("ungrounded:negation", clause.text)
    if _tenses(whole, clause) == (Tense.UNSURE, Tense.NOW):
        yield Verdict("ungrounded:hedge", clause.text)
    if _drops_what_is_owned(said, clause):
        yield Verdict("ungrounded:order", clause.text)
    if _bound_to(said.marks, clause) or _follows_its_verb(whole, clause) or _has_another_value(whole, clause):
        yield Verdict("ungrounded:order", clause.text)
    if _mixes_a_list(whole, clause):
        yield Verdict("ungrounded:mixed", clause.text)
    if _is_owned_by_another(said, clause) or _is_not_quite(said, clause):
        yield Verdict("ungrounded:subject", clause.text)
    if (_PARTITIVE.search(clause.text) and not _PARTITIVE.search(whole)) or _drops_an_alternative(said, clause):
        yield Verdict("ungrounded:hedge", clause.text)
    if governing := _find_governing(said, clause):
        yield Verdict("ungrounded:words", governing)


def _mixes_a_list(claim: str, clause: Clause) -> bool:
    """Return whether a claim joins a number to what another one goes with, such as "six on Tuesday".

    "Six on Monday and two on Tuesday" is a list of two: what stands in one part alone goes with the number in that part.
    """
    own = {mark.key for mark in read(claim).marks} - BOUNDS - PREPOSITIONS
    parts = [read(part).marks for part in _LIST_JOINT.split(clause.text)]
    held: list[tuple[bool, bool]] = []
    for part in parts:
        elsewhere = {mark.key for other in parts if other is not part for mark in other}
        numbers = {mark.key for mark in part if mark.aspect is Aspect.NUMBER}
        told = {mark.key for mark in part} - elsewhere - numbers
        if numbers:
            held.append((bool(numbers & own), bool(told & own)))
    return any(number for number, _ in held) and (False, True) in held


def _is_not_quite(said: Said, clause: Clause) -> bool:
    """Return whether a claim leaves out a word such as "deputy" before one that it keeps."""
    own = {mark.key for mark in said.marks}
    return any(before.key in _NOT_QUITE - own and mark.key in own for before, mark in pairwise(clause.marks))


def _is_owned_by_another(said: Said, clause: Clause) -> bool:
    """Return whether a claim gives to the speaker what its clause gives to somebody else: "her brother"."""
    told = words(clause.text)
    theirs = {stem(word) for at, word in enumerate(told) if _HIS.intersection(told[max(0, at - 2) : at])}
    mine = {stem(word) for at, word in enumerate(told) if FIRST_PERSON.intersection(told[max(0, at - 2) : at])}
    speaker = {*words(clause.speaker), *THE_SPEAKER}
    owned = {
        stem(after.key)
        for before, mark, after in zip(said.marks, said.marks[1:], said.marks[2:], strict=False)
        if mark.key == "'s" and before.key in speaker
    }
    return bool(owned & theirs - mine)


def _drops_an_alternative(said: Said, clause: Clause) -> bool:
    """Return whether a claim says one thing where its clause says "this or that"; who takes neither does not take this."""
    return "or" in clause.keys and not any(mark.key == "or" for mark in said.marks) and not find_denials(clause.marks)


def check_denials(said: Said, clause: Clause) -> Iterator[Verdict]:
    if find_denials(clause.marks) and not find_denials(said.marks):
        yield Verdict("ungrounded:negation", clause.text)
    is_untrue = _UNTRUE.search(clause.text) and not _UNTRUE.search(said.text)
    if is_untrue or (_makes_exception(clause.text) and not _makes_exception(said.text)):
        yield Verdict("ungrounded:negation", clause.text)
    present = {base for key in clause.keys for base in (key, *other_tenses(key))}
    for mark in said.marks:
        opposites = {other for base in (mark.key, *other_tenses(mark.key)) for other in opposites_of(base)}
        if mark.key not in clause.keys and not present.isdisjoint(opposites):
            yield Verdict("ungrounded:opposite", mark.surface)


def _is_past(said: Said, clause: Clause) -> bool:
    """Return whether a claim says of today what its clause says of the past: "works" for "worked", "is" for "was"."""
    own = {mark.key for mark in said.marks}
    if (clause.keys & _BYGONE) - own and not any(
        mark.key in clause.keys and mark.key.endswith("ed") for mark in said.marks
    ):
        return True
    present = (mark for mark in said.marks if mark.has_ending and mark.key not in clause.keys)
    return any(not clause.keys.isdisjoint(other_tenses(mark.key)) for mark in present)


def _bound_to(marks: Sequence[Mark], clause: Clause) -> bool:
    """Return whether a word follows another preposition than in the clause, or owns what it does not own there.

    "From Lisbon to Porto" is not "from Porto to Lisbon", and "Bob is my backup" does not make anybody "Bob's backup".
    """
    pairs = {(before.key, mark.key) for before, mark in pairwise(clause.marks)}
    near = {(before.key, mark.key) for at, before in enumerate(clause.marks) for mark in clause.marks[at + 1 : at + 5]}
    speaker = set(words(clause.speaker))
    for before, mark in pairwise(marks):
        is_moved = (
            before.key in PREPOSITIONS and {before.key, mark.key} <= clause.keys and (before.key, mark.key) not in near
        )
        is_owner = mark.key == "'s" and before.key in clause.keys and before.key not in speaker
        if (is_moved or is_owner) and (before.key, mark.key) not in pairs:
            return True
    return False


def _follows_its_verb(claim: str, clause: Clause) -> bool:
    """Return whether the subject of a claim stands behind the same verb in the clause, so that it is another's object there."""
    from recollect.rules.statements.tagger import tag_english

    verbs = [terms(word.text) for word in tag_english(claim) if word.tag in ("VVZ", "VVB", "VVD")]
    said = terms(clause.text)
    subjects = [terms(noun) for noun in leading_nouns(claim)]
    if not verbs or not subjects or not verbs[0] or verbs[0][0] not in said:
        return False
    verb = said.index(verbs[0][0])
    return any(noun and noun[0] in said and said.index(noun[0]) > verb for noun in subjects)


def _compares_others(claim: str, text: str) -> bool:
    """Return whether a claim compares by another word than its spans: "taller than Bea but shorter than Cleo"."""
    known, said = set(_COMPARED.findall(text.lower())), set(_COMPARED.findall(claim.lower()))
    return len(known) > 1 and not said <= known


def _drops_what_is_owned(said: Said, clause: Clause) -> bool:
    """Return whether a claim is about an owner where its clause is about what they own: "for Rosa's colleagues"."""
    own = {mark.key for mark in said.marks}
    owners = {before.key for before, mark in pairwise(said.marks) if mark.key == "'s"}
    return any(
        owner.key in own - owners and owned.key not in own
        for owner, mark, owned in zip(clause.marks, clause.marks[1:], clause.marks[2:], strict=False)
        if mark.key == "'s" and owner.is_word
    )


def _has_another_value(claim: str, clause: Clause) -> bool:
    """Return whether the statement reader finds one attribute with two values: who prefers tea to coffee prefers tea.

    Numbers are left to the other checks: "3 pm" is "15:00".
    """
    ours, theirs = read_statement(claim, clause.speaker), read_statement(clause.text, clause.speaker)
    values = {
        (one.attribute, tuple(terms(one.value))): set(terms(other.value))
        for one in ours
        for other in theirs
        if one.single
        and (one.subject, one.attribute) == (other.subject, other.attribute)
        and not any(c.isdigit() for c in one.value)
    }
    return any(value and values[attribute, value].isdisjoint(value) for attribute, value in values)


def _find_governing(said: Said, clause: Clause) -> str:
    """Return the verb that a claim leaves out and that decides about the one that it keeps: "refuse" in "refuse to eat"."""
    own, stems = {mark.key for mark in said.marks}, frozenset(terms(said.text))
    for place, verb in enumerate(clause.marks):
        to = place > 0 and clause.marks[place - 1].key == "to"
        before = clause.marks[place - 1 - to] if place > to else verb
        plain = all(mark.aspect is Aspect.CONTENT and mark.is_word for mark in (before, verb))
        is_kept, is_left_out = is_covered(verb, own, stems), not is_covered(before, own, stems)
        joined = to or verb.surface.endswith("ing")
        if plain and joined and is_kept and is_left_out and before.surface.lower() not in STOP_WORDS:
            return before.surface
    return ""


def _same_subject(claim: str, clause: Clause) -> bool:
    """Return whether a clause may be about whom the claim is about: by its pronoun, its first noun, and the statement reader."""
    ours, theirs = read_statement(claim, clause.speaker), read_statement(clause.text, clause.speaker)
    said, speaker = set(terms(claim)), clause.speaker.lower().split()
    first = " ".join(words(clause.text)[:1])
    if first in RELATIVE:
        return bool(clause.after) and said.issuperset(terms(clause.after[-1]))
    if first in OTHERS and any(_subject_of(one) == speaker for one in ours):
        return False
    nouns = leading_nouns(clause.text)
    if nouns and not any(said.issuperset(terms(noun)) for noun in nouns):
        return False
    if clause.has_any(WE) and any(THE_SPEAKERS.issuperset(_subject_of(one)) for one in ours):
        return True
    names = {word.lower() for word in _CAPITALISED.findall(clause.text)}
    pairs = [(_subject_of(one), _subject_of(other)) for one in ours for other in theirs]
    return not pairs or any(_is_subject(one, other, names) or [*speaker, *one] == other for one, other in pairs)


def _subject_of(frame: Frame) -> list[str]:
    return (frame.attribute if frame.subject == NO_SUBJECT else frame.subject).split()


def _is_subject(ours: Sequence[str], theirs: Sequence[str], names: Set[str]) -> bool:
    """Return whether two subjects are one: "Ana's sister" and "Lea" are "Ana's sister Lea", "Ana" is not "Ana's brother"."""
    if ours == theirs:
        return True
    named = theirs[-len(ours) :] == ours and names >= set(ours)
    return named or (len(ours) > 1 and ours == theirs[: len(ours)] and names >= set(theirs[len(ours) :]))


def _tense_of(text: str, speaker: str) -> Tense | None:
    frames = read_statement(text, speaker)
    return frames[0].tense if frames else None


def _tenses(claim: str, clause: Clause) -> tuple[Tense | None, Tense | None]:
    return _tense_of(clause.text, clause.speaker), _tense_of(claim, clause.speaker)
