"""Which rule reads a clause: the context that all rules share, the order of the rules, and verbs that govern another one."""

from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import PROPERTY, Context, build, first_of, names_the_only_one
from recollect.rules.statements.changes import CHANGE_VERBS, read_change, read_job_end, read_parting, read_stop
from recollect.rules.statements.clause import TENTATIVE, Clause, VerbGroup
from recollect.rules.statements.descriptions import STATES, read_copula, read_duty, read_status, read_swapped
from recollect.rules.statements.frame import ANY, ChangeMark, Frame, Tense
from recollect.rules.statements.named_values import read_named_value
from recollect.rules.statements.open_verbs import read_open
from recollect.rules.statements.phrases import (
    DAYS,
    MONTHS,
    NOW,
    PERIODS,
    Form,
    content,
    dimension,
    noun_phrase,
    split_tail,
)
from recollect.rules.statements.predicates import read_predicate
from recollect.rules.statements.tagger import FINITE, Word, gerund_base
from recollect.rules.statements.templates import read_template

ABILITY = "can"
"""The scope of what someone can do: who can swim need not swim."""
_DONE_AGAIN = (tables.words("verbs", "maker") | tables.words("verbs", "placed") | {"paint"}) - {"present", "sign"}
_STOP_DOING = tables.words("verbs", "stop_doing")
_START_DOING = tables.words("verbs", "start_doing")
_KEEP_DOING = tables.words("verbs", "keep_doing")
_INTENT = tables.words("verbs", "intent")
_REPORT = tables.words("verbs", "report")
_NOT_ONE_THING = frozenset("some any every each a an no much many several few most all both another such".split())


def context_of(clause: Clause, speaker: str) -> Context:
    verb = clause.verb
    scope, tense, change = [], Tense.UNSURE if verb.unsure else Tense.NOW, verb.change
    if clause.lead:
        lead = clause.lead
        if lead[0].lower in TENTATIVE or lead[0].lower == "according":
            tense = Tense.UNSURE
        if any(word.lower == "now" for word in lead) and change is ChangeMark.NONE:
            change = ChangeMark.NOW
        tail = split_tail(lead[1:]) if lead[0].tag == "PRP" else None
        named = lead[-1].tag == "NN1" and lead[-1].lemma not in PERIODS | DAYS | MONTHS  # "In the Friday meeting"
        timed = (tail is not None and tail.form in (Form.DATE, Form.CLOCK) and not named) or any(
            word.lower in ("last", "yesterday", "this", "today", "ago", "since", "after", "now") for word in lead
        )
        habit = any(word.lower in DAYS and word.lower.endswith("s") for word in lead)  # "On Sundays I get up at 9"
        if lead[0].tag in ("PRP", "CJS", "AVQ") and (habit or not timed):
            scope = [" ".join(content(lead))]
    if verb.modal in ("can", "ca", "could") and verb.negated and verb.lemma in ("stand", "bear"):
        verb.lemma, verb.negated, verb.modal = "hate", False, ""
    if verb.modal in ("can", "ca", "could"):
        scope.append(ABILITY)
    if verb.modal in ("will", "'ll") and split_tail(clause.rest[1:]).form in (Form.DATE, Form.CLOCK):
        tense = Tense.NOW  # "will now launch on 5 May" is the schedule as it stands
    if verb.modal in ("must", "should") and clause.rest[:1] and clause.rest[0].lower == "by":
        tense = Tense.NOW  # "must be handed in by 3 May" is a deadline
    subject = clause.subject
    renewed = next(
        (at for at in range(1, len(subject)) if subject[at].lower == "new" and not subject[at - 1].is_noun), 0
    )
    if renewed and subject[renewed - 1].tag in ("POS", "DPS") and not subject[-1].is_name:
        subject = [*subject[:renewed], *subject[renewed + 1 :]]
        change = ChangeMark.NOW if change is ChangeMark.NONE else change
    sure = subject[0].lower not in _NOT_ONE_THING and subject[0].tag not in ("DT0", "PNI")
    sure = sure or (len(subject) > 2 and subject[1].is_name and subject[-1].is_name)  # a title
    phrase = noun_phrase(subject, speaker)
    priced = verb.lemma == "cost" or (verb.copula and dimension(split_tail(clause.rest).value) == "money")
    sure = sure or (subject[0].lower in ("a", "an") and priced and bool(phrase.owner))  # "an adult ticket for the zoo"
    return Context(speaker, subject, phrase, verb, clause.rest, tense, verb.negated, change, tuple(scope), sure)


