-- How far each thread has been told what changed. A thread is its reader's own: under another user or agent, the same name is
-- another thread. An empty name is nobody's.

-- One row for each thread. "moves" rises with every move of any of its cursors, "rev" with every change that was shown.
-- Streams above "newest_stream" were made after the thread began. What happened up to "round_until" is shown before the rest.
CREATE TABLE thread_revisions (
    tenant        TEXT    NOT NULL,
    user_id       TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    thread_id     TEXT    NOT NULL,
    rev           INTEGER NOT NULL CHECK (rev >= 0),
    moves         INTEGER NOT NULL CHECK (moves >= 0),
    newest_stream INTEGER NOT NULL,
    round_until   TEXT    NOT NULL,
    PRIMARY KEY (tenant, user_id, agent, thread_id)
) WITHOUT ROWID;

-- Where it stands in one stream: everything up to "seq" is dealt with, and beyond it the entries listed in "shown".
CREATE TABLE cursors (
    tenant    TEXT    NOT NULL,
    user_id   TEXT    NOT NULL,
    agent     TEXT    NOT NULL,
    thread_id TEXT    NOT NULL,
    stream    INTEGER NOT NULL,
    seq       INTEGER NOT NULL CHECK (seq >= 0),
    shown     TEXT    NOT NULL,
    PRIMARY KEY (tenant, user_id, agent, thread_id, stream)
) WITHOUT ROWID;
