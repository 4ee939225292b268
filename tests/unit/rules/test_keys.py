"""Canonical keys: what a name becomes, and which names are one concept."""

import re
import unicodedata

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from recollect.model.vocabulary import Kind, Tier
from recollect.rules.identity import keys
from recollect.rules.identity.keys import (
    CanonicalKey,
    KeySource,
    choose_key,
    event_key,
    explicit_key,
    fallback_key,
    identity,
    profile_key,
    same_concept,
    statement_key,
    topic_key,
)
from recollect.rules.language.text import fingerprint, sha256_hex
from recollect.rules.statements import read_statement
from rows import every_row

WELL_FORMED = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+){2,}")
CUT = re.compile(r"-[A-Z2-7]{10}$")
NAMES = st.text(min_size=1, max_size=60)
ASCII_NAMES = st.lists(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8), min_size=3, max_size=6
).map(" ".join)


def key_or_none(name: str) -> CanonicalKey | None:
    """The key of a name, or None for a name that has nothing to be named by."""
    try:
        return explicit_key(name)
    except ValueError:
        return None


@every_row(
    ("name", "text"),
    [
        ("Self-Limit-Emojis", "Self-Limit-Emojis"),
        ("API-base-URL", "API-Base-URL"),
        ("server config binding", "Server-Config-Binding"),
        ("dev_path__absolute", "Dev-Path-Absolute"),
        ("  Server / Config: Binding! ", "Server-Config-Binding"),
        ("Emojis", "Emojis-Fact-General"),
        ("Self-Limit", "Self-Limit-General"),
        ("Chloé lives: Zürich", "Chloe-Lives-Zurich"),
        ("Straße Øst Łódź", "Strasse-Ost-Lodz"),
        ("ﬁle-ｆｕｌｌ-m²", "File-Full-M2"),
        ("50% of users", "50-Percent-Of-Users"),
        ("Foo\u200bBar-Baz-Qux", "FooBar-Baz-Qux"),
        ("9-to-5", "9-To-5"),
        ("offset -5 hours", "Offset-Minus-5-Hours"),
    ],
)
def test_an_explicit_name_becomes_a_readable_key(name: str, text: str) -> None:
    assert explicit_key(name).text == text


@pytest.mark.parametrize(
    "names",
    [
        ("Foo bar", "foo-bar", "FOO_BAR", " foo - bar ", "Foo.Bar", "Foo-Bar-General"),
        ("R&D budget", "R and D budget"),
        ("Café", "CAFE", "cafe\u0301"),
        ("東京 Port", "東京_port"),
        ("ΟΔΟΣ x y", "οδος x y"),
    ],
)
def test_names_that_differ_in_form_alone_are_one_concept(names: tuple[str, ...]) -> None:
    found = [explicit_key(name) for name in names]
    assert len({identity(key.text) for key in found}) == 1
    assert len({key.digest for key in found}) == 1


@every_row(
    "names",
    [
        ("C", "C++", "C#", "C+"),
        ("50", "50%", "50$", "50€", "50£"),
        ("RD", "R&D", "R-D"),
        ("東京 port number", "大阪 port number"),
        ("🙂", "🙃", "👍🏻", "👍🏿"),
        ("is 5", "is -5", "is 0.5", "is 05"),
        ("が", "か"),
        ("a" * 40, "a" * 41, "a" * 40 + "b"),
        ("Self-Favorite-Programming-Language", "Self-Favorite-Programming-Languages"),
        ("Foo Bar Baz", "FooBar Baz Qux"),
    ],
)
def test_different_names_stay_different(names: tuple[str, ...]) -> None:
    assert len({identity(explicit_key(name).text) for name in names}) == len(names)
    assert len({explicit_key(name).digest for name in names}) == len(names)


def test_a_long_name_is_cut_and_carries_digits_of_its_digest() -> None:
    key = explicit_key("Self-Favorite-Programming-Language")
    assert key.text.startswith("Self-Favor")
    assert CUT.search(key.text)
    assert len(key.text) <= keys.MAX_LENGTH
    assert key.digest == sha256_hex("self-favorite-programming-language")


def test_letters_lost_on_the_way_to_ascii_are_kept_in_the_digest() -> None:
    assert re.fullmatch(r"Cafe-Fact-General-[A-Z2-7]{10}", explicit_key("Café 東京").text)
    assert re.fullmatch(r"Name-Fact-General-[A-Z2-7]{10}", explicit_key("東京").text)


