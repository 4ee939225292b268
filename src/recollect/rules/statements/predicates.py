"""Frames by the predicate table: "lives in", "works at", "costs", "closes at"."""

import re
from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import (
    PERIOD_ADJECTIVES,
    SEVERAL,
    Context,
    build,
    choice_of,
    describe,
    fits,
    names_the_only_one,
)
from recollect.rules.statements.frame import ANY, ChangeMark, Frame, Tense, ValueKind, normal_text
from recollect.rules.statements.phrases import (
    MONTHS,
    PERIODS,
    SEASONS,
    Form,
    NounPhrase,
    Tail,
    canonical,
    content,
    noun_phrase,
    split_tail,
    text_of,
)
from recollect.rules.statements.tables import COUNTRIES, Phrase, is_place
from recollect.rules.statements.tagger import Word, index_of

_SKIPPED = frozenset(("AT0", "AV0", "DPS"))
_ARRANGED = frozenset(("venue", "due", "launch", "release"))
_TIMED = frozenset(("time", "due", "end", "opens", "departs", "arrives", "launch", "wake", "bedtime"))
_FAITH = re.compile(r"^(?:[A-Z]\w*(?:ism|ity)|Islam|Shinto|Santería|Bahá'í)$")
"""Names of religions: who follows "Ana" or practises law has no other religion."""
_OWNED_THINGS = frozenset(("own", "use", "member", "subscription", "do", "consume", "take", "like"))


def read_predicate(context: Context) -> list[Frame]:
    """The frames of the first table phrase that a clause has and whose value fits."""
    for phrase, left in _find_phrases(context):
        if frames := _read_phrase(context, phrase, left):
            return frames
    return []


def _find_phrases(context: Context) -> list[tuple[Phrase, list[Word]]]:
    """The table's phrases that the clause has, longest first, with the words that are left for the value."""
    by_head = tables.predicates().by_head
    phrases = [(phrase, used) for head, used in _table_heads(context) for phrase in by_head.get(head, ())]
    found = [(phrase, _words_after(phrase.words[used:], context.rest)) for phrase, used in phrases]
    matching = [(phrase, left) for phrase, left in found if left is not None]
    return sorted(matching, key=lambda match: -len(match[0].words))


def _table_heads(context: Context) -> list[tuple[str, int]]:
    """The first words under which a clause's phrases stand in the table, and how many words that is."""
    verb = context.verb
    if verb.passive:
        return [(f"be {verb.surface}", 2)]
    if verb.copula:
        following = next((w for w in context.rest if w.tag not in _SKIPPED), None)
        heads = {f"be {canonical(following)}", f"be {following.lower}"} if following else set()
        if context.rest and context.rest[0].lower in ("now", "down", "up", "over", "off"):
            heads.add(f"be {context.rest[0].lower}")
        return [(head, 1) for head in sorted(heads)]
    progressive = [(f"be {verb.surface}", 2), (f"be {verb.lemma}", 2)] if verb.progressive else []
    return [(verb.lemma, 1), *progressive]


def _words_after(needed: tuple[str, ...], rest: list[Word]) -> list[Word] | None:
    """What follows the words of a phrase; None if they are not there. Articles and adverbs may stand between."""
    at = 0
    for word in needed:
        while at < len(rest) and rest[at].tag in _SKIPPED and word not in (canonical(rest[at]), rest[at].lower):
            at += 1
        if at >= len(rest) or word not in (canonical(rest[at]), rest[at].lower, rest[at].lemma):
            return None
        at += 1
    return rest[at:]


