"""One run of the command line: how to open the memory, and how to answer."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreUnavailable
from recollect.model.rendering import visible, visible_json

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect


UserId = Annotated[
    str | None, typer.Option(help="The owner by another name: whose memory it is if --owner is not given.")
]


class IfMissing(Enum):
    """What becomes of a command whose store's file is not there."""

    REFUSE = auto()
    MAKE = auto()
    PRETEND = auto()
    """As if an empty one were there, for a dry run."""


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
        """The policy that was named, or the one that goes with the store, be it there or not."""
        from recollect.compose import usual_policy

        return self.policy or usual_policy(self.location)

    @contextmanager
    def memory(self, if_missing: IfMissing = IfMissing.REFUSE) -> Iterator["Recollect"]:
        """The memory that the options name, open for one command. Only what brings something in makes a new store."""
        from recollect.compose import open as open_memory

        place = self._place(if_missing)
        with _bar_if_needed("taking over what a vault wrote") as progress:
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
        raise StoreUnavailable(
            "there is no store.",
            field=str(Path(self.location).absolute()),
            hint="Check the path (--store or RECOLLECT_STORE); `recollect add` makes a store where none is.",
        )

    def answer(self, value: Any, draw: Callable[[Any], None]) -> None:
        """Print the value: as JSON if asked, else drawn for people."""
        if self.as_json:
            plain = json.loads(canonical_json(_plain(value)))
            print(visible_json(json.dumps(plain, ensure_ascii=False, indent=2, sort_keys=True)))
        else:
            draw(value)

    def tell(self, line: str) -> None:
        """Say something beside the answer, to people: on the error stream, since the other is for documents."""
        from recollect.interfaces.cli import screen

        if not self.as_json:
            screen.errors.print(line, markup=False, soft_wrap=True)

    def tell_written(self, file: str | None) -> None:
        """Say to people which file was written, if one was."""
        from recollect.interfaces.cli import screen

        if file is not None and not self.as_json:
            size = Path(file).stat().st_size
            screen.console.print(f"written to {file}, {size:,} bytes", markup=False, soft_wrap=True)


def write_out(text: str) -> None:
    """Write an export to standard output: exactly as it is into a pipe or a file, and visible on a terminal."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


@contextmanager
def _bar_if_needed(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar that is drawn when there is something to tell: most commands have nothing."""
    with ExitStack() as stack:
        bars: list[Callable[[int, int], None]] = []

        def tell(done: int, total: int) -> None:
            if not bars:
                from recollect.interfaces.cli import screen

                bars.append(stack.enter_context(screen.progress(title)))
            bars[0](done, total)

        yield tell


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def of(context: typer.Context) -> Session:
    """The session of a command."""
    session = context.find_object(Session)
    assert session is not None, "the callback sets the session"
    return session