@pytest.mark.parametrize("name", ["", "   ", "---", "!?.", "\u200b"])
def test_a_name_without_letters_digits_or_symbols_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="canonical_key"):
        explicit_key(name)


@pytest.mark.parametrize("unit", ["a", "a b ", "é", "東", "a\u0301\u0316", "🙂"])
def test_a_huge_name_is_still_a_key(unit: str) -> None:
    """A hundred thousand characters; accents in the wrong order make whole-string normalisation quadratic."""
    assert len(explicit_key(unit * (100_000 // len(unit))).text) <= keys.MAX_LENGTH


def test_each_source_has_its_own_prefix() -> None:
    assert topic_key("current_projects") == CanonicalKey(
        "Register-Current-Projects", sha256_hex("register-current-projects"), KeySource.TOPIC
    )
    assert profile_key("preferred_name").text == "Profile-Preferred-Name"
    assert profile_key("city").text == "Profile-City-General"
    assert event_key(Kind.SHORT_TERM, 42).text == "Event-ShortTerm-42"
    assert event_key(Kind.EPISODIC, 7).text == "Event-Episodic-7"


def test_a_statement_key_is_written_the_same_way_whatever_case_was_said() -> None:
    assert statement_key("Self", "limit", "EMOJIS").text == "Self-Limit-Emojis"
    assert statement_key("staging API", "port", "number").text == "Staging-Api-Port-Number"


def test_the_parser_and_a_caller_who_use_one_name_mean_one_concept() -> None:
    parsed, given_by_caller = statement_key("Ana", "home", "city"), explicit_key("ana home city")
    assert identity(parsed.text) == identity(given_by_caller.text)
    assert parsed.digest == given_by_caller.digest
    long = "the quite extraordinarily long service"
    assert statement_key(long, "port", "number").text == explicit_key(f"{long} port number".title()).text


def test_the_fallback_is_the_fingerprint_or_the_shared_key() -> None:
    print_of_text = fingerprint("The moon is made of cheese")
    own = fallback_key(print_of_text, shared=False)
    assert re.fullmatch(r"World-Fact-General-[A-Z2-7]{11}", own.text)
    assert len(own.text) == 30
    assert own.digest == print_of_text
    assert own != fallback_key(fingerprint("The moon is made of rock"), shared=False)
    shared = fallback_key(print_of_text, shared=True)
    assert shared.text == "World-Fact-General"
    assert shared.digest == explicit_key("world fact general").digest


class TestOrder:
    """Caller, register, profile, event, reader, fallback: the first that can name the memory does."""

    @staticmethod
    def choose(
        kind: Kind = Kind.SEMANTIC, content: str = "Ana lives in Lisbon", speaker: str = "Self", **given_by: object
    ) -> CanonicalKey:
        frames = read_statement(content, speaker)
        return choose_key(frames=frames, kind=kind, fingerprint=fingerprint(content), **given_by)  # type: ignore[arg-type]

    def test_canonical_key_comes_before_everything(self) -> None:
        key = self.choose(
            canonical_key="My Own Key", title="Another Title Here", topic_id="t", tier=Tier.REGISTER, fact_key="city"
        )
        assert (key.text, key.source) == ("My-Own-Key", KeySource.EXPLICIT)

    def test_title_stands_in_for_the_key(self) -> None:
        assert self.choose(title="Some nice title").text == "Some-Nice-Title"

    def test_topic_counts_in_a_register_only(self) -> None:
        assert self.choose(topic_id="projects", tier=Tier.REGISTER).source == KeySource.TOPIC
        assert self.choose(topic_id="projects", tier=Tier.CANON).source == KeySource.READER

    def test_profile_fact_key(self) -> None:
        key = self.choose(kind=Kind.PROFILE, fact_key="city")
        assert (key.text, key.source) == ("Profile-City-General", KeySource.PROFILE)

    @pytest.mark.parametrize("kind", [Kind.SHORT_TERM, Kind.EPISODIC])
    def test_events_are_keyed_by_sequence_number(self, kind: Kind) -> None:
        assert self.choose(kind=kind, sequence_no=3).source == KeySource.EVENT
        assert self.choose(kind=kind, sequence_no=3) != self.choose(kind=kind, sequence_no=4)
        assert self.choose(kind=kind, canonical_key="a-b-c").text == "A-B-C"
        with pytest.raises(ValueError, match="sequence_no"):
            self.choose(kind=kind)

    def test_reader(self) -> None:
        key = self.choose()
        assert (key.text, key.source, key.rule) == ("Ana-Home-City", KeySource.READER, "table:home")

    def test_speakers_of_one_stream_are_told_apart(self) -> None:
        assert self.choose(content="I live in Porto").text == "Self-Home-City"
        assert self.choose(content="I live in Porto", speaker="Ben").text == "Ben-Home-City"

    def test_fallback(self) -> None:
        assert choose_key(kind=Kind.SEMANTIC, fingerprint=fingerprint("It rained")).source == KeySource.FALLBACK
        assert self.choose(content="It rained").text.startswith("World-Fact-General-")
        assert self.choose(content="It rained", shared_fallback=True).text == "World-Fact-General"


class TestSameConcept:
    """Equal text is not enough for keys that were cut."""

    LONG = explicit_key("Self-Favorite-Programming-Language")

    def test_the_same_name(self) -> None:
        assert same_concept(explicit_key("self favorite programming language"), self.LONG.text, self.LONG.digest)

    def test_a_cut_key_handed_back_as_printed(self) -> None:
        assert same_concept(explicit_key(self.LONG.text), self.LONG.text, self.LONG.digest)
        own = fallback_key(fingerprint("It rained"), shared=False)
        assert same_concept(explicit_key(own.text), own.text, own.digest)

    def test_another_name(self) -> None:
        assert not same_concept(explicit_key("a-b-c"), self.LONG.text, self.LONG.digest)

    def test_two_cut_names_whose_digits_happen_to_be_equal(self) -> None:
        other = CanonicalKey(self.LONG.text, self.LONG.digest[:14] + "0" * 50, KeySource.EXPLICIT)
        assert not same_concept(other, self.LONG.text, self.LONG.digest)

    def test_an_uncut_key_is_not_its_lookalike(self) -> None:
        assert not same_concept(
            CanonicalKey("A-B-C", "0" * 64, KeySource.EXPLICIT), "A-B-C", explicit_key("a-b-c").digest
        )


@given(NAMES)
@example("\u0345")
@example("İstanbul ß")
def test_every_key_is_well_formed(name: str) -> None:
    key = key_or_none(name)
    assume(key is not None)
    assert key is not None
    assert WELL_FORMED.fullmatch(key.text)
    assert len(key.text) <= keys.MAX_LENGTH
    assert re.fullmatch(r"[0-9a-f]{64}", key.digest)


@given(NAMES)
def test_a_key_read_back_keeps_its_text(name: str) -> None:
    key = key_or_none(name)
    assume(key is not None)
    assert key is not None
    again = explicit_key(key.text)
    assert again.text == key.text
    assert same_concept(again, key.text, key.digest)


@given(NAMES, NAMES)
@example("a-b", "a b general")
def test_equal_keys_come_from_equal_names(one: str, other: str) -> None:
    first, second = key_or_none(one), key_or_none(other)
    assume(first is not None and second is not None)
    assert first is not None and second is not None
    assert (identity(first.text) == identity(second.text)) == (first.digest == second.digest)


@given(ASCII_NAMES, ASCII_NAMES)
def test_names_of_other_words_have_other_keys(one: str, other: str) -> None:
    """Read independently of the code: words are runs of letters and digits, and the symbols that mean something."""
    first, second = ascii_words(one), ascii_words(other)
    assume(len(first) > 2 and len(second) > 2 and first != second)
    assert explicit_key(one).digest != explicit_key(other).digest


def ascii_words(name: str) -> list[str]:
    name = re.sub(r"(?<!\S)-(?=\d)", " minus ", name)
    for symbol, word in {"+": "plus", "#": "sharp", "%": "percent", "&": "and", "@": "at", "$": "dollar", "=": "equals",
                         "<": "less", ">": "greater", "*": "star"}.items():  # fmt: skip
        name = name.replace(symbol, f" {word} ")
    return re.findall(r"[a-z0-9]+", name.lower())


@given(NAMES)
def test_case_does_not_count(name: str) -> None:
    shouted = name.upper()
    assume(shouted.casefold() == name.casefold())
    one, other = key_or_none(name), key_or_none(shouted)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert identity(one.text) == identity(other.text)
        assert one.digest == other.digest


@given(st.text(st.characters(max_codepoint=0x24F), min_size=1, max_size=30))
def test_composed_and_decomposed_letters_are_one(name: str) -> None:
    one, other = key_or_none(unicodedata.normalize("NFC", name)), key_or_none(unicodedata.normalize("NFD", name))
    assert (one and one.digest) == (other and other.digest)
