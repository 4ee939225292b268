-- How far each thread has been told what changed. A thread is its reader's own: under another user or agent, the same name is
-- another thread. An empty name is nobody's.

-- One row for each thread. "moves" rises with every move of any of its cursors, "rev" with every change that was shown.
-- Streams above "newest_stream" were made after the thread began. What happened up to "round_until" is shown before the rest.
CREATE TABLE thread_revisions (
    tenant        TEXT COLLATE "C" NOT NULL,
    user_id       TEXT COLLATE "C" NOT NULL,
    agent         TEXT COLLATE "C" NOT NULL,
    thread_id     TEXT COLLATE "C" NOT NULL,
    rev           BIGINT NOT NULL CHECK (rev >= 0),
    moves         BIGINT NOT NULL CHECK (moves >= 0),
    newest_stream BIGINT NOT NULL,
    round_until   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, user_id, agent, thread_id)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (rev, moves, round_until), DELETE ON thread_revisions TO recollect_app;

-- Where it stands in one stream: everything up to "seq" is dealt with, and beyond it the entries listed in "shown".
CREATE TABLE cursors (
    tenant    TEXT COLLATE "C" NOT NULL,
    user_id   TEXT COLLATE "C" NOT NULL,
    agent     TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    stream    BIGINT NOT NULL,
    seq       BIGINT NOT NULL CHECK (seq >= 0),
    shown     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, user_id, agent, thread_id, stream)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (seq, shown), DELETE ON cursors TO recollect_app;
