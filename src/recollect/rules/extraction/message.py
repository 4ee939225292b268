"""From a message to the sentences in which its writer speaks for themselves.

What is somebody else's, made up or only material is taken out first: code, logs, quotations, drafts, texts to be
translated, role play, jokes. Quoted words are replaced by a mark of one character, so that no rule reads a statement
in them, while a title can still be a value ("my favourite film is 'Alien'").
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.word_lists import any_of, word_set
from recollect.rules.statements.clause import asks_to_keep_that

_STRAIGHT = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "\u00a0": " ", "\u200b": None}
)
_FIRST_MARK, _LAST_MARK = 0xE000, 0xF8FF
_MARK = lazy_pattern(f"[{chr(_FIRST_MARK)}-{chr(_LAST_MARK)}]")
_FENCED = lazy_pattern(r"(?s)```.*?(?:```|\Z)")
# Possessive, and stopped by the next quotation mark: each character is looked at a fixed number of times.
_QUOTED = lazy_pattern(r"""`[^`\n]++`|"[^"\n]*+(?:"|$)|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w))*+'(?!\w)""", re.M)
_DRAFT = lazy_pattern(
    r"^\W{0,3}(?:subject ?:|dear [\w. ]{1,40},|to whom it may concern"
    r"|(?:best|kind|warm)? ?regards,?\s*$|sincerely,?\s*$|yours (?:truly|faithfully|sincerely))",
    re.I | re.M,
)
_TAKEN_BACK = lazy_pattern(
    r"\b(?:just kidding|just joking|jk|i'm joking|i'm kidding|only joking|sarcasm)\b|(?<!\S)/s\b|♪|♫", re.I
)
_JOKING = lazy_pattern(r"\b(?:lol|lmao|rofl|haha(?:ha)*|hehe|yeah right|not!)(?!\w)|[😂🤣🙄😜🤪😏🙃]", re.I)
_LAUGHS = tuple("kidding joking jk sarcasm /s ♪ ♫ lol lmao rofl haha hehe right not!".split())
"""A message with none of these, and none but ASCII characters, has no joke that the patterns above could find."""
_CODE_SIGN = lazy_pattern(r"[{};]\s*$|\w\(|==|=>|&&|\|\||</\w|\w = \S")
_CODE_CHARACTERS = frozenset("({};=&|<")
_CODE_LINE = lazy_pattern(
    r"\s*(?:>|\$ |#|//|/\*|\*/|<\w|at \w+\.|import |from \w+ import |def |class \w+[:(]|return\b"
    r"|(?:const|let|var) \w+ ?=|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d)"
)
_LOG_WORD = lazy_pattern(r"\b(?:INFO|DEBUG|ERROR|WARN|WARNING|Traceback)\b")
_BULLET = lazy_pattern(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_WORK_ON = (
    "translate|proofread|correct|rewrite|rephrase|reword|paraphrase|summari[sz]e|improve|edit|polish|fix|review|check"
    "|analy[sz]e|continue|complete|finish|write|draft|generate|compose|create|parse|format|convert|spell-?check"
    "|classify|extract|explain|read|critique|grade|evaluate|shorten|expand|interpret|respond to|reply to|answer"
)
_MATERIAL = lazy_pattern(
    rf"(?:(?:please|can you|could you|now|help me|and|then) )*(?:{_WORK_ON})\b[^:]{{0,120}}:", re.I
)
_QUOTES = lazy_pattern(
    r"[^:]{0,80}\b(?:said|told \w+|wrote|says|asked|replied|answered|goes|reads|sings|texted|lyrics|caption|prompt|example)\b"
    r"[^:]{0,20}:",
    re.I,
)
_QUOTES_SOMEBODY = lazy_pattern(
    rf"\b(?:said|says|wrote|writes|replied|answered|asked|texted|goes|told \w+),? ?[{chr(_FIRST_MARK)}-{chr(_LAST_MARK)}]",
    re.I,
)
_HANDS_OVER = lazy_pattern(
    r"\b(?:here(?:'s| is| are)\b.{0,80}|(?:following|this|my|the) (?:text|paragraph|essay|draft|letter|email|e-mail|bio"
    r"|cover letter|statement|story|poem|lyrics|message|sentences?|dialogue|conversation|transcript|log|post)):?\s*$",
    re.I,
)
_MAKES_BELIEVE = lazy_pattern(
    r"^you are (?:an?|the) |^(?:now )?(?:act|answer|behave|speak) (?:as|like) |^say i(?: am|'m)\b"
    r"|\b(?:pretend(?:ing)?|imagine|suppose|assume|assuming) (?:that )?(?:i|i'm|i've|my|you|you're|we|we're)\b"
    r"|\b(?:role-?play(?:ing)?|let's (?:say|pretend|imagine|assume|suppose)|hypothetically|for the sake of argument"
    r"|my character|in this (?:story|scenario|game|world)|play the (?:role|part))\b"
    r"|\b(?:story|tale|poem|song|joke|scene|novel|play|script|sketch|sonnet|limerick|dialogue) (?:in which|where|about how) "
    r"(?:i|i'm|i've|my|we|we're|our)\b",
    re.I,
)
_MAKES_BELIEVE_WITH = word_set(
    """pretend pretending imagine suppose assume assuming roleplay role-play roleplaying role-playing let's
    hypothetically sake character story scenario game world role part act answer behave speak say are
    tale poem song joke scene novel play script sketch sonnet limerick dialogue"""
)
_SARCASTIC = lazy_pattern(
    r"(?:oh,? )?(?:sure|right|yeah),? (?:right|sure|because|like|as if|and i(?:'m| am))\b|oh,? (?:sure|right|yeah|joy)\b|as if\b",
    re.I,
)
"""How a sentence begins whose writer means the opposite."""
_REQUEST = lazy_pattern(
    r"\b(?:remember|note|forget|mind|memory|project|self|context|record|correction|decision)\b", re.I
)
_AFTER_AN_ORDINAL = word_set(
    """Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Stock Etage Klasse Quartal
    Semester Geburtstag Jahrhundert Platz Runde Woche Lebensjahr Schwangerschaftswoche Advent Hochzeitstag"""
)
"""What a German ordinal counts: "am 3. Mai" is no end of a sentence."""
SENTENCE_END = lazy_pattern(
    r"(?<=[.!?…])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|vs|Jr|Sr|Nr|ca)\.)(?<!\b(?:Mrs|e\.g|i\.e|z\.B|d\.h|etc|Inc|Ltd|bzw)\.)"
    rf"(?!(?<=\d\.)\s+(?:[a-zäöü]|(?:{any_of(_AFTER_AN_ORDINAL)})\b))"
    r"[\"')]*\s+(?![😂🤣🙄😜🤪😏🙃])"
)
_SPOKEN_OF = word_set(
    """i im i'm i've i'd i'll my me mine we we're we've we'll our decision decided remember note forget mind memory
    memorize memorise meant it's team hi hello hey actually correction sorry oops scratch wait"""
)
"""A sentence with none of these words says nothing that a rule could read."""
_WORD = lazy_pattern(r"[^\W_]+(?:['-][^\W_]+)*")


class Sentence(NamedTuple):
    """One sentence of the message, quotations replaced by marks, and what the marks stand for."""

    text: str
    quotes: tuple[str, ...]

    def spoken(self, text: str) -> str:
        """Return a part of the sentence with its quotations as they were, without their quotation marks."""
        return _MARK.sub(lambda mark: self._quotation(mark).strip("`\"'"), text)

    @property
    def original(self) -> str:
        """The sentence as it was written."""
        return _MARK.sub(self._quotation, self.text)

    def _quotation(self, mark: re.Match[str]) -> str:
        return self.quotes[ord(mark[0]) - _FIRST_MARK]


