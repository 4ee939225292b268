"""The page that says what each acceptance test proves names every test there is, and no other."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "acceptance.md"


def test_the_page_names_every_test_and_says_what_it_proves_and_what_not() -> None:
    rows = [
        line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if "| `test_" in line
    ]
    told = {re.findall(r"`(test_\w+)`", row[0])[0]: row[1:] for row in rows}
    files = [file for file in HERE.glob("test_*.py") if file != Path(__file__)]
    written = {name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.M)}
    assert told.keys() == written
    assert all(len(cells) == 2 and all(cells) for cells in told.values()), told