def read_clause(context: Context) -> list[Frame]:
    """The frames of a clause by the first rules that understand it, or by its template where none says that it has one value."""
    frames = _read_clause(context)
    if any(_is_decided(frame) for frame in frames):
        return frames
    template = read_template(context)
    if template is None or not template.single:
        return frames
    return [template, *(replace(frame, rule="implied") for frame in frames)]


def _is_decided(frame: Frame) -> bool:
    """Whether a rule knows how many values an attribute has, so that no template may say otherwise."""
    known = frame.rule == "intent" or (frame.rule.startswith("table:") and frame.attribute != "own")
    return known or frame.single or frame.contested or frame.denies_slot or frame.partial


def _read_clause(context: Context) -> list[Frame]:
    if (chained := _read_governed_verb(context)) is not None:
        return chained
    if frames := first_of(context, read_status, read_swapped, read_duty, read_parting, read_job_end):
        return frames
    verb, rest = context.verb, context.rest
    done = len(rest) > 1 and rest[0].tag == "VVN" and (rest[0].lemma in CHANGE_VERBS or rest[1].lower == "by")
    if verb.lemma == "get" and done:  # "got moved to Monday", "gets serviced by Heatwise"
        passive = replace(verb, lemma=rest[0].lemma, surface=rest[0].lower, passive=True)
        context = replace(context, verb=passive, rest=rest[1:])
    if verb.lemma == "cost" and rest and rest[0].lower in ("me", "us"):  # "costs me 20 euros"
        context = replace(context, rest=rest[1:])
    context = _as_kept(_undo_prefix(_as_value(context)))
    changed = read_change(context)
    frames = changed or read_named_value(context)
    if frames and frames[0].attribute != ANY:
        return frames
    frames = [*changed, *read_predicate(context)]
    if not frames or frames[0].negated or frames[0].attribute == ANY:
        frames += read_stop(context)
    if frames:
        return frames
    if context.verb.copula:
        return read_copula(context)
    return read_copula(state) if (state := _as_state(context)) else read_open(context)


def _as_state(context: Context) -> Context | None:
    """Read "is divorced now" as a state and not as what was done, and "got engaged" as the change to one."""
    verb, rest = context.verb, context.rest
    as_copula = replace(verb, copula=True, passive=False)
    if verb.passive and verb.surface in STATES and all(word.lower in NOW for word in rest):
        return replace(context, verb=as_copula, rest=[Word(verb.surface, verb.surface, "AJ0"), *rest])
    happened = verb.lemma == "get" and not verb.passive and (verb.past or verb.perfect) and not verb.negated
    if happened and rest and STATES.get(rest[0].lower) == "marital":
        now = replace(as_copula, past=False, perfect=False)
        return replace(context, verb=now, change=ChangeMark.CHANGE)
    return None


def _as_value(context: Context) -> Context:
    """Read the participle of "the status is shipped", "Ana's position is left back" as the value of a property."""
    verb, head = context.verb, context.phrase.head.split()
    if verb.progressive and not verb.past and names_the_only_one(head[:-1]):  # "her main hobby is birdwatching"
        doing = Word(verb.surface, verb.surface, "NN1")
        copula = replace(verb, progressive=False, copula=True, lemma="be")
        return replace(context, verb=copula, rest=[doing, *context.rest])
    done_by = bool(context.rest) and context.rest[0].lower == "by"
    of_property = PROPERTY & set(head) and (context.phrase.owner or head[-1] in PROPERTY)
    if not verb.passive or done_by or verb.past or not of_property:
        return context
    value = Word(verb.surface, verb.surface, "AJ0")
    return replace(context, verb=replace(verb, passive=False, copula=True, lemma="be"), rest=[value, *context.rest])


def _as_kept(context: Context) -> Context:
    """Read "we keep the spare key in the drawer" as where the key is kept."""
    verb, rest = context.verb, context.rest
    at = next((at for at, word in enumerate(rest) if word.tag == "PRP"), 0)
    definite = at > 1 and (rest[0].lower == "the" or rest[0].tag == "DPS") and rest[at - 1].tag in ("NN0", "NN1")
    if not context.is_self or verb.lemma not in _KEEPING or verb.passive or verb.past or verb.modal or not definite:
        return context
    passive = replace(verb, lemma="keep", surface="kept", passive=True)
    phrase = noun_phrase(rest[:at], context.speaker)
    return replace(context, subject_words=rest[:at], phrase=phrase, verb=passive, rest=rest[at:])


_KEEPING = frozenset(("keep", "store", "hide"))


