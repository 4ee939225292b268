"""How long a statement holds: read from plain words ("since 2019", "until March"), and compared with a time.

Only words that plainly bound the whole statement are read: a text of one sentence, a time next to a word such as "since" or
"until", and nothing that makes it an instruction, a count-down or part of a name ("the report from 2019"). A dated change
("moved to Porto in 2020") holds from then on. When in doubt nothing is set, since an open side is always true. The times
themselves are found by `named_times` and read by `stretches`.

Both sides mean the beginning of the time that is named: "since 2019" is from 1 January 2019 on, and "until March" is over when
March begins. "Through March", "until the end of March" and "between 2015 and 2018" include it.
"""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from recollect.model.record import ENTRY_ORIGIN
from recollect.model.vocabulary import KIND_CLASS, KindClass, Source
from recollect.rules.gates.draft import Context, Draft
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.statements import ChangeMark, Tense, read_statement
from recollect.rules.time.named_times import AMOUNT, Named, named_times
from recollect.rules.time.stretches import Span, move, read_amount, read_coming_time, read_time
from recollect.rules.time.times import is_range, read_range

MAX_CHARACTERS = 400
"""Longer texts say more than one thing, and no single word in them bounds them all."""
MAX_TIMES = 3
_DAY = timedelta(days=1)


class Validity(NamedTuple):
    """From ``start`` up to, and not including, ``end``; ``None`` leaves that side open. ``words`` say so."""

    start: datetime | None = None
    end: datetime | None = None
    words: str = ""


def validity_gate(draft: Draft, context: Context) -> Draft:
    """Set when a memory holds: as the caller states, else as its words say. Events and questions hold for no stretch."""
    candidate = draft.candidate
    stated = {name for name in ("valid_from", "valid_until") if name in candidate.model_fields_set}
    if stated:
        draft = draft.decide("validity:as_given", valid_from=candidate.valid_from, valid_until=candidate.valid_until)
    if len(stated) == 2 or context.promoting or KIND_CLASS[candidate.kind] is KindClass.EVENT:
        return draft
    from_elsewhere = not {"imported_from", ENTRY_ORIGIN}.isdisjoint(candidate.meta)  # and so from another time than now
    dated_only = candidate.source is Source.IMPORT or from_elsewhere
    read = read_validity(candidate.content, context.now, dated_only=dated_only)
    start = candidate.valid_from if "valid_from" in stated else read.start
    end = candidate.valid_until if "valid_until" in stated else read.end
    if (start, end) == (draft.valid_from, draft.valid_until) or (start and end and end <= start):
        return draft
    statement = strip_validity(read.words, candidate.content) if read.words else None
    return draft.decide("validity:read", read.words, valid_from=start, valid_until=end, statement=statement)


def read_validity(text: str, now: datetime, *, dated_only: bool = False) -> Validity:
    """Read from when until when a statement says that it holds, seen from ``now``.

    With ``dated_only``, only times that name their year are read: a text from elsewhere was not written now.

    >>> from datetime import UTC
    >>> now = datetime(2026, 5, 20, tzinfo=UTC)
    >>> read = read_validity("Ana lived in Rome until 2021", now)
    >>> read.start, str(read.end.date()), read.words
    (None, '2021-01-01', 'until 2021')
    >>> read_validity("Since we relocated, mornings are quiet", now)
    Validity(start=None, end=None, words='')
    """
    sentence = " ".join(text.replace("’", "'").split())
    if len(sentence) > MAX_CHARACTERS or not _CUE.search(sentence) or _SEVERAL_SENTENCES.search(sentence):
        return Validity()
    if sentence.endswith("?") or _INSTRUCTS.match(sentence):
        return Validity()
    if (years := _YEARS.search(sentence)) and _PAST_STATE.search(sentence[: years.start()]):
        span = Span(*(datetime(int(year), 1, 1, tzinfo=now.tzinfo) for year in (years[1], int(years[2]) + 1)))
        return Validity(*span, words=years[0]) if span.start < span.end else Validity()
    named = list(islice(named_times(sentence), MAX_TIMES))
    if dated_only:
        named = [one for one in named if any(name.kind in _DATED for name in one.names)]
    found = [one for one in _read_validity(sentence, named, now) if one is not None]
    return _combine(found)


