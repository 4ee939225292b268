"""Audit a file of another tool's memories by the rules of the gates, without storing anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from recollect.engine.transfer.foreign_files import Named, open_source
from recollect.engine.transfer.importing import Progress
from recollect.engine.write.drafting import bad_input
from recollect.formats.audit_page import page
from recollect.formats.protocol import Foreign
from recollect.formats.registry import find_readable
from recollect.model.canonical import Plain
from recollect.model.policy import Policy
from recollect.model.record import Candidate
from recollect.rules.auditing import Audit, Auditor, show_text


@dataclass(frozen=True, slots=True)
class AuditedFile(Plain):
    """What is in a file of another tool."""

    format: str
    file: str
    found: Audit

    def page(self) -> str:
        """Return the same as a page with charts, which opens anywhere and fetches nothing."""
        return page(self.format, self.file, self.found)


def audit_file(
    policy: Policy,
    format: str,
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    table: str | None = None,
    history: str | Path | None = None,
    progress: Progress | None = None,
) -> AuditedFile:
    """Find duplicates, contradictions, secrets, personal data, test data and noise in a file of any format."""
    known, named = find_readable(format), Named(columns, table, history)
    named.check(path, known)
    auditor = Auditor(policy)
    with open_source(path, known, named) as source:
        for done, record in enumerate(known.read(source), start=1):
            if record.skipped is not None or record.earlier or record.put_away:
                auditor.skip()
            elif record.refused is not None:
                auditor.broken(_locate(record), record.refused)
            else:
                try:
                    auditor.note(_locate(record), Candidate.model_validate(record.fields))
                except ValidationError as error:
                    auditor.broken(_locate(record), str(bad_input(error)))
            if progress is not None:
                progress(done, 0)
        return AuditedFile(known.name, source.name, auditor.report())


def _locate(record: Foreign) -> str:
    """Return a record's number, place and id: a whole export may be one line."""
    named = "" if record.id is None else f", id {show_text(record.id)}"
    return f"record {record.number:,} ({record.place}{named})"