def _read_phrase(context: Context, phrase: Phrase, left: list[Word]) -> list[Frame]:
    predicate, verb, mode = phrase.predicate, context.verb, phrase.mode
    if verb.particle and verb.particle not in phrase.words and verb.particle != "back":
        return []
    old_value = ""
    if phrase.words[-1] == "from" and mode == "start":
        to = index_of(left, "to")
        if to is None:
            return []
        old_value, left = text_of(split_tail(left[:to]).value), left[to + 1 :]
    if predicate.attribute == "job" and phrase.words[-1] == "to" and [w.tag for w in left[:2]] == ["VVI", "NN1"]:
        left = [Word(left[0].text, left[0].lower, "NN1"), *left[1:]]  # "promoted to shift supervisor" is no infinitive
    tail = split_tail(left)
    if predicate.attribute == "store" and tail.scope and tail.value[-1:] and tail.value[-1].tag == "NN1":
        tail = split_tail(left[: len(tail.value)])  # "the space under the stairs": where it is, told more closely
    attribute = predicate.attribute
    needs_none = mode == "stop" and attribute == "time" and not tail.times and not tail.scope
    if not (_accepts_value(context, phrase, tail) if tail.value else needs_none):
        return []
    change, negated, tense = context.change, context.negated, context.stated_tense
    if mode in ("start", "stop") or predicate.lasting:
        tense = context.tense
    if context.verb.modal in ("will", "'ll") and attribute in _ARRANGED:
        tense = Tense.NOW  # "will be held at Hotel Park" is the arrangement as it stands
    if mode in ("start", "stop") and context.verb.progressive:
        tense = Tense.UNSURE  # "is moving to Oslo next year": the old home holds until then
    if mode in ("stop", "deny"):
        if context.negated:
            return []
        change, negated = ChangeMark.STOP if mode == "stop" else change, True
    elif mode == "start" and not context.negated:
        change = ChangeMark.START
    contested = phrase.unsure and not (predicate.place and is_place(tail.text)) and not old_value
    if phrase.words == ("be", "found", "in") and tail.text.lower() in COUNTRIES:
        contested = True  # an animal is found in several countries
    several = predicate.contest and mode == "state" and not _names_the_whole(context, phrase, tail)
    frame = build(
        context, attribute, tail, f"table:{attribute}", one=predicate.single, tense=tense, change=change, negated=negated,
        contested=contested, old_value=old_value, predicate=predicate, open_to_others=several,
    )  # fmt: skip
    if _is_person(phrase, tail):
        frame = replace(frame, value_kind=ValueKind.NAME)
    if predicate.attribute in _TIMED and frame.value_kind is ValueKind.QUANTITY:
        frame = replace(frame, value_kind=ValueKind.CLOCK, value=f"{frame.value}:00")
    if attribute == "name" and context.phrase.owner and context.phrase.head:  # "X's dog is called Rex"
        return [describe(context, context.phrase, tail, "table:name", tense=frame.tense, change=frame.change)]
    if attribute == "time" and tail.value:
        return [_describe_event(context, tail, frame)]
    if phrase.words == ("quit",) and tail.form is Form.BARE:  # "quit handball" ends "plays handball" as well
        return [frame, replace(frame, attribute=ANY, rule="stop")]
    return _add_implied(context, phrase, left, tail, frame)


SECOND_JOB = frozenset("volunteer part-time freelance temporary seasonal amateur weekend occasional".split())


def _names_the_whole(context: Context, phrase: Phrase, tail: Tail) -> bool:
    """Whether a value leaves no room for another one: a place without a name, a job that is not said to be a second one, the
    time of a ride that is somebody's own."""
    if phrase.predicate.attribute in ("departs", "arrives"):
        words = context.subject_words
        return words[-1].tag != "NN2" and (words[0].tag == "DPS" or any(word.text == "'s" for word in words))
    if phrase.predicate.attribute == "job":
        second = tail.scope or not SECOND_JOB.isdisjoint(word.lower for word in tail.value)
        return phrase.words == ("work", "as") and not second
    return phrase.predicate.attribute == "store" and not tail.has_name


def _accepts_value(context: Context, phrase: Phrase, tail: Tail) -> bool:
    """Whether the value fits the phrase, beyond its kind."""
    predicate, verb, form = phrase.predicate, context.verb, tail.form
    attribute, words = predicate.attribute, phrase.words
    if attribute in _TIMED and form is Form.QUANTITY and re.fullmatch(r"\d{1,2}", tail.value[0].text):
        return len(tail.value) == 1 and words[-1] in ("at", "until", "till", "from")
    if not (fits(predicate, tail) or _is_person(phrase, tail)) or (form is Form.PREPOSITION and attribute != "status"):
        return False
    last = tail.value[-1]
    if attribute == "employer":
        return form is not Form.A and not (form is Form.THE and (last.lower in SEASONS or last.lower in PERIODS))
    if attribute == "vehicle":
        return tail.has_name
    if attribute == "own" and words == ("have",):
        return form not in (Form.VERB, Form.ADJECTIVE, Form.PRONOUN, Form.QUANTITY) and not verb.past and not verb.modal
    if attribute in ("own", "take", "do", "consume", "use") and form is Form.QUANTITY:
        return False
    if attribute in ("own", "do") and form in (Form.VERB, Form.ADJECTIVE, Form.PRONOUN):
        return False
    if attribute == "time" and phrase.mode == "start":
        return not context.is_self
    if attribute in ("runs on", "location") and context.is_self:
        return phrase.mode == "state"
    if attribute in ("home", "origin", "job", "employer", "school") and phrase.mode == "start":
        return _may_be_person(context)
    if attribute == "religion" and phrase.mode == "state":
        return bool(_FAITH.search(tail.text))
    if attribute == "pay" and words == ("make",):
        return "per" in [w.lower for w in tail.value] or "year" in tail.text or "month" in tail.text
    return True


_RELATES_PEOPLE = frozenset(("spouse", "partner", "boss"))


def _is_person(phrase: Phrase, tail: Tail) -> bool:
    """Whether a value is a person who has the name of a month: "is married to Jan", "reports to April"."""
    named = len(tail.value) == 1 and tail.value[0].lower in MONTHS and tail.value[0].text[0].isupper()
    return named and phrase.predicate.attribute in _RELATES_PEOPLE and phrase.words[-1] not in ("in", "on")


def _may_be_person(context: Context) -> bool:
    """The speaker, a name, or someone's relative: "the meeting moved to" is another predicate."""
    words = context.subject_words
    return context.is_self or words[0].is_name or words[0].tag == "DPS" or any(w.text == "'s" for w in words)


