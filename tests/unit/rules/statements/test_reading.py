"""From a text to its main frame: slot, value, and what the frame says besides."""

import re
from pathlib import Path

import pytest

from recollect.rules.statements import ChangeMark, Tense, ValueKind, read_statement
from recollect.rules.statements.tagger import as_one_token, cut, load_tagger
from rows import every_row

ONE_VALUE = [
    # definite descriptions
    ("The head coach of Harriers is Piet Vries", "harriers head coach", "Piet Vries", "nominal"),
    ("Harriers' head coach is Piet Vries", "harriers head coach", "Piet Vries", "nominal"),
    ("Piet Vries is the head coach of Harriers", "harriers head coach", "Piet Vries", "swapped"),
    ("My landlord is Mr. Adler", "self landlord", "Mr. Adler", "nominal"),
    ("Mr. Adler is my landlord", "self landlord", "Mr. Adler", "swapped"),
    ("The rent is 900 euros", "rent", "900 euros", "nominal"),
    ("User's favorite color is teal", "self favourite colour", "teal", "nominal"),
    ("The code for Ana's gate is 4471", "ana gate code", "4471", "nominal"),
    ("Ana's gate code is 4471", "ana gate code", "4471", "nominal"),
    ("Wi-Fi password: heron-lake", "wi-fi password", "heron-lake", "label"),
    ("The deadline for the thesis is 1 September", "thesis due", "1 September", "nominal"),
    ("The thesis deadline is 1 September", "thesis due", "1 September", "nominal"),
    ("The launch of Atlas is on 5 May", "atlas launch", "5 May", "table:time"),
    ("The monthly price of the Pro plan is 12 euros", "pro plan price", "12 euros per month", "nominal"),
    ("Max line length is 85", "max line length", "85", "nominal"),
    # the predicate table
    ("User lives in Lisbon", "self home", "Lisbon", "table:home"),
    ("Ana's home is in Lisbon", "ana home", "Lisbon", "nominal place"),
    ("User works at Corvex", "self employer", "Corvex", "table:employer"),
    ("The API listens on port 8443", "api listens on", "8443", "table:listens on"),
    ("The port of the API is 8443", "api listens on", "8443", "nominal"),
    ("Anton is married to Solveig", "anton spouse", "Solveig", "table:spouse"),
    ("The shop opens at half past eight", "shop opens", "8:30", "table:opens"),
    ("Release 5.1 ships on 9 June", "release 5.1 release", "9 June", "table:release"),
    ("The hamster weighs 2 kg", "hamster weight", "2 kg", "table:weight"),
    ("User was born in Leeds", "self birth place", "Leeds", "table:birth place"),
    # open rules
    ("User takes 50 mg of metoprolol", "self take metoprolol", "50 mg", "quantity"),
    ("The company has 85 employees", "company have employee", "85", "quantity"),
    ("CI takes 18 minutes", "ci take time", "18 minutes", "quantity"),
    ("The backend needs Python 3.12", "backend need python", "3.12", "version"),
    ("Mirela heads the payments team", "payment team leader", "Mirela", "agent"),
    ("The payments team is led by Mirela", "payment team leader", "Mirela", "table:leader"),
    ("Anna is 34", "anna age", "34", "age"),
    ("User is 175 cm tall", "self height", "175 cm", "measure"),
    ("User is vegetarian", "self diet", "vegetarian", "state"),
    ("The server room is at 19 degrees", "server room be at temperature", "19 degrees", "be at quantity"),
    ("The team uses Linear as its tracker", "team tracker", "Linear", "used as"),
    ("User's daughter is in fourth grade", "self daughter be in grade", "fourth grade", "ordinal"),
    ("The backup finishes processing at 02:00", "", "", ""),
    # orders
    ("Wrap lines at 80 characters", "self rule wrap line at character", "80", "instruction:number"),
    ("Call me Jon", "self preferred name", "Jon", "instruction:choice"),
]


@every_row(("text", "slot", "value", "rule"), ONE_VALUE)
def test_a_single_valued_statement_names_its_slot(text: str, slot: str, value: str, rule: str) -> None:
    frames = read_statement(text)
    if not slot:
        assert not any(frame.single for frame in frames)
        return
    assert (frames[0].slot, frames[0].value, frames[0].rule) == (slot, value, rule)
    assert frames[0].single
    assert value not in frames[0].name


