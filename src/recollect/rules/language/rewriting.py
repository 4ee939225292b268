"""Bringing statements that differ only in a safe way into one form: fixed phrases, then the order of each sentence.

Each rule here takes the marks of one sentence and returns them in the form that its variants share. A rule belongs
here only if both forms always mean the same; what may mean the same stays different.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from recollect.rules.language import lexicon
from recollect.rules.language.marks import FURTHER, SENTENCE_ENDS, Aspect, Case, Mark, word
from recollect.rules.language.scanning import aspect_of
from recollect.rules.language.spelling import ing_form, verb_of
from recollect.rules.language.word_lists import load_table, word_set

Sentence = list[Mark]

_BE = frozenset({"be", "was"})
_SETTLED_POSITION = word_set("always usually often sometimes now normally generally rarely")
_DATE_LEADS = word_set("from to until by before after since")
_COMPARED = {"more": "over", "fewer": "under", "less": "under"}
_LONGEST_FRONT = 8
_JOINTS = frozenset({"and", "or"})
_TIED = (lexicon.NEGATIONS - {"no!"}) | {"respectively", "then", "but", "except"}
"""With one of these in a sentence, a list may not be sorted."""
_BEFORE_A_SET = frozenset({"with", "in", "between", "from"})
_CLOSES_A_LIST = lexicon.PREPOSITIONS - {"like"}
_SURE_CASES = frozenset({Case.TITLE, Case.UPPER})
_TANGLED = lexicon.CLAUSE_WORDS | lexicon.NEGATIONS | lexicon.VERBS_WITH_A_CLAUSE | {"to"}
_A_DATE = "~"
"""Stands for any date among the keys that a rule needs."""


def rewrite(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks of a statement, each sentence in its normal form."""
    written: list[Mark] = []
    for sentence, end in _sentences(marks):
        present = {mark.key for mark in sentence}
        present.update(_A_DATE for mark in sentence if mark.aspect is Aspect.DATE)
        for rule, needed in _RULES:
            if not needed.isdisjoint(present):
                sentence = rule(sentence)
        written += sentence + end
    return tuple(written)