def strip_validity(words: str, text: str) -> str:
    """Return a text without the words that say how long it holds.

    >>> strip_validity("Since 2019", "Since 2019, Ana lives in Porto")
    'Ana lives in Porto'
    >>> strip_validity("since 2019", "Ana lives in Porto since 2019.")
    'Ana lives in Porto.'
    """
    before, _, after = " ".join(text.replace("’", "'").split()).partition(words)
    rest = f"{before.rstrip(' ,')} {after.lstrip(' ,')}".strip()
    return re.sub(r" (?=[.!])", "", rest)


_CUE = lazy_pattern(
    r"\b(?:since|until|till|through|from|as of|as from|starting|beginning|effective|between|before"
    r"|in|on|during|throughout|last|ago|next|coming|tomorrow|(?:19|20)\d\d ?[-–]"
    r"|stopped|quit|ended|gave up|retired)\b",
    re.IGNORECASE,
)
_SEVERAL_SENTENCES = lazy_pattern(r"(?<!\b[A-Z])(?<!\b(?:Mr|Ms|Dr|St))(?<!\bMrs)[.!?;] +[\"'A-Z(]|: +[A-Z]")
_INSTRUCTS = lazy_pattern(
    r"(?:(?:please|just|so|then|and|ok|okay|hey)[, ]+)*"
    r"(?:(?:do not|don't|never|always|wait|hold|keep|stay|remind|remember|postpone|delay|defer|use|run|avoid|make|let|ask|call"
    r"|check|try|continue|pause|freeze|skip|ignore|send|put|set|write|read|book|plan|start|stop|finish|deploy|merge|ship"
    r"|release|test|give|take|tell|show|leave|block|extend|move|go|come|work|save|store|add|delete|remove)\b(?! \w+ (?:is|are)\b)"
    r"|if |when |whenever |unless )",
    re.IGNORECASE,
)
"""What opens as an instruction or a condition. "Until" then says how long to do something, not how long something is so."""
_DATED = ("year", "numeric", "decade")

_SINCE = lazy_pattern(r"\b(?:ever )?since (?:about |around )?(?:the )?$", re.IGNORECASE)
_BEFORE = lazy_pattern(r"\bbefore (?:the )?$", re.IGNORECASE)
_UNTIL = lazy_pattern(r"\b(?:up until|until|till) (?:about |around )?(?:the )?$", re.IGNORECASE)
_THROUGH = lazy_pattern(r"\b(?:up to and including|through) (?:the )?$", re.IGNORECASE)
_FROM = lazy_pattern(r"\bfrom (?:the )?$", re.IGNORECASE)
_AS_OF = lazy_pattern(
    r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!'s )"
    r"\b(?:as of|as from|with effect from|effective(?: from| as of)?|starting(?: from| in| on)?|beginning(?: in| on)?)"
    r" (?:the )?$",
    re.IGNORECASE,
)
_IN = lazy_pattern(r"\b(?:back in|in|during|throughout|on) (?:the )?$", re.IGNORECASE)
_AGO = lazy_pattern(r"(?<=\w) $|^$")
"""Nothing: "last year" and "two years ago" need no word before them."""
_FROM_DAY = lazy_pattern(
    r"\b(?:between|from) (?:the )?(\d{1,2})(?:st|nd|rd|th)? ?(?:and|to|until|till|through|[-–]) ?(?:the )?$",
    re.IGNORECASE,
)
_YEARS = lazy_pattern(r"\(?\b((?:19|20)\d\d) ?[-–] ?((?:19|20)\d\d)\b\)?(?=[.!]?$)")
"""From one year to another as people write it in short: "lived in Rome (2015–2018)"."""
_RANGE = lazy_pattern(r"\b(?:between|from) (?:the )?$", re.IGNORECASE)
_STOPPED = lazy_pattern(
    r"(?:,|;| and| but| then| until (?:he|she|they|i|we))+ (?:then |later |finally )?"
    r"(?:stopped|quit|ended|gave (?:it|that|this) up|gave up|finished|retired|left|moved (?:out|away)|broke up)"
    r"(?: (?:it|that|there|this|doing (?:so|that|it)))? (?:in|on|around)(?: the)? $",
    re.IGNORECASE,
)