def own_sentences(message: str) -> list[Sentence]:
    """Return the sentences that may state something about the person who wrote the message."""
    text = _straighten_quotes(message)
    if _SPOKEN_OF.isdisjoint(_WORD.findall(text.lower())):
        return []
    return [s for s in _find_own(text) if not _SPOKEN_OF.isdisjoint(_WORD.findall(s.text.lower()))]


def plain_sentences(message: str) -> list[str]:
    """Return every sentence in which the writer speaks for themselves, about whatever it may be, as it was written.

    One that laughs is among them: "My rent went up again lol" is meant.
    """
    own = _find_own(_straighten_quotes(message), laughing=True)
    return [s.original for s in own if _WORD.search(_MARK.sub(" ", s.text)) and not _QUOTES_SOMEBODY.search(s.text)]


def unread_sentences(message: str) -> list[str]:
    """Return every sentence of a message, whoever speaks in it, with what is quoted taken out."""
    text, _ = _mask_quotations(_straighten_quotes(message))
    return [part for line in _MARK.sub("", text).splitlines() for part in SENTENCE_END.split(line.strip()) if part]


def _straighten_quotes(message: str) -> str:
    return _MARK.sub(" ", message.translate(_STRAIGHT))


def _find_own(text: str, *, laughing: bool = False) -> list[Sentence]:
    lowered = text.lower()
    jokes = not text.isascii() or any(sign in lowered for sign in _LAUGHS)
    if _DRAFT.search(text) or (jokes and _TAKEN_BACK.search(text)):
        return []
    words = frozenset(_WORD.findall(lowered))
    text, quotes = _mask_quotations(_FENCED.sub("\n", text))
    own = list(_own_sentences(text, may_make_believe=not _MAKES_BELIEVE_WITH.isdisjoint(words)))
    return [Sentence(part, quotes) for part in (_drop_jokes(own) if jokes and not laughing else own)]


