"""Moving in and out, as methods: import a file or lines, export to a format, and audit a file without importing it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.engine.arguments import check_flags, owner_named
from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.engine.transfer import exporting, foreign_audit, importing
from recollect.engine.transfer.exporting import LeftOut
from recollect.engine.transfer.foreign_audit import AuditedFile
from recollect.engine.transfer.foreign_files import Beside
from recollect.engine.transfer.importing import Each, ImportReport, Progress
from recollect.model.errors import BadInput


class FilesDoor:
    """Methods of :class:`recollect.Recollect`."""

    _engine: Engine

    @traced
    def import_file(
        self,
        format: str,
        path: str | Path,
        *,
        dry_run: bool = False,
        columns: Mapping[str, str] | None = None,
        table: str | None = None,
        history: str | Path | None = None,
        progress: Progress | None = None,
        each: Each | None = None,
        believe: Iterable[str] = (),
        **options: Any,
    ) -> ImportReport:
        """Bring a file of another tool in, each record through the gates; ``dry_run`` only says what would happen.

        ``path`` may also be the URL of a PostgreSQL server on which mem0 or LangGraph keeps its memories, in the ``table``
        of that name. ``history`` is mem0's ``history.db``, if it does not lie in the folder.
        ``options`` are the owner (or ``user_id``), space, namespace, scope and category of all records, whatever
        they say. What the file says of its own standing is a claim in ``meta.claimed``, and granted only where it is to be
        believed: ``believe="place"`` (owner, space), ``believe="weight"`` (authority, source, canon, pins, the highest
        importance), or both. Running it again goes on where it stopped.
        """
        check_flags(dry_run=dry_run)
        return importing.import_file(
            self._engine,
            format,
            path,
            dry_run=dry_run,
            columns=columns,
            beside=_beside(table, history),
            options=options,
            believe=believe,
            progress=progress,
            each=each,
        )

    @traced
    def import_(
        self, lines: Iterable[str], *, format: str = "recollect", believe: Iterable[str] = (), **options: Any
    ) -> ImportReport:
        """Bring in what a program has as lines of text: what ``export`` wrote, or any other ``format`` that has lines.

        Each record goes through the gates, as with ``import_file``, and giving the same lines again changes nothing:
        they are ``already_there``. A line that is no record is an error that names it, and then nothing is stored. ``options``
        and ``believe`` are those of ``import_file``.

        >>> import recollect
        >>> with recollect.open(":memory:") as mem:
        ...     mem.import_(['{"content": "Ana likes tea"}']).outcomes
        {'stored': 1}
        """
        return importing.import_lines(self._engine, format, lines, options, believe)

    @traced
    def export(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        space: str | None = None,
        include_namespaces: Sequence[str] = ("prod",),
        status: str | Sequence[str] | None = "active",
        **unknown: Any,
    ) -> Iterator[str]:
        """Memories as lines of canonical JSON, newest first; what is active in ``prod`` unless asked otherwise.

        With an ``owner`` it is that person's record, which what they said in sessions belongs to; it is whole with
        ``status=None`` and every namespace. It is ``export_as("recollect")`` without the ends of the lines.
        """
        for name in unknown:
            raise BadInput(
                "there is no such choice.", field=name, hint="Known: owner, user_id, space, include_namespaces, status."
            )
        return exporting.export_lines(
            self._engine,
            owner=owner_named(owner, user_id),
            space=space,
            include_namespaces=include_namespaces,
            status=status,
        )

    @traced
    def export_as(
        self,
        format: str,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        space: str | None = None,
        include_namespaces: Sequence[str] = ("prod",),
        status: str | Sequence[str] | None = "active",
        include_private: bool = False,
        left_out: LeftOut | None = None,
    ) -> Iterator[str]:
        """The text of a file of that format, piece by piece; what is active in ``prod`` unless asked otherwise.

        ``mcp-memory`` cannot say who may see a memory: one that is not shared stays out of it, and ``left_out`` is called
        with it, unless you ``include_private`` ones. Every other format says it.
        """
        check_flags(include_private=include_private)
        return exporting.export_as(
            self._engine,
            format,
            owner=owner_named(owner, user_id),
            space=space,
            include_namespaces=include_namespaces,
            status=status,
            include_private=include_private,
            left_out=left_out,
        )

    @traced
    def audit_file(
        self,
        format: str,
        path: str | Path,
        *,
        columns: Mapping[str, str] | None = None,
        table: str | None = None,
        history: str | Path | None = None,
        progress: Progress | None = None,
    ) -> AuditedFile:
        """What is wrong with the memories in a file, by this memory's policy. Nothing is imported."""
        beside = _beside(table, history)
        return foreign_audit.audit_file(
            self._engine.policy, format, path, columns=columns, beside=beside, progress=progress
        )


def _beside(table: str | None, history: str | Path | None) -> Beside:
    return Beside(table, Path(history) if history is not None else None)