def _undo_prefix(context: Context) -> Context:
    """Read "was relicensed under V" as the change of what "is licensed under V" says."""
    verb = context.verb
    base, surface = (form.removeprefix("re").removeprefix("-") for form in (verb.lemma, verb.surface))
    if base == verb.lemma or (base not in _DONE_AGAIN and "-" not in verb.lemma):
        return context
    at = next((at for at, word in enumerate(context.rest) if word.lower in ("with", "in", "under", "to")), 0)
    if not verb.passive and verb.past and at and context.is_self:  # "we re-encrypted the disk with B"
        thing = context.rest[:at]
        phrase = noun_phrase(thing, context.speaker)
        passive = replace(verb, passive=True)
        context = replace(context, subject_words=thing, phrase=phrase, verb=passive, rest=context.rest[at:])
        verb = passive
    if not verb.passive or not (verb.past or verb.perfect):
        return context
    again = replace(verb, lemma=base, surface=surface, past=False, perfect=False)
    rest = context.rest
    if rest and rest[0].lower == "to":
        rest = [Word("in", "in", "PRP"), *rest[1:]]  # "redeployed to eu-west-1" is then deployed in it
    change = ChangeMark.CHANGE if context.change is ChangeMark.NONE else context.change
    return replace(context, verb=again, rest=rest, change=change)


def _read_governed_verb(context: Context) -> list[Frame] | None:
    """A verb that governs another: "stopped smoking", "used to live", "wants to move", "says that …"; None if there is none."""
    verb, rest = context.verb, context.rest
    if verb.copula and len(rest) > 2 and rest[0].lower in ("able", "unable") and rest[1].lower == "to":
        able = replace(context, scope=(*context.scope, ABILITY))
        negated = context.negated != (rest[0].lower == "unable")
        return _read_inner_clause(able, rest[2:], negated=negated, change=context.change)
    if not rest or verb.copula or verb.passive:
        return None
    first = rest[0]
    given_up = rest[1:] if verb.lemma == "give" and verb.particle == "up" else []
    stopped = rest if verb.lemma in _STOP_DOING else given_up
    if doing := _gerund_phrase(stopped):
        if context.negated or context.tense is Tense.UNSURE:
            return []
        return _read_inner_clause(context, doing, negated=True, change=ChangeMark.STOP)
    if verb.lemma in _START_DOING and (doing := _gerund_phrase(rest)):
        return _read_inner_clause(context, doing, negated=context.negated, change=ChangeMark.START)
    to_verb = (first.tag == "TO0" and not (len(rest) > 1 and rest[1].is_name)) or (
        first.lower == "to" and len(rest) > 1 and rest[1].tag in ("VVI", "VBI", "VHI", "VVB")
    )
    if verb.lemma == "use" and verb.past and first.lower == "to" and len(rest) > 1 and rest[1].tag.startswith("V"):
        return _read_inner_clause(context, rest[1:], negated=context.negated, change=ChangeMark.NONE, tense=Tense.PAST)
    if verb.lemma in _KEEP_DOING and (to_verb or first.tag == "VVG"):
        kept_up = rest[1:] if to_verb else rest
        return _read_inner_clause(context, kept_up, negated=context.negated, change=ChangeMark.NONE)
    if verb.lemma in _INTENT and to_verb:
        tail = split_tail(rest[1:])
        tail.value = rest[1:]
        tail.scope, tail.times, tail.more = [], [], ""
        return [build(context, f"{verb.lemma} to", tail, "intent")]
    if verb.lemma in _REPORT and any(word.tag in FINITE for word in rest):
        return []
    return None


def _gerund_phrase(words: list[Word]) -> list[Word]:
    """The words from a gerund on, the gerund tagged as one: the model takes "jogging" for a noun. None if there is none."""
    if not words or not words[0].lower.endswith("ing") or words[0].is_name:
        return []
    first, after = words[0], words[1] if len(words) > 1 else None
    if first.tag == "VBG" or first.tag == "VHG":
        return words
    compound = first.tag in ("NN0", "NN1") and after is not None and after.is_noun  # "stopped training sessions"
    base = "" if compound else gerund_base(first.text)
    return [Word(first.text, base, "VVG"), *words[1:]] if base else []


def _read_inner_clause(
    context: Context, words: list[Word], *, negated: bool, change: ChangeMark, tense: Tense | None = None
) -> list[Frame]:
    """The frames of a governed verb phrase."""
    at = next((at for at, word in enumerate(words) if word.tag != "AV0"), None)
    if at is None:
        return []
    word, rest = words[at], words[at + 1 :]
    verb = VerbGroup(lemma=word.lemma, surface=word.lower, change=change)
    if word.lemma == "be" or word.tag.startswith("VB"):
        verb.lemma, verb.copula = "be", True
    if rest and rest[0].tag == "AVP":
        verb.particle = rest[0].lower
    tense = context.tense if tense is None else tense
    return read_clause(replace(context, verb=verb, rest=rest, negated=negated, change=change, tense=tense))
