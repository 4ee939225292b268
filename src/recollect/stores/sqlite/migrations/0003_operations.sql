-- Operational events: who had what done, when, and how it went. No content, and outside ledger, tick and state.
-- The number tells rows of the same moment apart. What is about a memory bears the time of a ledger entry about it, so the
-- ledger finds it again and no index has to. A list of alternatives is checked word by word, since SQLite would
-- build a table for IN (…) at every row, which took as long as writing it.

CREATE TABLE operations (
    tenant     TEXT    NOT NULL,
    at         TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    user_id    TEXT,
    thread_id  TEXT,
    node       TEXT    NOT NULL CHECK (node = 'hotpath' OR node = 'context' OR node = 'episodic' OR node = 'worker'),
    op         TEXT    NOT NULL CHECK (op = 'classify' OR op = 'search' OR op = 'create' OR op = 'update'
                                       OR op = 'merge' OR op = 'delete' OR op = 'link' OR op = 'ttl'),
    status     TEXT    NOT NULL CHECK (status = 'ok' OR status = 'error' OR status = 'skipped'),
    memory_id  TEXT,
    category   TEXT,
    similarity REAL,
    PRIMARY KEY (tenant, at, number)
) WITHOUT ROWID;
CREATE INDEX operations_by_user ON operations (tenant, user_id, at);
CREATE INDEX operations_by_node ON operations (tenant, node, at);
