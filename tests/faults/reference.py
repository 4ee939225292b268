"""The undisturbed run of the script, and what a disturbed one may differ from it in: nothing but where it stopped."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from recollect import RecollectError

from .script import OPERATIONS, open_at, picture, run_script
from .soundness import assert_ledger_gapless, assert_sound


class Reference(NamedTuple):
    """What each operation answered, and how the store looked after each commit of each (0: before the first)."""

    answers: list[Any]
    pictures: list[list[str]]

    def may_be_found(self, acknowledged: int) -> list[str]:
        """How the store may look: as the last acknowledged operation left it, or as the next one did on its way."""
        begun = self.pictures[acknowledged + 1] if acknowledged < len(OPERATIONS) else []
        return [self.pictures[acknowledged][-1], *begun]


def undisturbed(folder: Path) -> Reference:
    """Run the script to its end, looking at the store after every commit."""
    with open_at(folder / "empty.db", 0) as mem:
        pictures = [[picture(mem)], *([] for _ in OPERATIONS)]
    answers: list[Any] = []
    run_script(
        folder / "memory.db",
        ack=lambda _, answer: answers.append(answer),
        look=lambda mem: pictures[len(answers) + 1].append(picture(mem)),
    )
    return Reference(answers, pictures)


def assert_survived(path: Path, acks: Sequence[Any], reference: Reference) -> None:
    """Open the store again: every acknowledged operation is in it as it was acknowledged, and no other by halves."""
    done = len(acks)
    assert list(acks) == [[number, answer] for number, answer in enumerate(reference.answers[:done], start=1)]
    next_day = OPERATIONS[min(done, len(OPERATIONS) - 1)].day
    with open_at(path, next_day, seed=2) as mem:
        assert picture(mem) in reference.may_be_found(done)
        assert_sound(mem)
        receipt = mem.add("The lighthouse keeper wakes at four", owner="dora")
        assert receipt.outcome == "stored"
        assert mem.get(receipt.memory.id) == receipt.memory
        assert_sound(mem)
    assert_ledger_gapless(path)


@contextmanager
def at_point(words: str) -> Iterator[None]:
    """Say at which of many points an assertion or an operation failed."""
    try:
        yield
    except (AssertionError, RecollectError) as error:
        error.add_note(f"at this point: {words}")
        raise


def spread(total: int, sample: int | None) -> list[int]:
    """The numbers 1 … ``total``, or an even and always equal ``sample`` of them that holds both ends."""
    if sample is None or sample >= total:
        return list(range(1, total + 1))
    return sorted({1 + round(step * (total - 1) / (sample - 1)) for step in range(sample)})
