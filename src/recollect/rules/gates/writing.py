"""Hold text written by an agent or a model to the writing constraints: a complete, neutral, self-contained statement.

A fact, a profile field and an insight are one or two complete sentences in the third person, without pronouns, within
280 characters. An episode is one or two sentences in the past tense about what was discussed, decided or done. A
person's own words are never constrained, nor are lines of a conversation and procedures, which have rules of their own.
"""

import re
from collections.abc import Iterator, Sequence

from recollect.model.policy import Writer
from recollect.model.vocabulary import Kind, Source
from recollect.rules.extraction.message import SENTENCE_END
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.word_lists import any_of, entries, word_set
from recollect.rules.statements import ChangeMark, Tense, read_statement
from recollect.rules.statements.tagger import FINITE, Word, tag_english
from recollect.rules.trust.borders import source_of

MAX_CHARACTERS = 280
MAX_SENTENCES = 2
CONSTRAINTS = (
    "One or two complete sentences in the third person, neutral, without pronouns, understood on their own, at most 280 "
    "characters; an episode in the past tense, about what was discussed, decided or done."
)
"""The instruction that a model gets before it writes."""

PASSED, TRIMMED = "writing:passed", "writing:trimmed"
FAULTS = {
    "writing:too_long": f"it has more than {MAX_CHARACTERS} characters",
    "writing:too_many_sentences": "it has more than two sentences",
    "writing:not_a_sentence": "it is no complete statement with a subject and a verb",
    "writing:not_third_person": "it says I, we or you",
    "writing:pronoun": "it says he, she, it or they instead of a name",
    "writing:not_self_contained": "it points to a day or a text that only its writer knows",
    "writing:not_neutral": "it exclaims or judges",
    "writing:not_past_tense": "it is an episode, and not in the past tense",
    "writing:stable_fact": "it is an episode, and states a lasting fact that did not change",
}
"""The faults of a text with their meaning, in the order in which they are reported."""

_SEMANTIC = (Kind.SEMANTIC, Kind.PROFILE, Kind.INSIGHT)
_HELD = (*_SEMANTIC, Kind.EPISODIC)
_QUOTED = lazy_pattern(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)")
_WORD = lazy_pattern(r"[\w@#]+(?:[/.:@_-]+\w+|['’](?!s\b)\w+)*")
_THEIRS = word_set(
    "he him his himself she her hers herself it its itself they them their theirs themselves themself it'll he'll she'll"
    " they'll they've they're they'd he'd she'd"
)
_OURS = word_set(
    "i me my myself we us our ours ourselves you your yours yourself yourselves i'm i've i'll i'd we're we've we'll we'd"
    " you're you've you'll you'd let's"
)
_NUMBERED = word_set("war phase type part class level tier volume chapter grade section stage act")
_POINTS_AT = lazy_pattern(
    r"(?:this|that|these|those)\s+(?:is|was|are|were|means|meant|will|has|had|does|did|would|should|can|could|works)\b",
    re.I,
)
_RELATIVE = lazy_pattern(
    r"\b(?:today|tomorrow|yesterday|tonight|just now|right now|(?:last|next|this) (?:week|weekend|month|year|quarter|night"
    r"|morning|afternoon|evening|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|(?:\d+|a|an|one|two|three|four|five|six|seven|few) (?:minute|hour|day|week|month|year)s? ago"
    r"|(?:this|the current|our) (?:conversation|chat|session|thread)"
    r"|as (?:discussed|mentioned|stated|noted|said)|see (?:above|below)|(?:mentioned|listed|described) (?:above|below)"
    r"|the (?:former|latter)|same as (?:before|above))\b",
    re.I,
)
_STANCE = lazy_pattern(
    r"\b(?:"
    + any_of(
        entries(
            """obviously|unfortunately|sadly|luckily|fortunately|hopefully|honestly|frankly|thankfully|of course
            needless to say|to be honest|believe it or not|as everyone knows"""
        )
    )
    + r")\b",
    re.I,
)
_EXCLAIMS = lazy_pattern(r"!+(?=[\"')\]]*(?:\s|$))|[\U0001f300-\U0001faff\u2600-\u27bf]|\b[A-Z]{4,}(?: [A-Z]{4,})+\b")
_OPEN_END = lazy_pattern(r"(?:[,:;–—-]|\.{3}|…|\b(?:and|or|but|because|that|which|with|of|to|the|an?))\s*$", re.I)
_PAST = frozenset(("VVD", "VBD", "VHD", "VDD", "VVN"))
_NO_SUBJECT = frozenset(("VVZ", "VVB", "VVD", "VBZ", "VHZ"))