CHANGES = [
    ("Nora Blyth took over as head coach of Harriers", "harriers head coach", "Nora Blyth", "as role"),
    ("Nora Blyth replaced Piet Vries as head coach of Harriers", "harriers head coach", "Nora Blyth", "as role"),
    ("Nora Blyth became the head coach of Harriers", "harriers head coach", "Nora Blyth", "became"),
    ("Arne Dahl was elected mayor of Solvang", "solvang mayor", "Arne Dahl", "appointed"),
    ("Solvang elected Arne Dahl as its mayor", "solvang mayor", "Arne Dahl", "appointed"),
    ("The landlord raised User's rent to 1020 euros", "self rent", "1020 euros", "changed to"),
    ("The rent went up to 1020 euros", "rent", "1020 euros", "changed to"),
    ("The retro was moved to Thursday", "retro time", "Thursday", "changed to time"),
    ("We pushed the exam back to 12 November", "exam time", "12 November", "changed to time"),
    ("The doctor increased User's metoprolol to 100 mg", "self take metoprolol", "100 mg", "changed to dose"),
    ("We renamed the default branch from master to main", "default branch", "main", "changed from"),
    ("Corvex moved its headquarters from Omaha to Chicago", "corvex headquarters", "Chicago", "changed from"),
    ("User has a new GP, Dr. Byrne", "self gp", "Dr. Byrne", "has new"),
    ("The API was moved to port 9443", "api listens on", "9443", "table:listens on"),
    ("User got promoted to team lead", "self job", "team lead", "table:job"),
    ("User moved to Braga last spring", "self home", "Braga", "table:home"),
]


@every_row(("text", "slot", "value", "rule"), CHANGES)
def test_an_announced_change_names_slot_and_new_value(text: str, slot: str, value: str, rule: str) -> None:
    frame = read_statement(text)[0]
    assert (frame.slot, frame.value, frame.rule) == (slot, value, rule)
    assert frame.single
    assert frame.change in (ChangeMark.CHANGE, ChangeMark.START)


STOPS = [
    ("User sold the Peugeot", "self | peugeot"),
    ("CircleCI was removed", "self | circleci"),
    ("Guest access was removed from staging", "staging | guest access"),
    ("User gave up the cello", "self | cello"),
    ("User's headache is gone", "self | headache"),
    ("There is no sauna in the office any longer", "office | sauna"),
    ("Biscuit, Greta's dog, died at Christmas", "greta | biscuit"),
    ("User and Robin broke up", "self | robin"),
]


@every_row(("text", "subject_value"), STOPS)
def test_what_ended_is_found_by_subject_and_value(text: str, subject_value: str) -> None:
    ended = [frame for frame in read_statement(text) if frame.change is ChangeMark.STOP]
    assert ended and all(frame.negated for frame in ended)
    assert subject_value in {frame.subject_value for frame in ended}


MANY_VALUES = [
    "User likes tea",
    "User's son is Tom",
    "User's goal is a marathon",
    "The issue is throughput",
    "User has a dog named Rex",
    "User uses Vim",
    "User is on vacation",
    "User's manager is very strict",
    "The branch is protected",
    "User speaks Danish",
    "Ole sold 40 sculptures in 2022",
    "User lived in Braga",
    "User wants to move to Braga",
    "User might move to Braga",
    "User will move to Braga in May",
    "User lives in Braga because the sea is near",
    "A ticket costs 14 pounds",
]


@every_row("text", MANY_VALUES)
def test_everything_else_keeps_its_value_in_the_key(text: str) -> None:
    frames = read_statement(text)
    assert frames
    assert not any(frame.single for frame in frames)


NOT_READ = [
    "",
    "...",
    "Where does User live?",
    "She lives in Braga",
    "His rent is 900",
    "It is 900",
    "User lives in Braga. User works at Corvex.",
    "User lives in Braga;",
    "const x = 3",
    "<p>User lives in Braga</p>",
    "El usuario vive en la ciudad de Lima",
    "Je suis dans le train",
    "User lives in Braga " * 20,
]


@every_row("text", NOT_READ)
def test_what_is_no_plain_statement_is_not_read(text: str) -> None:
    assert read_statement(text) == ()


