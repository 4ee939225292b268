"""Who is signed in: one-time links, keys, session cookies, and the token that every change has to carry."""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recollect.interfaces.python import Recollect

COOKIE = "recollect_studio"
TOKEN_BYTES = 32
IDLE_S = 8 * 3600.0
"""How long a session lives after its last request."""
LINK_S = 900.0
"""How long a one-time link waits to be opened."""
MAX_SESSIONS = 256
"""The session that was idle longest ends when one more begins."""

KeyCheck = Callable[[str], Recollect | None]
"""Returns the memory as the holder of a key may see it; ``None`` if it is no key."""


@dataclass(slots=True)
class Session:
    """One person's visit: the memory as they may see it, and what the next page is to tell them."""

    memory: Recollect
    key: str | None = None
    """The key that they signed in with, which has to count at each request."""
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    used_at: float = 0.0
    notices: list[tuple[str, str]] = field(default_factory=list)
    verifying: Any = None
    """The verification that they began last."""
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Documents that were made for them and can be downloaded while the session lasts, by name."""

    def tell(self, words: str, *, failed: bool = False) -> None:
        """Show a sentence on the next page."""
        self.notices.append(("failed" if failed else "done", words))

    def take_notices(self) -> list[tuple[str, str]]:
        """Return what the next page is to tell, once."""
        notices, self.notices = self.notices, []
        return notices

    def carries(self, token: str) -> bool:
        """Return whether a form came from one of this session's pages; the token is compared in constant time."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.csrf.encode())


class Doorkeeper:
    """Lets people in: by a link that opens once, or by a key. Everything is kept in this process alone."""

    def __init__(self, check_key: KeyCheck | None = None) -> None:
        self._check_key = check_key
        self._links: dict[str, tuple[Recollect, float]] = {}
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    @property
    def takes_keys(self) -> bool:
        """Whether one can sign in with a key."""
        return self._check_key is not None

    def new_link(self, memory: Recollect) -> str:
        """Return a token that opens one session on this memory, once and soon."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._links[token] = (memory, time.monotonic() + LINK_S)
        return token

    def enter_by_link(self, token: str) -> str | None:
        """Return the cookie of a new session, or nothing if the link was used, is over, or is none."""
        with self._lock:
            memory, until = self._links.pop(token, (None, 0.0))
        return self._begin_session(memory) if memory is not None and time.monotonic() < until else None

    def enter_by_key(self, key: str) -> str | None:
        """Return the cookie of a new session for the holder of a key; ``None`` if it is no key."""
        memory = self._check_key(key) if self._check_key is not None else None
        return self._begin_session(memory, key) if memory is not None else None

    def session(self, cookie: str) -> Session | None:
        """Return the session of a cookie, or nothing if it ended: it was left, was idle, or its key was revoked."""
        now = time.monotonic()
        with self._lock:
            found = self._sessions.get(cookie)
        if found is None:
            return None
        if now - found.used_at > IDLE_S or not self._refresh_key(found):
            self.leave(cookie)
            return None
        found.used_at = now
        return found

    def _refresh_key(self, session: Session) -> bool:
        """Look the key of a session up again; what it may see now is what the session sees."""
        if session.key is None or self._check_key is None:
            return session.key is None
        memory = self._check_key(session.key)
        if memory is not None:
            session.memory = memory
        return memory is not None

    def leave(self, cookie: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(cookie, None)

    def _begin_session(self, memory: Recollect, key: str | None = None) -> str:
        cookie = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            if len(self._sessions) >= MAX_SESSIONS:
                del self._sessions[min(self._sessions, key=lambda one: self._sessions[one].used_at)]
            self._sessions[cookie] = Session(memory, key, used_at=time.monotonic())
        return cookie