def _drop_jokes(parts: list[str]) -> list[str]:
    """Leave out a sentence that laughs; one that only laughs takes the one before it along."""
    kept: list[str] = []
    for part in parts:
        if not _JOKING.search(part):
            kept.append(part)
        elif kept and not _JOKING.sub("", part).strip(" .!,"):
            kept.pop()
    return kept


def _mask_quotations(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with a mark for each quotation, and the quotations; where marks run out, a quotation is left out."""
    quotes: list[str] = []

    def mark(quoted: re.Match[str]) -> str:
        if _FIRST_MARK + len(quotes) > _LAST_MARK:
            return " "
        quotes.append(quoted[0])
        return chr(_FIRST_MARK + len(quotes) - 1)

    return _QUOTED.sub(mark, text), tuple(quotes)


def _own_sentences(text: str, may_make_believe: bool) -> Iterator[str]:
    """Yield every sentence up to where the message hands over material, or begins to make believe."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip() or _is_code(line):
            continue
        bullet = _BULLET.match(line)
        for part in SENTENCE_END.split(line[bullet.end() :] if bullet else line):
            sentence = " ".join(part.split())
            is_material = ":" in sentence and (_MATERIAL.match(sentence) or _QUOTES.match(sentence))
            if is_material or (may_make_believe and _MAKES_BELIEVE.search(sentence)):
                return
            if not _SARCASTIC.match(sentence):
                yield from _without_request(sentence)
        if number < len(lines) and _hands_over(line):
            return


_PAUSE = lazy_pattern(r"(?:[,;]| [-–—]) (?=[^,;–—]+$)")


def _without_request(sentence: str) -> Iterator[str]:
    """Yield a sentence; a request to keep it that ends it is one of its own: "We ship on Friday, note that for the team"."""
    pause = _PAUSE.search(sentence)
    if pause is None or asks_to_keep_that(sentence[pause.end() :]) is None:
        yield sentence
    else:
        yield from (sentence[: pause.start()], sentence[pause.end() :])


def _is_code(line: str) -> bool:
    if _CODE_LINE.match(line) or _LOG_WORD.search(line):
        return True
    return not _CODE_CHARACTERS.isdisjoint(line) and _CODE_SIGN.search(line) is not None


def _hands_over(line: str) -> bool:
    """Return whether what stands on the next lines is not the writer's own: "Proofread this:"."""
    if line.rstrip().endswith(":"):
        return not _REQUEST.search(line)
    return _HANDS_OVER.search(line) is not None
