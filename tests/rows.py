"""Tables of cases that one test goes through, for rules that take microseconds."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def every_row(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test once for each row and fail with all rows that failed, each with its values.

    It takes the names and rows of ``pytest.mark.parametrize`` and makes one case of them. Fixtures are shared by all rows, so
    it fits where a row leaves nothing behind.
    """
    fields = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    table = [(row,) if len(fields) == 1 else tuple(row) for row in rows]
    assert table, "a table without rows tests nothing"

    def fold(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_rows(*self: Any, **fixtures: Any) -> None:
            failures: list[Exception] = []
            for row in table:
                try:
                    test(*self, **dict(zip(fields, row, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - raised again below, with all others
                    error = failure if isinstance(failure, Exception) else AssertionError(str(failure))
                    error.add_note(f"in the row {dict(zip(fields, row, strict=True))!r}")
                    failures.append(error)
            if failures:  # pytest shows the first fifteen in full, so the message names them all
                rows = "".join(f"\n  {failure.__notes__[-1]}" for failure in failures)
                raise ExceptionGroup(f"{len(failures)} of {len(table)} rows failed:{rows}\n", failures)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in fields]
        all_rows.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return all_rows

    return fold
