"""One run of the command line: how it opens the store, reads and writes files, and answers. And the options they share."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.lazy import lazy
from recollect.model.errors import BadInput, StoreUnavailable
from recollect.model.rendering import visible, visible_json
from recollect.model.vocabulary import Namespace, Space

if TYPE_CHECKING:
    from recollect.interfaces.cli import screen
    from recollect.interfaces.python import Recollect
else:
    (screen,) = lazy("recollect.interfaces.cli", "screen")  # rich takes longer to load than many commands to run

__all__ = ["screen"]


MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Thousands of entries about one memory, at two kilobytes each; no document of ours is larger."""
AN_OBJECT = 'Such as {"name": "value"}.'
PRIVATE = 0o600
"""The mode of new files: only their owner reads and writes them."""

Id = Annotated[str, typer.Argument(help="An id or its first twelve digits, a content hash or a CID.")]
Owner = Annotated[str | None, typer.Option(help="Only this owner's.")]
UserId = Annotated[
    str | None, typer.Option(help="The owner by another name: whose memory it is if --owner is not given.")
]
InSpace = Annotated[Space | None, typer.Option("--space", help="Only this space.")]
InSpaces = Annotated[list[Space] | None, typer.Option("--space", help="Only this space; may be given again.")]
Namespaces = Annotated[
    list[Namespace] | None, typer.Option("--include-namespaces", help="Instead of prod alone; may be given again.")
]
Agent = Annotated[str | None, typer.Option(help="As this agent sees it.")]
Since = Annotated[str | None, typer.Option(help="From this time on, such as 2026-01-31T09:00:00Z.")]
Cursor = Annotated[str | None, typer.Option(help="Continue a page.")]
SignAs = Annotated[str | None, typer.Option(help="Sign with the current key of this agent or person.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(envvar="RECOLLECT_KEY_FILE", help="The private key's file.", show_default="beside the store"),
]
Out = Annotated[str | None, typer.Option(help="Write the document to this file.")]


Draw = Callable[[Any], None] | str
"""How people see an answer: a function that draws it, or the name of one in ``screen``, which is loaded only to draw."""


typed_options: dict[str, str] = {}
"""The global options that were typed, which every command that is offered repeats, so that it can be pasted as it stands."""


def is_typed(context: typer.Context, name: str) -> bool:
    """Return whether an option was typed, and is neither a default nor from the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def note_typed_option(name: str, value: object) -> None:
    """Note a global option that was typed; the last one of a name counts. A URL may hold a password, and is left out."""
    option = f"--{name.replace('_', '-')}"
    typed_options.pop(option, None)
    if isinstance(value, str) and "://" not in value:
        typed_options[option] = value


class IfMissing(Enum):
    """What a command does if the store's file does not exist."""

    REFUSE = auto()
    MAKE = auto()
    PRETEND = auto()
    """Work on an empty store in memory, for a dry run."""


@dataclass(frozen=True, slots=True)
class Session:
    """The global options."""

    store: str | None
    as_json: bool
    policy: str | None
    tenant: str
    as_user: str | None
    as_agent: str | None
    as_session: str | None

    @property
    def location(self) -> str:
        """Where the store is, or will be."""
        from recollect.compose import DEFAULT_STORE

        return self.store or DEFAULT_STORE

    @property
    def policy_in_force(self) -> str:
        """The policy that was named, or the usual one of such a store."""
        from recollect.compose import usual_policy

        return self.policy or usual_policy(self.location)

    @contextmanager
    def memory(self, if_missing: IfMissing = IfMissing.REFUSE) -> Iterator["Recollect"]:
        """Open the store that the options name, for one command. Only commands that bring something in make a new one."""
        from recollect.compose import open as open_memory

        place = self._place(if_missing)
        with _lazy_bar("taking over what a vault wrote") as progress:
            opened = open_memory(place, policy=self.policy_in_force, tenant=self.tenant, progress=progress)
        with opened as memory:
            if self.as_user is None and self.as_agent is None and self.as_session is None:
                yield memory
            else:
                yield memory.as_caller(user=self.as_user, agent=self.as_agent, session=self.as_session)

    def _place(self, if_missing: IfMissing) -> str:
        from recollect.compose import IN_MEMORY, is_missing

        if if_missing is IfMissing.MAKE or not is_missing(self.location):
            return self.location
        if if_missing is IfMissing.PRETEND:
            return IN_MEMORY
        hint = "Check the path (--store or RECOLLECT_STORE); `recollect add` makes a store where none is."
        raise StoreUnavailable("there is no store.", field=str(Path(self.location).absolute()), hint=hint)

    def answer(self, value: Any, draw: Draw) -> None:
        """Print the value: as JSON if asked, else drawn for people."""
        from recollect.model.canonical import to_json_values

        if self.as_json:
            print(visible_json(json.dumps(to_json_values(value), ensure_ascii=False, indent=2, sort_keys=True)))
        else:
            (getattr(screen, f"draw_{draw}") if isinstance(draw, str) else draw)(value)

    def tell(self, line: str) -> None:
        """Print a remark for people on the error stream."""
        if not self.as_json:
            screen.errors.print(line, markup=False, soft_wrap=True)

    def tell_written(self, file: str | None) -> None:
        """Tell people which file was written, if one was."""
        if file is not None and not self.as_json:
            size = Path(file).stat().st_size
            screen.say_plain(f"written to {file}, {size:,} bytes")


def expect_few_texts() -> None:
    """Start numpy without threads: they take as long as the rest of it, and pay only where many texts are embedded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def get_session(context: typer.Context) -> Session:
    """Return the session of a command."""
    session = context.find_object(Session)
    assert session is not None, "the callback sets the session"
    return session


def calls(
    method: str,
    draw: Draw,
    *,
    if_missing: IfMissing = IfMissing.REFUSE,
    opened: "Callable[[Session, dict[str, Any]], AbstractContextManager[Any]] | None" = None,
    progress: str | None = None,
    name: str | None = None,
    exit_code: Callable[[Any], int] = lambda answer: 0,
) -> Callable[[Callable[..., None]], Callable[..., int]]:
    """Make a command of a function that only declares options: call the method of that name, and draw its answer.

    The method of :class:`recollect.Recollect` gets the options that were given, each under its own name; with the title of a
    bar, it also gets a ``progress`` function that draws it. ``opened`` opens something other than the store, such as a vault,
    and may take options out of the mapping. ``name`` is the key of an answer that is a bare number.
    """

    def decorate(declared: Callable[..., None]) -> Callable[..., int]:
        @wraps(declared)
        def run(context: typer.Context, **options: Any) -> int:
            session = get_session(context)
            if progress is None:
                expect_few_texts()
            with ExitStack() as stack:
                memory = stack.enter_context(opened(session, options) if opened else session.memory(if_missing))
                if progress is not None:
                    options["progress"] = stack.enter_context(screen.progress(progress))
                answer = getattr(memory, method)(**drop_missing(**options))
            session.answer(answer if name is None else {name: answer}, draw)
            return exit_code(answer)

        options = inspect.signature(declared).parameters.values()
        context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        run.__signature__ = inspect.Signature([context, *options])  # type: ignore[attr-defined]
        run.__annotations__ = {"context": typer.Context, **declared.__annotations__}
        return run

    return decorate


@contextmanager
def _lazy_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Draw a progress bar as soon as there is progress: most commands have none."""
    with ExitStack() as stack:
        bars: list[Callable[[int, int], None]] = []

        def tell(done: int, total: int) -> None:
            if not bars:
                bars.append(stack.enter_context(screen.progress(title)))
            bars[0](done, total)

        yield tell


def drop_missing(**options: Any) -> dict[str, Any]:
    """Return the options that were given. An option that is missing is ``None``, or an empty list if it may be repeated."""
    return {name: value for name, value in options.items() if value is not None and value != []}


def split_pairs(option: str, options: list[str] | None) -> Iterator[tuple[str, str]]:
    """Yield the pairs of ``name=text`` options, in order."""
    for one in options or ():
        name, sign, text = one.partition("=")
        if not sign or not name:
            raise BadInput(f"{one!r} is not name=value.", field=option, hint=f"Write --{option} NAME=VALUE.")
        yield name, text


def read_argument(argument: str) -> str:
    """Return an argument's text; ``-`` reads it from standard input."""
    return sys.stdin.read().rstrip("\n") if argument == "-" else argument


def write_out(text: str) -> None:
    """Write an export to standard output: exactly as it is into a pipe or a file, and visible on a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def require_new_file(file: str) -> None:
    """Refuse to overwrite evidence that somebody keeps: the old file may be the only proof."""
    if Path(file).exists():
        raise BadInput("is there already.", field=file, hint="Keep it, and name a file that is not there.")


def read_text(file: str) -> str:
    """Return the text of a file, or of standard input for ``-``, up to a limit."""
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise BadInput(f"it cannot be read: {error.strerror}.", field=file) from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise BadInput(f"it is larger than {MAX_DOCUMENT_BYTES // 2**20} MB.", field=file)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not UTF-8 at byte {error.start}.", field=file) from None


def parse_json(field: str, text: str) -> Any:
    """Return a JSON text as a value; an error names the option or the place that it is from."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadInput(f"is not JSON: {why}.", field=field, hint=AN_OBJECT) from None


def check_object(field: str, value: Any) -> dict[str, Any]:
    """Return a value that is a JSON object, or raise an error that names where it is from."""
    if not isinstance(value, dict):
        raise BadInput("must be a JSON object.", field=field, hint=AN_OBJECT)
    return value


def write_json(values: dict[str, Any], file: str | None) -> None:
    """Write a document to a file, which only its owner reads if it is a new one, or to standard output."""
    text = json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    if file is None:
        write_out(text)
        return
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE)
        with os.fdopen(number, "w", encoding="utf-8") as written:
            written.write(text)
    except OSError as error:
        raise BadInput(f"it cannot be written: {error.strerror}.", field=file) from None
