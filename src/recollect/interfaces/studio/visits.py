"""One request as a page's function sees it, and what such a function may answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from recollect.interfaces.python import Recollect
from recollect.interfaces.studio.sessions import Session
from recollect.model.caller import Right


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who is signed in."""

    session: Session
    asked: Mapping[str, str]
    """The query of the address, or the fields of the form."""
    place: Mapping[str, str] = field(default_factory=dict)
    """What the address names, such as the id of a memory."""

    @property
    def memory(self) -> Recollect:
        """The memory as the person may see it."""
        return self.session.memory

    def may(self, right: Right) -> bool:
        """Return whether the person has a right."""
        return self.memory.caller.may(right)

    def text(self, name: str) -> str | None:
        """Return what was given under a name, without blanks around it; nothing if it is empty."""
        return self.asked.get(name, "").strip() or None

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number within bounds; the default for whatever is none."""
        text = self.asked.get(name, "").strip()
        return min(high, max(low, int(text))) if text.isascii() and text.isdecimal() and len(text) < 10 else default


class Page(NamedTuple):
    """A page to draw: its template, and what stands in it."""

    template: str
    values: dict[str, Any]


class Goto(NamedTuple):
    """Go on to another page of Studio; the path begins with a slash."""

    path: str


class Document(NamedTuple):
    """A document to keep."""

    name: str
    values: dict[str, Any]


class Figures(NamedTuple):
    """Figures for the script of a page."""

    values: dict[str, Any]


Answer = Page | Goto | Document | Figures
Handler = Callable[[Visit], Answer]


def split_address(text: str) -> SplitResult:
    """Return the parts of an address that somebody sent; of one that makes no sense there are none.

    >>> split_address("http://[::1").hostname is None
    True
    """
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")