def writing_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Flag, trim or refuse text of an agent or a model that breaks the constraints, as the policy says."""
    candidate = draft.candidate
    writer: Writer = "model" if context.proposed else "agent"
    action = context.policy.writing.action_for(writer)
    by_machine = context.proposed or source_of(candidate, context.caller) is Source.AGENT
    if action == "off" or context.promoting or not by_machine or candidate.kind not in _HELD:
        return draft
    faults = faults_of(candidate.content, candidate.kind)
    if not faults:
        return draft.decide(PASSED)
    if action == "trim" and candidate.signature is None:
        shorter = trim(candidate.content)
        if shorter is not None and shorter != candidate.content:
            draft = draft.decide(TRIMMED, candidate=candidate.model_copy(update={"content": shorter}))
            faults = faults_of(shorter, candidate.kind)
    cannot_stay = action == "trim" and "writing:too_long" in faults
    if action == "reject" or cannot_stay:
        named = "; ".join(f"{FAULTS[code]} ({code})" for code in faults)
        return Rejection("writing", "writing_constraints", f"As a memory it cannot stand: {named}. {CONSTRAINTS}")
    for code in faults:
        draft = draft.decide(code)
    return draft


def flags_of(draft: Draft) -> tuple[str, ...]:
    """Return the codes that a receipt shows: the faults of an admitted draft, and that it was trimmed."""
    return tuple(decision.rule for decision in draft.decisions if decision.rule in FAULTS or decision.rule == TRIMMED)


def met_at_first(draft: Draft) -> bool | None:
    """Return whether the text met the constraints as written; ``None`` if it was not held to them."""
    rules = {decision.rule for decision in draft.decisions}
    return PASSED in rules if rules & {PASSED, TRIMMED, *FAULTS} else None


def faults_of(text: str, kind: Kind) -> tuple[str, ...]:
    """Return the codes of the faults of a text of this kind; none if it meets the constraints.

    >>> faults_of("Ana has lived in Lisbon since May 2024.", Kind.SEMANTIC)
    ()
    >>> faults_of("She moved there yesterday!", Kind.SEMANTIC)
    ('writing:pronoun', 'writing:not_self_contained', 'writing:not_neutral')
    >>> faults_of("Ana lives in Lisbon.", Kind.EPISODIC)
    ('writing:not_past_tense', 'writing:stable_fact')
    """
    from recollect.rules.statements.reader import detect_language  # it loads tables, which `--help` must not

    plain = _QUOTED.sub("‘’", text)
    sentences = sentences_of(plain)
    english = detect_language(plain) == "en"
    found = {"writing:too_long"} if len(text) > MAX_CHARACTERS and kind in _SEMANTIC else set()
    found |= {"writing:too_many_sentences"} if len(sentences) > MAX_SENTENCES else set()
    if kind is Kind.EPISODIC:
        found |= set(_episode_faults(sentences)) if english else set()
    else:
        found |= set(_statement_faults(plain, sentences, english=english))
    return tuple(code for code in FAULTS if code in found)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, each with its end mark."""
    return [part.strip() for line in text.splitlines() for part in SENTENCE_END.split(line.strip()) if part.strip()]


def trim(text: str) -> str | None:
    """Return the leading whole sentences that fit, or ``None`` if not even the first one does.

    A sentence is never cut: "Ana eats nuts except peanuts" without its end would say something else.

    >>> trim("Ana likes tea. Ana likes milk. Ana likes bread.")
    'Ana likes tea. Ana likes milk.'
    """
    for count in range(MAX_SENTENCES, 0, -1):
        kept = " ".join(sentences_of(text)[:count])
        if len(kept) <= MAX_CHARACTERS:
            return kept or None
    return None


def _statement_faults(text: str, sentences: Sequence[str], *, english: bool) -> Iterator[str]:
    if _EXCLAIMS.search(text) or _STANCE.search(text):
        yield "writing:not_neutral"
    if text.rstrip().endswith("?") or _OPEN_END.search(text):
        yield "writing:not_a_sentence"
    if not english:
        return
    if any(not _is_complete(sentence) for sentence in sentences[:MAX_SENTENCES]):
        yield "writing:not_a_sentence"
    if _RELATIVE.search(text):
        yield "writing:not_self_contained"
    for sentence in sentences:
        sentence_words = _WORD.findall(sentence.replace("’", "'"))
        if _POINTS_AT.match(sentence) or any(_is_word(word, _THEIRS) for word in sentence_words):
            yield "writing:pronoun"
        before = ["", *sentence_words]
        if any(_is_word(word, _OURS) and before[at].lower() not in _NUMBERED for at, word in enumerate(sentence_words)):
            yield "writing:not_third_person"


def _is_word(word: str, listed: frozenset[str]) -> bool:
    """Return whether a word is on the list, and not an abbreviation spelled like it: IT, US."""
    return word.lower() in listed and (len(word) == 1 or not word.isupper())


def _is_complete(sentence: str) -> bool:
    words = _tagged(sentence)
    if not words:
        return False
    after = words[1].tag if len(words) > 1 else ""
    if words[0].tag in _NO_SUBJECT and after not in FINITE:
        return False
    return any(word.tag in FINITE for word in words)


def _episode_faults(sentences: Sequence[str]) -> Iterator[str]:
    for sentence in sentences:
        tags = [word.tag for word in _tagged(sentence) if word.tag in FINITE or word.tag == "VVN"]
        if not tags or tags[0] not in _PAST:
            yield "writing:not_past_tense"
        frames = read_statement(sentence)
        if any(f.tense is Tense.NOW and f.change is ChangeMark.NONE and f.single for f in frames):
            yield "writing:stable_fact"


def _tagged(sentence: str) -> list[Word]:
    return tag_english(sentence.strip(" .!?…\"'"))
