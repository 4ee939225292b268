-- Operational events: who had what done, when, and how it went. No content, and outside ledger, tick and state.
-- The number tells rows of the same moment apart. What is about a memory bears the time of a ledger entry about it, so the
-- ledger finds it again and no index has to.
CREATE TABLE operations (
    tenant     TEXT COLLATE "C" NOT NULL,
    at         TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    user_id    TEXT COLLATE "C",
    thread_id  TEXT COLLATE "C",
    node       TEXT COLLATE "C" NOT NULL CHECK (node IN ('hotpath', 'context', 'episodic', 'worker')),
    op         TEXT COLLATE "C" NOT NULL
               CHECK (op IN ('classify', 'search', 'create', 'update', 'merge', 'delete', 'link', 'ttl')),
    status     TEXT COLLATE "C" NOT NULL CHECK (status IN ('ok', 'error', 'skipped')),
    memory_id  TEXT COLLATE "C",
    category   TEXT COLLATE "C",
    similarity DOUBLE PRECISION,
    PRIMARY KEY (tenant, at, number)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX operations_by_user ON operations (tenant, user_id, at, number);
CREATE INDEX operations_by_node ON operations (tenant, node, at, number);
GRANT SELECT, INSERT, DELETE ON operations TO recollect_app;