_ONWARDS = lazy_pattern(r" (?:on|onwards?|forward)\b", re.IGNORECASE)
_ENDS = lazy_pattern(
    r" ?(?:$|[,.;:!)\]–—-]|(?:and|but|or|when|before|as|because|due|in|at|for|with|on|onwards?|by|to|until|till|through|while"
    r"|where|now|already|there|here|only|at least|after)\b)",
    re.IGNORECASE,
)
"""What may follow a time that bounds what was said before it. "Since 2019 was a good year" goes on otherwise."""
_SUBJECT = lazy_pattern(
    r",? (?:i|we|you|he|she|it|they|the|an?|my|our|your|his|her|its|their|this|these|there|no|all|every|[A-Z][\w'-]*)\b(?!')"
)
"""What may follow a time that opens the sentence: whoever it is about."""
_OTHER_CLAUSE = lazy_pattern(
    r"\b(?:who|whom|whose|which|that|because|while|when|whenever|if|although|though|unless|whether|where|why|how|said|says"
    r"|thinks?|thought|knows?|knew|hopes?|remembers?)\b"
)
_ALSO = lazy_pattern(
    r"\b(?:and|but|or) (?:(?:i|we|he|she|it|they|[A-Z]\w+) )?(?:also |now |then )?"
    r"(?:is|are|was|were|has|have|had|will|does|do|lives?|works?|likes?|\w{3,}ed)\b",
    re.IGNORECASE,
)
"""Before a time, it may bound another statement than the one that is made; after it, there is a second statement."""
_AND_STILL = lazy_pattern(r",? and (?:(?:is|are|am|has|have) )?still\b[^,;]*$", re.IGNORECASE)
"""What says once more that it holds: "joined Acme in 2021 and still works there"."""
_TWO_SUBJECTS = lazy_pattern(
    r"^(?:my |our |the )?[\w'-]+ and (?:my |our |the )?[\w'-]+ (?=(?:have|are|were|had|live|lived|work|worked)\b)",
    re.IGNORECASE,
)
"""Two of whom one thing is said: "Ana and Ben have lived …"."""
_NO_BOUND = lazy_pattern(
    r"\b(?:not|never|cannot|n't|wait\w*|hold off|holding off|delay\w*|postpon\w+|deferr?\w*|push\w* back|remind\w*|due|deadline"
    r"|days?|weeks?|months?|hours?|countdown|every|each|usually|annually|always)\b|n't\b",
    re.IGNORECASE,
)
"""Before "until": a wait, a count-down, what comes back every year, and "not until", which says when it began."""
_WENT = lazy_pattern(
    r"\b(?:chang\w+|mov\w+|renam\w+|updat\w+|postpon\w+|shift\w+|reschedul\w+|push\w+|extend\w+|went|grew|rose|fell|increas\w+"
    r"|decreas\w+|migrat\w+|upgrad\w+|switch\w+|convert\w+|drop\w+|jump\w+|compar\w+|difference|gap|distance|choose|somewhere)\b",
    re.IGNORECASE,
)
"""A range that something went through, and did not last."""
_A_THING = lazy_pattern(
    r"(?<=\w )(?:the|an?|this|that|these|those|my|our|your|his|her|its|their|some|any) (?:[\w'-]+ ){0,3}$"
    r"|\b(?:reports?|letters?|e-?mails?|mails?|photos?|pictures?|data|numbers|figures|albums?|songs?|movies?|films?|books?|notes"
    r"|minutes|invoices?|drafts?|laws?|papers?|articles?|results|models?|messages?|wines?|quotes?|orders?|backups?|logs?|back"
    r"|home|date|dates|dating|far|apart|is|are|was|were) $",
    re.IGNORECASE,
)
"""Before "from": what a year may belong to ("the report from 2019"), unless it is whom the whole statement is about."""
_THINGS = lazy_pattern(
    r"\b(?:the|an?|these|those|my|our|your|his|her|its|their|some|any|all|old) (?:[a-z'-]+ ){0,2}[a-z]+[^\Ws]s $"
    r"|\b(?:data|back|is|are|was|were) $"
)
"""Before a range: several things that may be of those years ("the receipts from 2015 to 2018")."""
_YEARLY = lazy_pattern(
    r"\b(?:open|closed|opens?|closes?|seasons?|available|every|each|usually|always|often|yearly)\b", re.I
)
"""What may come back every year, if no year is named."""
_PAST_STATE = lazy_pattern(
    r"\b(?:(?:was|were)(?: (?:still|once|also|already|only|briefly|then))? (?!in\b|on\b|at the time\b|born\b|built\b|made\b"
    r"|sold\b|bought\b|written\b|given\b|taken\b|won\b|lost\b|found\b|held\b|hit\b|cut\b|put\b|set\b|sent\b|shot\b|known\b|\w{3,}ed\b)\w"
    r"|used to\b|lived\b|worked\b|studied\b|stayed\b|taught\b|served\b|resided\b|rented\b|owned\b|led\b|ran\b)",
    re.IGNORECASE,
)
"""What was so for a while. "Was founded", "was born" and "the meeting was in March" are events."""
_PAST = lazy_pattern(
    r"\b(?<!is )(?<!are )(?<!am )"
    r"(?:was|were|used to|had|did|been|lived|\w{3,}ed|ran|kept|taught|led|spent|held|wore|drove|ate|drank|spoke|wrote|sold|went"
    r"|took|came|knew|slept|sang|swam|rode|felt|left|met|paid|got|made|grew|built|bought)\b",
    re.IGNORECASE,
)
_FOR = lazy_pattern(rf"\bfor (?:about |around |over |almost |nearly |exactly )?({AMOUNT})\b", re.IGNORECASE)


