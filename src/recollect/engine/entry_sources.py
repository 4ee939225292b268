"""Where entries are read from: an open file, the path of one, or lines that a program has."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from recollect.formats.entry_files import Readable
from recollect.model.errors import BadInput

_HINT = "Give the path of a file, an open file, or lines of text."


@contextmanager
def opened(given: Readable | str | Path | Iterable[str]) -> Iterator[Readable]:
    """What was given, as an open file. Bytes that are no UTF-8 are told where they stand, so they are let through here."""
    if isinstance(given, str | Path):
        with ExitStack() as stack:
            try:
                stream = stack.enter_context(Path(given).open(encoding="utf-8", errors="surrogateescape", newline=""))
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or "it is not a path"
                raise BadInput(f"cannot be read: {why}.", field=str(given)[:200], hint=_HINT) from None
            yield stream
    elif isinstance(given, Readable):
        yield given
    elif isinstance(given, Iterable) and not isinstance(given, bytes):
        yield _Lines(given)
    else:
        raise BadInput("must be a file or lines.", field="given", hint=_HINT)


class _Lines:
    """Lines as an open file, each with its end; nothing is held but one of them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = enumerate(lines, start=1)

    def read(self, size: int = -1, /) -> str:
        number, line = next(self._lines, (0, ""))
        if not isinstance(line, str):
            raise BadInput("is not text.", field=f"line {number}", hint="Give one entry a line, as text.")
        return line if line.endswith("\n") or not number else f"{line}\n"

    def readline(self, size: int = -1, /) -> str:
        return self.read(size)