def turn_around(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks with the sides of "is" exchanged in each sentence where either may stand first."""
    turned: list[Mark] = []
    for sentence, end in _sentences(marks):
        turned += exchange_sides_of_is(sentence) + end
    return tuple(turned)


def _sentences(marks: Sequence[Mark]) -> list[tuple[Sentence, Sentence]]:
    """Each sentence with the mark that ends it, if one does."""
    found: list[tuple[Sentence, Sentence]] = []
    sentence: Sentence = []
    for mark in marks:
        if mark.key in SENTENCE_ENDS:
            found.append((sentence, [mark]))
            sentence = []
        else:
            sentence.append(mark)
    return [*found, (sentence, [])] if sentence else found


def _keys(marks: Sequence[Mark]) -> tuple[str, ...]:
    return tuple([mark.key for mark in marks])


def read_colon_as_verb(sentence: Sentence) -> Sentence:
    """ "Port: 8080" and "Port = 8080" as "Port is 8080"."""
    keys = _keys(sentence)
    if keys.count(":") != 1 or not _BE.isdisjoint(keys):
        return sentence
    return [word("be", ":") if mark.key == ":" else mark for mark in sentence]


def unify_prohibition(sentence: Sentence) -> Sentence:
    """ "Never deploy" as "Do not deploy", and "Never use X" or "Don't use X" as "No X"; elsewhere "does not" as "not"."""
    keys = _keys(sentence)
    opens = 2 if keys[:2] == ("do", "not") else int(keys[:1] in {("never",), ("no",)})
    if opens and len(sentence) > opens and _commands(sentence, opens):
        said = " ".join(mark.surface for mark in sentence[:opens])
        if keys[0] == "no":
            return [word("no!", said, Aspect.NEGATION), *sentence[opens:]]
        if keys[opens] == "use" and len(sentence) > opens + 1:
            return [word("no!", said, Aspect.NEGATION), *sentence[opens + 1 :]]
        return [word("not!", said, Aspect.NEGATION), *sentence[opens:]]
    return [m for place, m in enumerate(sentence) if not (m.key == "do" and keys[place + 1 : place + 2] == ("not",))]


def _commands(sentence: Sentence, opens: int) -> bool:
    """ "Don't smoke" is a rule; "Doesn't smoke" and "Never smokes" tell of someone."""
    first, then = sentence[0], sentence[opens]
    tells = first.has_ending or (first.key == "never" and then.has_ending)
    return then.is_word and not tells


def unify_no_longer(sentence: Sentence) -> Sentence:
    """ "does not smoke anymore" as "no longer smokes"."""
    keys = _keys(sentence)
    if keys[-1] != "anymore" or keys.count("not") != 1 or not lexicon.VERBS_WITH_A_CLAUSE.isdisjoint(keys):
        return sentence
    denied = word("no-longer", "not anymore", Aspect.TENSE)
    return [denied if mark.key == "not" else mark for mark in sentence[:-1]]


def use_gerund(sentence: Sentence) -> Sentence:
    """ "likes to swim" as "likes swimming"."""
    keys = _keys(sentence)
    for place in range(len(keys) - 2):
        if keys[place] in lexicon.TASTE_VERBS and keys[place + 1] == "to" and sentence[place + 2].is_word:
            verb = sentence[place + 2]
            return [*sentence[: place + 1], word(ing_form(verb.key), verb.surface), *sentence[place + 3 :]]
    return sentence


def unify_preference(sentence: Sentence) -> Sentence:
    """ "prefers tea to coffee" and "prefers tea rather than coffee" as "prefers tea over coffee"."""
    keys = _keys(sentence)
    places = [place for place, key in enumerate(keys) if key in {"to", "instead-of", "over"}]
    if len(places) != 1 or places[0] <= keys.index("prefer") + 1:
        return sentence
    place = places[0]
    return [*sentence[:place], word("over", sentence[place].surface), *sentence[place + 1 :]]


def unify_comparison(sentence: Sentence) -> Sentence:
    """ "more than 5" as "over 5", "fewer than 5" as "under 5"."""
    keys = _keys(sentence)
    for place in range(len(keys) - 2):
        preposition = _COMPARED.get(keys[place])
        if preposition and keys[place + 1] == "than" and sentence[place + 2].aspect is Aspect.NUMBER:
            return [*sentence[:place], word(preposition, f"{keys[place]} than"), *sentence[place + 2 :]]
    return sentence


def move_phrase_to_end(sentence: Sentence) -> Sentence:
    """ "In replies, use tabs" as "Use tabs in replies"; "If it fails, call Ben" as "Call Ben if it fails"."""
    keys = _keys(sentence)
    if not keys or keys[0] not in lexicon.MAY_FRONT or "," not in keys[1 : _LONGEST_FRONT + 1]:
        return sentence
    comma = keys.index(",")
    if sentence[comma].surface != "," or not lexicon.VERBS_WITH_A_CLAUSE.isdisjoint(keys):
        return sentence
    if keys[0] in lexicon.PREPOSITIONS and not _BE.isdisjoint(keys[:comma]):
        return sentence
    rest = comma + 1 + (keys[comma + 1 : comma + 2] == ("then",))
    return sentence[rest:] + sentence[:comma] if len(sentence) - rest >= 2 else sentence


def use_possessive(sentence: Sentence) -> Sentence:
    """ "the port of the API" as "the API's port"."""
    keys = _keys(sentence)
    if keys.count("of") != 1:
        return sentence
    of = keys.index("of")
    start = _start_of_definite(sentence, of)
    owner, after = sentence[of + 1 : of + 2], sentence[of + 2 : of + 3]
    if start == of or not owner or not (owner[0].is_name or owner[0].article == "the"):
        return sentence
    if after and (after[0].is_name or after[0].article or after[0].key == "'s"):
        return sentence
    return [*sentence[:start], *owner, word("'s"), *sentence[start:of], *sentence[of + 2 :]]


def _start_of_definite(sentence: Sentence, end: int) -> int:
    """Where the words begin that stand before ``end`` and that one "the" introduces; ``end`` if there are none."""
    start = end - 1
    while start > 0 and sentence[start].article == "the" + FURTHER:
        start -= 1
    return start if start >= 0 and sentence[start].article == "the" else end


def sort_list(sentence: Sentence) -> Sentence:
    """ "speaks French and German" as "speaks German and French": sorted, where the order cannot matter."""
    joints = [place for place, mark in enumerate(sentence) if mark.key in _JOINTS]
    if len(joints) != 1 or any(mark.key in _TIED for mark in sentence):
        return sentence
    joint = joints[0]
    comma_first = joint > 0 and sentence[joint - 1].key == ","
    start, end = joint - 1 - comma_first, joint + 2
    while start >= 2 and sentence[start - 1].key == ",":
        start -= 2
    if start < 0 or end > len(sentence):
        return sentence
    items = [mark for mark in sentence[start:end] if mark.key not in {",", sentence[joint].key}]
    if len(items) < 2 + comma_first or not _order_is_free(items, sentence[:start], sentence[end:]):
        return sentence
    ordered: Sentence = []
    for item in sorted(items, key=lambda mark: mark.key):
        ordered += [item, sentence[joint]]
    return [*sentence[:start], *ordered[:-1], *sentence[end:]]


def _order_is_free(items: Sentence, before: Sentence, after: Sentence) -> bool:
    """Names that open a sentence, and the objects of verbs such as "likes"; never steps or places in an order."""
    if after and (after[0].key == "'s" or after[0].is_name):
        return False
    if not before:
        return items[0].case is Case.START and _are_names(items[1:])
    listed = before[-1].key in lexicon.LISTING_VERBS
    if _are_names(items):
        return listed or before[-1].key in _BEFORE_A_SET
    closed = not after or after[0].key in _CLOSES_A_LIST or after[0].aspect is Aspect.DATE
    return listed and closed and all(item.is_word for item in items)


def _are_names(items: Sentence) -> bool:
    return all(_is_item([item]) and (item.case in _SURE_CASES or not item.is_word) for item in items)


def drop_commas(sentence: Sentence) -> Sentence:
    """Commas dropped, except between names, numbers or dates: "Ana, Maria" are two, "Ana Maria" is one."""
    kept: Sentence = []
    for place, mark in enumerate(sentence):
        if mark.key != "," or (_is_item(sentence[place - 1 : place]) and _is_item(sentence[place + 1 : place + 2])):
            kept.append(mark)
    return kept


def _is_item(one: Sentence) -> bool:
    return bool(one) and one[0].aspect in {Aspect.NAME, Aspect.NUMBER, Aspect.DATE}


def order_dates(sentence: Sentence) -> Sentence:
    """ "at 9am on Mondays" as "on Mondays at 9am", and a date at the front moved to the end."""
    dated = [place for place, mark in enumerate(sentence) if mark.aspect is Aspect.DATE]
    if dated[0] > 1 and all(later - earlier > 2 for earlier, later in pairwise(dated)):
        return sentence
    written: Sentence = []
    place = 0
    while place < len(sentence):
        mark = sentence[place]
        may_start = mark.aspect is Aspect.DATE or mark.key in _DATE_LEADS
        block = _date_block(sentence, place) if may_start else []
        if not block:
            written.append(mark)
            place += 1
            continue
        place += sum(len(part) for part in block)
        rest = sentence[place + (_keys(sentence[place : place + 1]) == (",",)) :]
        if not written and _is_adverbial(block, rest):
            return [*rest, *_sort_parts(block)]
        written += _sort_parts(block)
    return written


def _date_block(sentence: Sentence, place: int) -> list[Sentence]:
    """The dates and times that stand together, each with its "from" or "until"."""
    parts: list[Sentence] = []
    while place < len(sentence):
        lead = sentence[place].key in _DATE_LEADS
        day = sentence[place + lead : place + lead + 1]
        if not day or day[0].aspect is not Aspect.DATE:
            break
        parts.append(sentence[place : place + lead + 1])
        place += lead + 1
    return parts


def _sort_parts(block: list[Sentence]) -> Sentence:
    """Sorted if no two parts are of one sort: "Monday 9:00, Tuesday 10:00" must stay as it is."""
    if len(block) == 1:
        return block[0]
    sorts = [(_keys(part[:-1]), _sort_of_date(part[-1].key)) for part in block]
    if len(set(sorts)) == len(sorts):
        block = sorted(block, key=_keys)
    return [mark for part in block for mark in part]


def _sort_of_date(key: str) -> str:
    if ":" in key:
        return "clock"
    return "weekday" if key[1].isalpha() else "calendar"


def _is_adverbial(block: list[Sentence], rest: Sentence) -> bool:
    """Whether the date at the front says when ("On Friday we …"), and is not what the sentence is about."""
    says_when = any(part[-1].article == "on" or part[-1].key[-1] == "*" or len(part) > 1 for part in block)
    if not says_when or len(rest) < 2 or not lexicon.VERBS_WITH_A_CLAUSE.isdisjoint(_keys(rest)):
        return False
    return rest[0].key not in _BE and rest[0].aspect is not Aspect.MODALITY


def move_adverb_to_end(sentence: Sentence) -> Sentence:
    """ "Ana now lives in Rome" as "Ana lives in Rome now", where there is one verb that it can belong to."""
    keys = _keys(sentence)
    places = [place for place, key in enumerate(keys) if key in _SETTLED_POSITION]
    if len(places) != 1 or not _TANGLED.isdisjoint(keys):
        return sentence
    place = places[0]
    return [*sentence[:place], *sentence[place + 1 :], sentence[place]]


def make_active(sentence: Sentence) -> Sentence:
    """ "Deploys are approved by Ben" as "Ben approves deploys"."""
    keys = _keys(sentence)
    by = keys.index("by") if keys.count("by") == 1 else 0
    verb = verb_of(keys[by - 1]) if by > 2 and keys[by - 2] == "be" else None
    agent = sentence[by + 1 :]
    simple = 1 <= len(agent) <= 2 and all(mark.is_word or mark.is_name for mark in agent)
    denied = any(mark.aspect is Aspect.NEGATION for mark in sentence)
    if not verb or not simple or denied or not lexicon.CLAUSE_WORDS.isdisjoint(keys):
        return sentence
    return [*agent, word(verb, sentence[by - 1].surface), *sentence[: by - 2]]


def exchange_sides_of_is(sentence: Sentence) -> Sentence:
    """ "Blue is my favourite colour" for "My favourite colour is blue", if one side is a definite thing."""
    keys = _keys(sentence)
    places = [place for place, key in enumerate(keys) if key in _BE]
    tangled = any(key in lexicon.CLAUSE_WORDS or key in lexicon.QUANTIFIERS or key in {"than", "as"} for key in keys)
    if len(places) != 1 or tangled:
        return sentence
    place = places[0]
    after = place + 1 + (keys[place + 1 : place + 2] == ("not",))
    left, verb, right = sentence[:place], sentence[place:after], sentence[after:]
    if not left or not right or not (_is_definite(left) or _is_definite(right)):
        return sentence
    return [*right, *verb, *left]


def _is_definite(side: Sentence) -> bool:
    return side[0].article == "the" or any(mark.key in lexicon.POSSESSIVES for mark in side)


_RULES: tuple[tuple[Callable[[Sentence], Sentence], frozenset[str]], ...] = (
    (read_colon_as_verb, frozenset({":"})),
    (move_phrase_to_end, frozenset({","})),
    (order_dates, frozenset({_A_DATE})),
    (unify_prohibition, frozenset({"do", "never", "no"})),
    (unify_no_longer, frozenset({"anymore"})),
    (use_gerund, frozenset({"to"})),
    (unify_preference, frozenset({"prefer"})),
    (unify_comparison, frozenset({"than"})),
    (use_possessive, frozenset({"of"})),
    (sort_list, _JOINTS),
    (drop_commas, frozenset({","})),
    (move_adverb_to_end, _SETTLED_POSITION),
    (make_active, frozenset({"by"})),
)
"""The rules in order, each with the keys of which a sentence must have one for the rule to apply."""


# ---------------------------------------------------------------- fixed phrases

Phrase = tuple[tuple[str, ...], tuple[str, ...]]
_PHRASES = [
    (tuple(said.split()), tuple(meant.split()))
    for said, meant in load_table(__package__, "words.toml")["phrases"].items()
]
_LONGEST_FIRST: dict[str, list[Phrase]] = {}
for _phrase in sorted(_PHRASES, key=lambda phrase: -len(phrase[0])):
    _LONGEST_FIRST.setdefault(_phrase[0][0], []).append(_phrase)

_NOT_AFTER_NEGATION = frozenset({("must",), ("may",)})
"""Denied, these turn into something else: "does not have to" is no "must not"."""


def fold_phrases(marks: Sequence[Mark]) -> list[Mark]:
    """The same marks with each known phrase replaced by what it means."""
    folded: list[Mark] = []
    read_to = 0
    for at, mark in enumerate(marks):
        if at < read_to:
            continue
        found = _phrase_at(marks, at)
        if found is None:
            folded.append(mark)
        else:
            said, meant = found
            read_to = at + len(said)
            folded.extend(_replace_phrase(meant, marks[at:read_to]))
    return folded


def _phrase_at(marks: Sequence[Mark], at: int) -> Phrase | None:
    denied = at > 0 and marks[at - 1].key in lexicon.NEGATIONS
    for said, meant in _LONGEST_FIRST.get(marks[at].key, ()):
        if _keys(marks[at : at + len(said)]) == said and not (denied and meant in _NOT_AFTER_NEGATION):
            return said, meant
    return None


def _replace_phrase(meant: tuple[str, ...], said: Sequence[Mark]) -> Iterator[Mark]:
    """The marks of what is meant. Word for word where both are equally long, else the first stands for all."""
    first = said[0]
    surfaces = [mark.surface for mark in said]
    if len(meant) != len(said):
        surfaces = [" ".join(surfaces), *meant[1:]]
    for place, (key, surface) in enumerate(zip(meant, surfaces, strict=True)):
        case = first.case if place == 0 else Case.LOWER
        yield Mark(key, "", surface, aspect_of(key, None), case, first.article)