def _read_validity(text: str, named: Sequence[Named], now: datetime) -> list[Validity | None]:
    found: list[Validity | None] = []
    left = list(named)
    while left:
        one = left.pop(0)
        said = _RANGE.search(text[: one.start])
        if left and said and is_range(text, one, text[one.end : left[0].start]):
            found.append(_read_between(text, said, one, left.pop(0), now))
        else:
            found.append(_read_single(text, one, now))
    return found


def _combine(found: Sequence[Validity]) -> Validity:
    """One beginning and one end make one validity; two of either say more than one thing."""
    starts = [one for one in found if one.start is not None]
    ends = [one for one in found if one.end is not None]
    if not found or len(starts) > 1 or len(ends) > 1:
        return Validity()
    start = starts[0].start if starts else None
    end = ends[0].end if ends else None
    if start is not None and end is not None and end <= start:
        return Validity()
    return Validity(start, end, ", ".join(one.words for one in found))


def _read_between(text: str, said: re.Match[str], first: Named, last: Named, now: datetime) -> Validity | None:
    """Read "between 2015 and 2018". Without a year it may come back: "open from May to September"."""
    head = text[: said.start()]
    dated = any(name.kind in _DATED for one in (first, last) for name in one.names)
    if not dated and ((first.kind, last.kind) != ("date", "date") or _YEARLY.search(head)):
        return None
    thing = _THINGS if _PAST.search(head) else _A_THING
    if _WENT.search(head) or _is_other_statement(head) or (said[0].lower()[0] == "f" and thing.search(head)):
        return None
    if not _bounds(text, last, opens=not head):
        return None
    span = read_range(first, last, now) if dated else _read_coming_range(first, last, now)
    return Validity(span.start, span.end, text[said.start() : last.end]) if span else None


def _read_coming_range(first: Named, last: Named, now: datetime) -> Span | None:
    """From one day to another, without a year: of the nearest year."""
    start = (_begin_at_nearest(first, now) or Validity()).start
    end = _read(last, start, coming=True) if start else None
    return Span(start, end.end) if start and end else None


def _read_single(text: str, named: Named, now: datetime) -> Validity | None:
    before = text[: named.start]
    for words, meaning in _MEANINGS:
        if said := words.search(before):
            head = before[: said.start()]
            if _is_other_statement(head) or not _bounds(text, named, opens=not head.strip()):
                return None
            read = meaning(text, head, named, now)
            return read._replace(words=text[said.start() : named.end].strip(" ,;")) if read else None
    return None


