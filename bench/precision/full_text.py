"""The cases asked of SQLite's FTS5 as most people would use it: names and words of each belief in one text."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing

from precision.cases import Belief, Case
from precision.scoring import Answer
from precision.stored import TOP_K
from recall.rankers import QUERIES
from recollect.rules.language.text import STOP_WORDS, words


def answers_from_full_text(cases: Sequence[Case], *, narrowed: bool) -> list[Answer]:
    """Every case; ``narrowed`` to what is the user's, in the case's scopes, and not told anyway."""
    return [Answer(case, _brought_up(case, narrowed)) for case in cases]


def _brought_up(case: Case, narrowed: bool) -> tuple[str, ...]:
    beliefs = [belief for belief in case.beliefs if not narrowed or _is_in_question(belief, case)]
    asked = [word for word in dict.fromkeys(words(case.text)) if word not in STOP_WORDS]
    most = TOP_K if case.budget is None else case.budget
    if not asked or most < 1:
        return ()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(QUERIES["make"])
        connection.executemany(QUERIES["insert"], [(n, _text(belief)) for n, belief in enumerate(beliefs)])
        match = " OR ".join(f'"{word}"' for word in asked)
        return tuple(beliefs[number].id for (number,) in connection.execute(QUERIES["search"], (match, most)))


def _is_in_question(belief: Belief, case: Case) -> bool:
    return belief.user == case.user and belief.scope in case.scopes and belief.is_asked_for


def _text(belief: Belief) -> str:
    return "\n".join((belief.name.replace("_", " "), *belief.aliases, belief.content))
