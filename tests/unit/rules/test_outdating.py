"""Why one memory may make another outdated, and the order in which both are told."""

import pytest

from recollect.rules.identity.outdating import NEAR, REASONS, later_first, reason_to_doubt, signs_of
from recollect.rules.statements import Relation
from rows import every_row

CASES = [
    (
        "announced_change",
        0.55,
        "Tuning is billed at 480 crowns per hour",
        "From May on, tuning costs 530 crowns per hour",
    ),
    ("announced_change", 0.5, "The poster session starts at 10:30", "The poster session was moved to 14:00"),
    ("announced_change", 0.6, "The office is open Monday to Friday", "The office is now closed on Mondays"),
    ("mentions_old_value", 0.4, "Backups run on Borg", "Backups live in another place; Borg is gone"),
    ("mentions_old_value", 0.5, "Lena owns the search package", "Omar has taken search over from Lena"),
    ("mentions_old_value", 0.5, "The teacher of class 4b is Ms. Okoye", "Since Ms. Okoye left us, Mr. Lind takes 4b"),
    ("mentions_old_value", 0.4, "We run CI on CircleCI", "We migrated from CircleCI to GitHub Actions"),
    ("mentions_old_value", 0.4, "Docs live in Confluence", "We moved the team's docs over from Confluence to Notion"),
    ("mentions_old_value", 0.4, "Mia is allergic to eggs", "Mia outgrew her egg allergy"),
    ("mentions_old_value", 0.5, "Service discovery uses Consul", "Consul was retired last spring"),
    ("same_kind_of_value", 0.9, "The upload limit per file is 20 min", "Upload limit per file: 45 min"),
    ("near", 0.9, "Ana plays the violin", "Ana plays the cello"),
    ("announced_change", 0.5, "Flags are managed in Harbor", "Flags moved to a store of our own"),
    ("mentions_old_value", 0.3, "Storybook runs on port 6006", "Storybook was removed"),
    ("same_kind_of_value", 0.6, "Minimum text size is 28 px", "Text has to be at least 34 px"),
    ("announced_change", 0.4, "The tasting menu has seven courses", "The chef cut the tasting menu to five courses"),
    ("mentions_old_value", 0.4, "Aurelio takes the free room", "Aurelio backed out, so Thandeka gets the room"),
    ("mentions_old_value", 0.4, "Ines runs the lab", "The lab is Odd's from May, since Ines is leaving"),
    ("near", 0.5, "The shuttle goes to Oslo", "The shuttle leaves for Bergen"),
    ("near", 0.5, "The office manager is Pia", "Certificates expired; alerts go to the manager"),
    ("near", 0.5, "Hire costs 120 crowns", "The account moved to a bank that lends 500,000 crowns"),
    ("near", 0.29, "Backups run on Borg", "Backups live in another place; Borg is gone"),
    ("near", 0.9, "Ole sold 30 kites in 2021", "Ole sold 45 kites in 2022"),
    ("near", 0.6, "The bus leaves from stop A", "The tram leaves from stop C"),
    ("near", 0.6, "Parking costs 60 euros", "The shop opens at nine now"),
]


@every_row(("reason", "similarity", "old", "new"), CASES)
def test_the_words_of_both_say_why(reason: str, similarity: float, old: str, new: str) -> None:
    assert reason_to_doubt(old, new, similarity) == reason


@every_row(("reason", "similarity", "old", "new"), CASES)
def test_only_the_nearest_is_doubted_for_its_words(reason: str, similarity: float, old: str, new: str) -> None:
    assert reason_to_doubt(old, new, similarity, nearest=False) == NEAR


@pytest.mark.parametrize("relation", [Relation.CONTESTED, Relation.CHANGED, Relation.RETRACTED])
def test_what_the_reader_sees_in_one_slot_comes_first(relation: Relation) -> None:
    assert reason_to_doubt("User lives in Lisbon", "User lives in Alfama", 0.1, relation) == "contested_slot"


def test_every_reason_has_its_place() -> None:
    assert {reason for reason, *_ in CASES} | {"contested_slot", "stated"} == set(REASONS)
    assert REASONS[0] == "stated" and REASONS[-1] == NEAR


@pytest.mark.parametrize("text", ["", " ", "…", "a" * 10_000, "\U0001f600", "now now now", "$ % :"])
def test_any_text_has_signs(text: str) -> None:
    assert signs_of(text).values is not None


def anybody(_: str, __: str) -> bool:
    return True


class TestLaterFirst:
    def test_the_later_one_passes_the_earlier_one_and_nothing_more(self) -> None:
        assert later_first(["x", "old", "y", "new"], {("new", "old")}, anybody) == ["x", "new", "old", "y"]

    def test_what_stands_right_stays(self) -> None:
        assert later_first(["new", "x", "old"], {("new", "old")}, anybody) == ["new", "x", "old"]

    def test_a_chain_of_three(self) -> None:
        links = {("c", "b"), ("b", "a"), ("c", "a")}
        assert later_first(["a", "b", "c"], links, anybody) == ["c", "b", "a"]

    def test_what_may_not_pass_stays_behind(self) -> None:
        assert later_first(["old", "new"], {("new", "old")}, lambda later, earlier: False) == ["old", "new"]

    def test_a_circle_ends(self) -> None:
        assert sorted(later_first(["a", "b"], {("a", "b"), ("b", "a")}, anybody)) == ["a", "b"]

    def test_links_to_what_is_not_there_move_nothing(self) -> None:
        assert later_first(["a", "b"], {("a", "z"), ("z", "b")}, anybody) == ["a", "b"]
