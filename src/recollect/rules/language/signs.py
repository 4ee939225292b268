"""Words by which a speaker says that something is being corrected, or that time has moved on."""

from recollect.rules.language.marks import Case, Mark
from recollect.rules.language.text import words

_OPENS_A_CORRECTION = ("actually", "correction", "sorry", "oops", "wait", "rather")
_SAYS_CORRECTION = (
    "actually",
    "i meant",
    "i misspoke",
    "my mistake",
    "i was wrong",
    "that was wrong",
    "that is wrong",
    "thats wrong",
    "was a typo",
    "scratch that",
    "should have said",
)

_POINTS_TO_NOW = ("now", "nowadays", "currently", "at the moment", "these days", "as of", "going forward")
_TELLS_OF_CHANGE = (
    "anymore",
    "any more",
    "changed to",
    "changed from",
    "switched to",
    "switched from",
    "switching to",
    "moved to",
    "moved from",
    "moving to",
    "moves to",
    "went from",
    "became",
    "becomes",
    "has become",
    "renamed",
    "upgraded",
    "downgraded",
    "migrated",
    "replaced",
    "promoted",
    "updated to",
    "extended to",
    "postponed",
    "rescheduled",
    "stopped",
    "quit",
    "retired",
    "joined",
    "got married",
    "got divorced",
    "turned",
    "recently",
    "starting",
    "my new",
    "our new",
    "the new",
    "his new",
    "her new",
    "their new",
)
_NOT_A_POINT_IN_TIME = ("now and then", "every now and", "until now", "now that")
_TENSES_OF_CHANGE = frozenset({"will", "going-to", "no-longer", "used-to"})


def _padded(text: str) -> str:
    """The words between blanks, so that a phrase is found only as whole words."""
    return f" {' '.join(words(text))} "


def says_correction(text: str) -> bool:
    """Whether a text says that it corrects something.

    >>> says_correction("No, I meant Tuesday"), says_correction("No emojis")
    (True, False)
    """
    said = _padded(text)
    if any(f" {phrase} " in said for phrase in _SAYS_CORRECTION):
        return True
    opens = text.lstrip().casefold()
    return opens.startswith("no,") or any(said.startswith(f" {word} ") for word in _OPENS_A_CORRECTION)


def says_time_moved_on(old: str, new: str, new_marks: tuple[Mark, ...]) -> bool:
    """Whether the new text says that things have changed.

    "Now" in it always counts; "moved to" only if the old text did not say it as well.
    """
    before, after = _padded(old), _padded(new)
    for phrase in _NOT_A_POINT_IN_TIME:
        after = after.replace(f" {phrase} ", " ")
    if any(f" {phrase} " in after for phrase in _POINTS_TO_NOW):
        return True
    return _has_tense_of_change(before, new_marks) or any(
        f" {phrase} " in after and f" {phrase} " not in before for phrase in _TELLS_OF_CHANGE
    )


def _has_tense_of_change(before: str, new_marks: tuple[Mark, ...]) -> bool:
    """ "no longer", "used to", "will": unless the old text has it too, or it is someone called Will."""
    return any(
        mark.key in _TENSES_OF_CHANGE
        and mark.case in {Case.LOWER, Case.NONE}
        and f" {mark.key.replace('-', ' ')} " not in before
        for mark in new_marks
    )