ORDERS = [
    ("No emojis.", ()),
    ("Please never put emojis into your answers.", ()),
    ("Don't use emoji in replies", ()),
    ("Avoid emojis in messages to me", ()),
    ("Emojis are not allowed", ()),
    ("Emojis are forbidden", ()),
    ("Emojis must not be used", ()),
    ("No emojis in commit messages", ("in commit message",)),
]


@every_row(("text", "scope"), ORDERS)
def test_a_prohibition_has_one_name_in_all_its_wordings(text: str, scope: tuple[str, ...]) -> None:
    (frame,) = read_statement(text)
    assert (frame.attribute, frame.negated, frame.scope) == ("limit", True, scope)
    assert frame.name[:2] == ("self", "limit")
    assert frame.name[2].startswith("emojis")


def test_a_scope_is_part_of_slot_and_name() -> None:
    (plain,), (staging,) = read_statement("The timeout is 30 s"), read_statement("The timeout is 30 s in staging")
    assert plain.slot != staging.slot
    assert plain.name != staging.name
    assert staging.scope == ("in staging",)


@pytest.mark.parametrize(
    "text", ["I live in Braga", "The user lives in Braga", "User lives in Braga", "We live in Braga"]
)
def test_who_speaks_stands_for_the_first_person_and_the_user(text: str) -> None:
    (frame,) = read_statement(text, speaker="Ana")
    assert frame.subject == "ana"


def test_a_frame_says_what_sort_its_value_is() -> None:
    kinds = {
        "The coach is Ana Ruiz": ValueKind.NAME,
        "The rent is 900 euros": ValueKind.QUANTITY,
        "The deadline is 5 May": ValueKind.DATE,
        "The sync is at 9:15": ValueKind.CLOCK,
        "The backend needs Python 3.12": ValueKind.VERSION,
        "User's job is plumber": ValueKind.NOUN,
        "User's favourite colour is green": ValueKind.ADJECTIVE,
    }
    assert {text: read_statement(text)[0].value_kind for text in kinds} == kinds


def test_names_of_unknown_sort_are_contested() -> None:
    assert read_statement("User moved to Kubernetes")[0].contested
    assert read_statement("User joined Mensa")[0].contested
    assert not read_statement("User moved to Braga")[0].contested


def test_tense_and_old_value() -> None:
    assert read_statement("User used to live in Braga")[0].tense is Tense.PAST
    assert read_statement("User's former boss is Carla")[0].tense is Tense.PAST
    assert read_statement("User may live in Braga")[0].tense is Tense.UNSURE
    assert read_statement("User moved from Braga to Lisbon")[0].old_value == "Braga"
    corrected = read_statement("Actually, my favourite tea is jasmine, not Earl Grey.")[0]
    assert (corrected.value, corrected.old_value, corrected.change) == ("jasmine", "Earl Grey", ChangeMark.CHANGE)


def test_more_clauses_make_a_frame_partial() -> None:
    frame = read_statement("User works at Corvex and coaches a team")[0]
    assert frame.partial
    assert not frame.single
    assert frame.name != read_statement("User works at Corvex and paints")[0].name


def test_the_tagger_gives_the_tags_of_its_base_class() -> None:
    """Its search is our own and faster. Every labelled sentence is tagged as HanTa itself tags it, odd words included."""
    tagger = load_tagger()
    (hanta,) = [one for one in type(tagger).__mro__ if one.__name__ == "HanoverTagger"]
    cases = (Path(__file__).parents[3] / "cases" / "identity").glob("*.yaml")
    texts = [text for file in cases for text in re.findall(r'"([^"]{10,120})"', file.read_text(encoding="utf-8"))[:40]]
    sentences = [[as_one_token(token) for token in cut(text)] for text in [*texts, "?!", "Zzxqj", "I", "日本 語 ok"]]
    assert len(sentences) > 100
    for sentence in filter(None, sentences):
        assert tagger.tag_sent_viterbi(sentence) == hanta.tag_sent_viterbi(tagger, sentence), sentence


def test_having_none_of_a_name_denies_the_name() -> None:
    for said, denied in (
        ("Ana has a dog named Rex", False),
        ("Ana has no dog named Rex", True),
        ("I have no sister called Lea", True),
    ):
        named = [frame for frame in read_statement(said) if frame.rule == "has named"]
        assert [frame.negated for frame in named] == [denied], said
