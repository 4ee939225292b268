"""What is told of all that was found: thresholds, a category's share, a number, and a budget of tokens."""

from recollect.rules.ranking.selection import Room, best_within, least_relevance


def words(text: str) -> int:
    """A token a word, and one for each line end."""
    return len(text.split()) + text.count("\n")


def test_the_stricter_of_threshold_and_share_of_the_best_holds() -> None:
    assert least_relevance([0.3, 0.9], None, None) == 0.0
    assert least_relevance([0.3, 0.9], 0.5, None) == 0.5
    assert least_relevance([0.3, 0.8], 0.1, 0.5) == 0.4
    assert least_relevance([0.3, 0.8], 0.6, 0.5) == 0.6
    assert least_relevance([], None, 0.5) == 0.0


def chosen(found: list[str], top_k: int = 10, room: Room | None = None, **shares: int) -> list[str]:
    """Of lines whose first word is their category."""
    room = room or Room(None, words)
    return best_within(found, top_k, lambda line: line.split()[0], shares.get, room.takes)[0]


def test_no_more_than_asked_for_and_the_first_ones_first() -> None:
    assert chosen(["tea a", "tea b", "bees c"], top_k=2) == ["tea a", "tea b"]


def test_a_category_gives_no_more_than_its_share_and_makes_room_for_others() -> None:
    assert chosen(["tea a", "tea b", "bees c", "tea d"], top_k=2, tea=1) == ["tea a", "bees c"]


def test_what_has_no_room_is_passed_over_and_uses_up_no_share() -> None:
    found = ["tea a", "tea much too long", "tea b", "tea c"]
    assert chosen(found, room=Room(5, words), tea=2) == ["tea a", "tea b"]


def test_what_had_no_room_is_counted_up_to_the_number_asked_for() -> None:
    room, found = Room(3, words), ["tea a", "tea much too long", "bees much too long", "tea b"]
    assert best_within(found, 3, lambda line: line.split()[0], {}.get, room.takes) == (["tea a"], 2)
    assert best_within(found, 1, lambda line: line.split()[0], {}.get, Room(2, words).takes) == (["tea a"], 0)


def test_nothing_is_measured_that_is_not_told_anyway() -> None:
    asked: list[str] = []

    def fits(line: str) -> bool:
        asked.append(line)
        return True

    best_within(["tea a", "tea b", "bees c", "bees d"], 2, lambda line: line.split()[0], {"tea": 1}.get, fits)
    assert asked == ["tea a", "bees c"]


def test_a_line_takes_up_room_with_the_line_end_before_it() -> None:
    room = Room(5, words)
    assert room.takes("two words")
    assert room.takes("two more")
    assert not room.takes("one")


def test_a_line_that_has_no_room_takes_up_none() -> None:
    room = Room(3, words)
    assert not room.takes("rather more than three")
    assert room.takes("three short words")


def test_what_was_told_before_has_taken_its_room() -> None:
    room = Room(7, words, ["two words", "two more"])
    assert room.takes("one")
    assert not room.takes("one")


def test_without_a_budget_there_is_always_room_and_nothing_is_counted() -> None:
    room = Room(None, lambda text: 1 // 0, ["told"])
    assert room.takes("word " * 1_000)


def test_a_budget_that_is_overdrawn_has_room_for_nothing() -> None:
    assert not Room(-1, words).takes("word")
