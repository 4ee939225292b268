"""The composition root: the one place that builds an engine from configuration."""

import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.embed import Embedder, embedder_named
from recollect.engine.arguments import check_path
from recollect.engine.context import (
    AccessCounter,
    Clock,
    Engine,
    PolicyInForce,
    Randomness,
    SystemRandomness,
    check_caller,
    fresh_uuid,
    system_clock,
)
from recollect.engine.read.meaning import Meanings, settings_of
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python import Recollect
from recollect.model.caller import Caller
from recollect.model.errors import BadInput, StoreCorrupt, StoreError, StoreUnavailable, how_to_install
from recollect.model.policy import Embedding, Policy
from recollect.policies import load_policy
from recollect.stores.protocol import MIGRATING_FROM, Store

if TYPE_CHECKING:
    from recollect import adopting
    from recollect.adopting import Progress
    from recollect.engine.ledger import audit
    from recollect.engine.lifecycle import changes, erasure
    from recollect.engine.transfer import migration
    from recollect.stores import journal, sqlite
else:  # most of them are for stores and situations that are rarer than a file that is whole
    (adopting,) = lazy("recollect", "adopting")
    (audit,) = lazy("recollect.engine.ledger", "audit")
    changes, erasure = lazy("recollect.engine.lifecycle", "changes erasure")
    (migration,) = lazy("recollect.engine.transfer", "migration")
    journal, sqlite = lazy("recollect.stores", "journal sqlite")

DEFAULT_STORE = "recollect.db"
IN_MEMORY = ":memory:"
VAULT = ".jsonl"
"""How the name of a vault's file ends."""
POSTGRES = ("postgresql", "postgres")
MEANT_FOR_A_SERVER = re.compile(r"postgres(ql)?:|\s*(host|hostaddr|port|dbname|user|password|service)\s*=")
"""Names that no file has: a URL that lacks a slash, or the other form in which PostgreSQL's programs take a place."""


def open(
    location: str | Path | None = None,
    *,
    policy: str | Path | dict[str, Any] | Policy | None = None,
    tenant: str = "default",
    clock: Clock = system_clock,
    randomness: Randomness | None = None,
    embedder: str | Embedder | None = None,
    timeout_s: float = 30.0,
    progress: "Progress | None" = None,
) -> Recollect:
    """Open a store. ``location`` is a file, made if it is not there (a vault's file if its name ends in ``.jsonl``), a
    ``postgresql://`` URL, or ``:memory:`` for a store that is gone when closed. Without it, it is ``RECOLLECT_STORE`` or
    ``recollect.db``.

    ``policy`` is a preset's name, a YAML file or plain values; without it the preset is ``vault`` for a vault's file and
    ``default`` otherwise. ``embedder`` is a name (``static``, ``none``, ``minilm``, or ``openai``, which the policy describes)
    or an object of your own; without it, the embedder that made the store's vectors. ``timeout_s`` bounds every wait for the
    store. ``clock`` and ``randomness`` are for tests and replays. The first opening of a long vault's file takes over its
    memories, and calls ``progress(done, total)`` meanwhile.

    >>> import recollect
    >>> with recollect.open(":memory:") as mem:
    ...     mem.add("Ana prefers dark mode", owner="ana").outcome.value
    'stored'
    """
    randomness = randomness or SystemRandomness()
    where = location or os.environ.get("RECOLLECT_STORE") or DEFAULT_STORE
    in_force = PolicyInForce(load_policy(usual_policy(where) if policy is None else policy))
    caller = Caller(tenant=tenant)
    check_caller(caller, in_force.policy.privacy)
    chosen = choose_embedder(embedder, in_force.policy.embedder)
    store = open_store(where, fresh_uuid(randomness), timeout_s)
    meanings = Meanings(chosen, in_force.policy.recall.vectors_at_hand)
    counter = AccessCounter(store)
    engine = Engine(
        store,
        in_force,
        clock,
        randomness,
        counter,
        meanings,
        caller,
        diagnose=lambda reading: audit.find_damage(reading),
    )
    try:
        if not _UUID.fullmatch(store.store_id):
            raise StoreCorrupt(
                "its id is damaged.", field=store.location, hint="Ids are derived from it. Restore a backup."
            )
        if store.value(MIGRATING_FROM) is not None:
            migration.refuse_unfinished(store)
        _finish_erasures(engine)
        if store.scrub_due():
            changes.scrub_files(engine)
        if _is_vault(where):
            assert isinstance(store, journal.JournalStore)
            adopting.adopt_vault(engine, store, progress)
    except BaseException:
        store.close()
        raise
    return Recollect(engine)


_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _finish_erasures(engine: Engine) -> None:
    """Carry out every erasure that the list of erasures notes. Until then the store would show what was erased."""
    try:
        if engine.store.erasures() or engine.store.erasures(engine.tenant):
            erasure.replay_erasures(engine)
    except StoreError as error:
        error.add_hint(
            "An erasure that was noted has to be carried out before the store opens: see to the disk, then open it again."
        )
        raise


def usual_policy(location: str | Path) -> str:
    """Return the preset that applies if none is named: what a vault refuses, a store on its file refuses as well."""
    return "vault" if _is_vault(location) else "default"


def _is_vault(location: str | Path) -> bool:
    return str(location).endswith(VAULT) and not is_url(location)


def choose_embedder(embedder: str | Embedder | None, settings: Embedding) -> Embedder | None:
    """Return the embedder that the caller chose, by name or object; ``None`` leaves it to the policy and the store."""
    if isinstance(embedder, str):
        return embedder_named(replace(settings_of(settings), name=embedder))
    return embedder


def is_url(location: str | Path) -> bool:
    """Return whether a location names a server rather than a file."""
    return "://" in str(location)


def _open_postgres(url: str, fresh_store_id: str, timeout_s: float) -> Store:
    scheme = url.split("://", 1)[0]
    if scheme not in POSTGRES:
        raise BadInput(
            f"there is no store for {scheme}://.",
            field="store",
            hint="Name a file, such as memory.db, or postgresql://…",
        )
    try:
        from recollect.stores.postgres import PostgresStore
    except ModuleNotFoundError as missing:
        raise StoreUnavailable(
            f"the package {missing.name} is not installed.", hint=how_to_install("postgres")
        ) from missing
    return PostgresStore(url, fresh_store_id=fresh_store_id, timeout_s=timeout_s)


def is_missing(location: str | Path) -> bool:
    """Return whether a location names a file that does not exist: opening it would make a new store."""
    check_path("store", location)
    elsewhere = is_url(location) or str(location) == IN_MEMORY or MEANT_FOR_A_SERVER.match(str(location))
    with suppress(OSError):  # opening it says what is wrong with such a path
        return not elsewhere and not Path(location).exists()
    return False


def open_store(location: str | Path, fresh_store_id: str, timeout_s: float) -> Store:
    """Open the store that a location names. ``fresh_store_id`` becomes the identity of a new store."""
    check_path("store", location)
    if is_url(location):
        return _open_postgres(str(location), fresh_store_id, timeout_s)
    if MEANT_FOR_A_SERVER.match(str(location)):
        raise BadInput("is neither a file nor a URL.", field="store", hint="Write postgresql://user@host/database.")
    if _is_vault(location):
        return journal.JournalStore(location, fresh_store_id=fresh_store_id, timeout_s=timeout_s)
    return sqlite.SqliteStore(location, fresh_store_id=fresh_store_id, timeout_s=timeout_s)