def _describe_event(context: Context, tail: Tail, frame: Frame) -> Frame:
    """ "The launch of X is on V" gives X's launch date; classes and meetings may have several times."""
    noun = tables.predicates().by_noun.get(context.phrase.head)
    if noun is not None and noun.attribute != "time" and {"clock", "date"} & noun.kinds:
        return describe(context, context.phrase, tail, frame.rule, tense=frame.tense, change=frame.change)
    *before, last = context.phrase.head.split() or [""]
    regular = bool(PERIOD_ADJECTIVES.keys() & set(before)) or names_the_only_one(before)  # "the weekly meeting"
    return replace(frame, open_to_others=last in SEVERAL and not regular)


def _read_preference(frame: Frame) -> Frame:
    """Read "prefers tea over coffee" as one value of the pair: whichever is preferred, the other is not."""
    other = next((one.partition(" ")[2] for one in frame.scope if one.split()[0] in ("over", "to")), "")
    if not other or len(frame.scope) > 1 or frame.partial or frame.negated or frame.tense is not Tense.NOW:
        return frame
    pair = " ".join(sorted((normal_text(frame.value), other)))
    return replace(frame, attribute=f"prefer {pair}", scope=(), single=True, key_words=("prefers", pair))


def _imply_value(context: Context, frame: Frame, attribute: str, rule: str, value: str, kind: ValueKind) -> Frame:
    """Return what a statement says of another attribute besides its own."""
    said = build(context, attribute, Tail([]), rule, one=True, value=value, value_kind=kind, tense=frame.tense)
    return replace(said, partial=True, single=False)


def _add_implied(context: Context, phrase: Phrase, left: list[Word], tail: Tail, frame: Frame) -> list[Frame]:
    """The frame, and what it says besides: "works as a cook at Noma" has two values, "has a dog named Rex" names a role."""
    if frame.attribute == "prefer":
        return [choice_of(frame) or _read_preference(frame)]
    if frame.attribute in ("own", "allergy") and len(tail.value) > 1 and tail.value[-1].lemma == "allergy":
        what = [word for word in tail.value[:-1] if word.tag not in ("AT0", "DPS")]
        return [replace(frame, attribute="allergy", value=text_of(what), key_words=("allergic", ""))]
    named = index_of(left, "named", "called")
    if frame.attribute == "own" and named:
        role = split_tail(left[:named])
        if not role.scope and not role.more and role.value:
            thing_owned = NounPhrase(context.subject, " ".join(content(role.value)))
            described = describe(context, thing_owned, split_tail(left[named + 1 :]), "has named")
            described = replace(described, single=False, contested=False)
            if role.value[0].lower == "no":  # "has no dog named Rex" denies the name, and says nothing of other dogs
                return [replace(described, negated=not described.negated)]
            return [described, replace(build(context, "own", role, "implied"), partial=True)]
    if frame.attribute == "job":
        at = [s for s in frame.scope if s.split()[0] in ("at", "for") and any(w.is_name and w.lower in s for w in left)]
        if at:
            job = replace(frame, scope=tuple(s for s in frame.scope if s not in at))
            if phrase.mode != "state":
                return [job]
            where = at[0].split(" ", 1)[1]
            return [job, _imply_value(context, frame, "employer", "table:employer", where, ValueKind.NAME)]
    if frame.attribute == "spouse" and frame.change is not ChangeMark.STOP and not frame.negated:
        married = _imply_value(context, frame, "marital", "implied", "married", ValueKind.ADJECTIVE)
        return [frame, replace(married, change=frame.change)]
    versioned = len(tail.value) > 1 and tail.value[-1].tag == "CRD" and not tail.is_joined
    if frame.attribute in _OWNED_THINGS and frame.value_kind is ValueKind.NAME and versioned:
        attribute = f"{frame.attribute} {' '.join(content(tail.value[:-1]))}"
        version = build(
            context, attribute, tail, "version", one=True, value=tail.value[-1].text, value_kind=ValueKind.VERSION,
            tense=frame.tense, change=frame.change, negated=frame.negated,
        )  # fmt: skip
        return [version, replace(frame, partial=True, single=False)]
    all_names = len(tail.value) > 1 and all(word.is_name for word in tail.value)
    one_thing = tail.form is Form.THE or (all_names and not tail.value[-1].lower.endswith("s"))
    owns = phrase.words in (("own",), ("buy",), ("acquire",)) and (tail.has_name or phrase.words == ("own",))
    if frame.attribute == "own" and owns and one_thing and not context.is_self:
        owner = replace(tail, value=context.subject_words)
        thing = noun_phrase(tail.value, context.speaker).whole
        owned = build(context, "owner", owner, "agent", subject=thing, one=True, tense=frame.tense, change=frame.change)
        if tail.has_name and frame.change is not ChangeMark.START:
            return [owned, replace(frame, rule="implied")]
        return [frame, owned]
    return [frame]