def _is_other_statement(head: str) -> bool:
    return bool(_OTHER_CLAUSE.search(head) or _ALSO.search(_TWO_SUBJECTS.sub("They ", head)))


def _bounds(text: str, named: Named, *, opens: bool) -> bool:
    """Whether a time stands where it bounds the statement: at its end, or in front of whoever it is about."""
    after = _AND_STILL.sub("", text[named.end :])
    if _ALSO.search(after):
        return False
    return bool(_ENDS.match(after) or (opens and _SUBJECT.match(after)))


def _read_since(_: str, head: str, named: Named, now: datetime) -> Validity | None:
    span = read_time(named, now)
    return Validity(span.start) if span and span.start <= now else None


def _read_until(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """Until a month or a day without a year: the next one, or the last one of what was so."""
    if _NO_BOUND.search(head):
        return None
    span = _read(named, now, coming=not _PAST.search(head + text[named.end :]))
    if span is None:
        return None
    end = span.end if named.names[-1].part.startswith("end") else span.start
    return Validity(_count_back(head, end), end)


def _read_before(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """Before 2020, of something that was so."""
    return _read_until(text, head, named, now) if _PAST_STATE.search(text) else None


def _read_through(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """Through March includes it; "went through 2020" does not bound anything."""
    if _NO_BOUND.search(head) or re.search(r"\b(?:went|go|goes|gone|going|got|get|live[ds]?) $", head, re.IGNORECASE):
        return None
    span = _read(named, now, coming=not _PAST.search(head))
    return Validity(None, span.end) if span else None


def _read_from(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    on = bool(_ONWARDS.match(text, named.end))
    if not on and (_A_THING.search(head) or _PAST.search(head) or _WENT.search(head)):
        return None
    return _begin_at_nearest(named, now)


def _read_as_of(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """ "As of June 1 there were 500" tells how it was at one moment."""
    return None if _PAST.search(text) else _begin_at_nearest(named, now)


def _read_in(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """In 2012, of something that was so; or of a change, which holds from then on."""
    stretch = named.kind in ("year", "decade", "season", "month", "quarter")
    if not stretch or not (_PAST_STATE.search(text) or _is_past_state(head)):
        return _read_change(text, head, named, now)
    span = read_time(named, now)
    return Validity(span.start, span.end) if span and span.start <= now else None


def _is_past_state(head: str) -> bool:
    """Whether the reader reads a past state: "cost 4 euros", and no event such as "visited Rome"."""
    frame = next(iter(read_statement(head.strip(" ,"))), None)
    return frame is not None and frame.tense is Tense.PAST and frame.rule != "event"


def _read_change(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """What something became: "moved to Porto in 2020", "the rent was raised to 950 last May". It holds from then on."""
    return _read_dated_change(text, head, named, now, ChangeMark.START, ChangeMark.CHANGE)


_IS_TO_COME = re.compile(
    r"\b(?:start|begin|move|relocate|join|leave|switch|transfer|retire|change|become)s?\b"
    r"|(?:\bwill|'ll|\bgoing to) (?!not\b|never\b)\w"
    r"|(?:'m|'s|'re|\b(?:am|is|are)) (?:(?:also|now|finally|just|officially) )?"
    r"(?:starting|beginning|moving|relocating|joining|leaving|switching|transferring|retiring|changing|becoming)\b",
    re.I,
)
"""How a change is told that is still to come: "I start at Bosch on Monday" was not said of last Monday."""


_WILL_CHANGE = re.compile(
    r"(?:\bwill|'ll|\bgoing to) (?:also |finally |all )?"
    r"(?:switch|move|migrate|change|upgrade|downgrade|convert|transfer|relocate|swap|replace|rename)\b",
    re.I,
)
"""A change of whatever it may be: "we'll switch the admin panel to Svelte in the summer"."""


def announces(text: str) -> bool:
    """Return whether a statement tells a change as one to come: what it names does not hold yet.

    >>> [announces(said) for said in ("We move to Bristol in June", "I'm moving to Bristol", "I moved to Bristol in June")]
    [True, True, False]
    """
    if not _IS_TO_COME.search(text):
        return False
    frame = next(iter(read_statement(text)), None)
    return frame is not None and frame.change in (ChangeMark.START, ChangeMark.CHANGE, ChangeMark.STOP)


def _read_dated_change(text: str, head: str, named: Named, now: datetime, *changes: ChangeMark) -> Validity | None:
    """The beginning of a time, if the statement around it announces one of some changes.

    Of a change that is still to come, that is the next such time; of another one, the last.
    """
    after = _AND_STILL.sub("", text[named.end :]).strip(" ,.!")
    if head.strip() and after:
        return None
    said = head.strip(" ,") or after
    to_come = _IS_TO_COME.search(said) is not None
    span = _read(named, now, coming=True) if to_come else read_time(named, now)
    if span is None or (span.start > now) is not to_come:
        return None
    if to_come and ChangeMark.CHANGE in changes and _WILL_CHANGE.search(said):
        return Validity(span.start)
    frame = next(iter(read_statement(said)), None)
    if frame is None or frame.change not in changes:
        return None
    return Validity(span.start) if frame.tense is Tense.NOW or (to_come and frame.tense is Tense.UNSURE) else None


def read_end(text: str, now: datetime) -> datetime | None:
    """Return when something ended, as a statement says that tells its end: "quit smoking in 2019".

    The statement itself is no less true before, so this closes what it replaces and is not its own validity.
    """
    sentence = " ".join(text.replace("’", "'").split())
    if len(sentence) > MAX_CHARACTERS or not _CUE.search(sentence):
        return None
    named = list(islice(named_times(sentence), 2))
    said = len(named) == 1 and (_IN.search(sentence[: named[0].start]) or _AGO.search(sentence[: named[0].start]))
    if not said:
        return None
    read = _read_dated_change(sentence, sentence[: said.start()], named[0], now, ChangeMark.STOP)
    return read.start if read else None


def _read_day_range(text: str, head: str, named: Named, now: datetime) -> Validity | None:
    """From 3 to 9 July: the month is said once."""
    said = _FROM_DAY.search(text[: named.start])
    span = _begin_at_nearest(named, now) if named.kind == "date" else None
    if said is None or span is None or span.start is None or (named.bare and _YEARLY.search(head)):
        return None
    day = int(said[1])
    return Validity(span.start.replace(day=day), span.start + _DAY) if 0 < day < span.start.day else None


def _read_stop(_: str, head: str, named: Named, now: datetime) -> Validity | None:
    """What was so, and stopped: "was vegetarian for ten years, stopped in 2024"."""
    if not _PAST.search(head):
        return None
    span = read_time(named, now)
    return Validity(_count_back(head, span.start), span.start) if span else None


_MEANINGS = (
    (_FROM_DAY, _read_day_range),
    (_STOPPED, _read_stop),
    (_SINCE, _read_since),
    (_UNTIL, _read_until),
    (_BEFORE, _read_before),
    (_THROUGH, _read_through),
    (_AS_OF, _read_as_of),
    (_FROM, _read_from),
    (_IN, _read_in),
    (_AGO, _read_change),
)


def _count_back(head: str, end: datetime) -> datetime | None:
    """For ten years until a time: the beginning is counted back from it."""
    lasted = _FOR.search(head)
    return move(end, *read_amount(lasted[1]), back=True) if lasted else None


def _begin_at_nearest(named: Named, now: datetime) -> Validity | None:
    """From the first of June: the nearest one, since both the last and the next may be meant."""
    last, coming = _read(named, now, coming=False), _read(named, now, coming=True)
    spans = [span for span in (last, coming) if span is not None]
    return Validity(min(spans, key=lambda span: abs(span.start - now)).start) if spans else None


def _read(named: Named, now: datetime, *, coming: bool) -> Span | None:
    """The stretch that is named; of what comes back every week, month or year the next one, if it is the ``coming`` one."""
    return read_coming_time(named, now) if coming else read_time(named, now)
