-- The two kinds of truth (versions and ledger entries), and what is derived from them: the tables of every store, as
-- PostgreSQL has them. Text sorts by code point, whatever language the server speaks.
-- Every primary key begins with the tenant. In a partitioned store the words in /*…*/ after each table take effect.
-- The application's role gets what the store needs and no more: it can add to the ledger, and never change it.

-- What there is to know of the store as a whole: no content, no tenant.
CREATE TABLE store (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);
GRANT SELECT, INSERT ON store TO recollect_app;

-- The unit of order. The owner's name goes when the owner is erased; the uid, which the ledger uses, says nothing.
CREATE TABLE streams (
    tenant      TEXT COLLATE "C" NOT NULL,
    stream      BIGINT NOT NULL,
    uid         TEXT COLLATE "C" NOT NULL,
    namespace   TEXT COLLATE "C" NOT NULL CHECK (namespace IN ('prod', 'test', 'ephemeral')),
    space       TEXT COLLATE "C" NOT NULL CHECK (space IN ('session', 'user', 'project', 'system')),
    owner       TEXT COLLATE "C",
    tick        BIGINT NOT NULL DEFAULT 0,
    last_seq    BIGINT NOT NULL DEFAULT 0,
    last_memory BIGINT NOT NULL DEFAULT 0,
    head        TEXT COLLATE "C" NOT NULL,
    last_at     TEXT COLLATE "C" NOT NULL DEFAULT '',
    documents   BIGINT NOT NULL DEFAULT 0,
    words       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, stream)
) /*PARTITION BY HASH (tenant)*/;
CREATE UNIQUE INDEX streams_by_address ON streams (tenant, namespace, space, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_owner ON streams (tenant, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_space ON streams (tenant, space);
CREATE UNIQUE INDEX streams_by_uid ON streams (tenant, uid);
GRANT SELECT, INSERT, UPDATE ON streams TO recollect_app;

-- Who acted. The uid is a salted commitment to the name, so that history cannot be put under another name, and a name
-- can be erased from it without breaking its chain.
CREATE TABLE actors (
    tenant TEXT COLLATE "C" NOT NULL,
    uid    TEXT COLLATE "C" NOT NULL,
    name   TEXT COLLATE "C",
    salt   BYTEA,
    PRIMARY KEY (tenant, uid),
    CHECK ((name IS NULL) = (salt IS NULL))
) /*PARTITION BY HASH (tenant)*/;
CREATE UNIQUE INDEX actors_by_name ON actors (tenant, name) WHERE name IS NOT NULL;
GRANT SELECT, INSERT, UPDATE (name, salt) ON actors TO recollect_app;

-- Immutable. Body and salt are both null once erased or purged; nothing else ever changes.
CREATE TABLE versions (
    tenant TEXT COLLATE "C" NOT NULL,
    stream BIGINT NOT NULL,
    memory BIGINT NOT NULL,
    id     TEXT COLLATE "C" NOT NULL,
    body   TEXT COLLATE "C",
    salt   BYTEA,
    PRIMARY KEY (tenant, stream, memory),
    CHECK ((body IS NULL) = (salt IS NULL))
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (body, salt) ON versions TO recollect_app;

CREATE TABLE ledger (
    tenant        TEXT COLLATE "C" NOT NULL,
    stream        BIGINT NOT NULL,
    seq           BIGINT NOT NULL,
    tick          BIGINT NOT NULL,
    event         TEXT COLLATE "C" NOT NULL,
    memory_id     TEXT COLLATE "C" NOT NULL,
    other_id      TEXT COLLATE "C",
    from_status   TEXT COLLATE "C",
    to_status     TEXT COLLATE "C",
    rule          TEXT COLLATE "C" NOT NULL,
    rules_version BIGINT NOT NULL,
    commitment    TEXT COLLATE "C",
    actor         TEXT COLLATE "C" NOT NULL,
    at            TEXT COLLATE "C" NOT NULL,
    prev_hash     TEXT COLLATE "C" NOT NULL,
    hash          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, stream, seq)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX ledger_by_memory ON ledger (tenant, memory_id);
CREATE INDEX ledger_by_other ON ledger (tenant, other_id) WHERE other_id IS NOT NULL;
GRANT SELECT, INSERT ON ledger TO recollect_app;

-- The values that an entry brings, committed and erasable like a version.
CREATE TABLE amendments (
    tenant    TEXT COLLATE "C" NOT NULL,
    stream    BIGINT NOT NULL,
    seq       BIGINT NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    body      TEXT COLLATE "C",
    salt      BYTEA,
    PRIMARY KEY (tenant, stream, seq),
    CHECK ((body IS NULL) = (salt IS NULL))
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX amendments_by_memory ON amendments (tenant, memory_id);
GRANT SELECT, INSERT, UPDATE (body, salt) ON amendments TO recollect_app;

-- Derived: the fold of the ledger, with the columns that reads filter by.
CREATE TABLE memories (
    tenant            TEXT COLLATE "C" NOT NULL,
    stream            BIGINT NOT NULL,
    memory            BIGINT NOT NULL,
    id                TEXT COLLATE "C" NOT NULL,
    status            TEXT COLLATE "C" NOT NULL,
    version           BIGINT NOT NULL CHECK (version >= 1),
    supersedes_id     TEXT COLLATE "C",
    superseded_by_id  TEXT COLLATE "C",
    related           TEXT COLLATE "C" NOT NULL,
    conflicts         TEXT COLLATE "C" NOT NULL,
    canonical_key     TEXT COLLATE "C" NOT NULL,
    key_digest        TEXT COLLATE "C" NOT NULL,
    key_identity      TEXT COLLATE "C" NOT NULL,
    pinned            BIGINT NOT NULL,
    importance        BIGINT NOT NULL,
    importance_reason TEXT COLLATE "C" NOT NULL,
    authority         TEXT COLLATE "C" NOT NULL,
    authority_reason  TEXT COLLATE "C" NOT NULL,
    category          TEXT COLLATE "C" NOT NULL,
    tags              TEXT COLLATE "C" NOT NULL,
    reinforcements    BIGINT NOT NULL,
    last_reinforced   TEXT COLLATE "C" NOT NULL,
    last_modified     TEXT COLLATE "C" NOT NULL,
    expires_at        TEXT COLLATE "C",
    expires_at_tick   BIGINT,
    deleted_at        TEXT COLLATE "C",
    purge_at          TEXT COLLATE "C",
    removed           TEXT COLLATE "C",
    created_at        TEXT COLLATE "C",
    scope             TEXT COLLATE "C",
    content_hash      TEXT COLLATE "C",
    kind              TEXT COLLATE "C",
    kind_class        TEXT COLLATE "C",
    event_type        TEXT COLLATE "C",
    layer             TEXT COLLATE "C",
    tier              TEXT COLLATE "C",
    topic_id          TEXT COLLATE "C",
    source            TEXT COLLATE "C",
    user_id           TEXT COLLATE "C",
    agent_id          TEXT COLLATE "C",
    run_id            TEXT COLLATE "C",
    thread_id         TEXT COLLATE "C",
    actor_id          TEXT COLLATE "C",
    role              TEXT COLLATE "C",
    terms             TEXT COLLATE "C",
    PRIMARY KEY (tenant, stream, memory)
) /*PARTITION BY HASH (tenant)*/;
CREATE UNIQUE INDEX memories_by_id ON memories (tenant, id);
-- One concept, one live memory: the database is the arbiter.
CREATE UNIQUE INDEX memories_one_active ON memories (tenant, stream, scope, kind_class, key_identity)
    WHERE status = 'active';
CREATE INDEX memories_by_time ON memories (tenant, created_at, stream, memory);
CREATE INDEX memories_expiring ON memories (tenant, stream, expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;
CREATE INDEX memories_expiring_by_tick ON memories (tenant, stream, expires_at_tick)
    WHERE status = 'active' AND expires_at_tick IS NOT NULL;
CREATE INDEX memories_to_purge ON memories (tenant, stream, purge_at) WHERE purge_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON memories TO recollect_app;

-- Derived: the text index of what is active. A posting's place is its memory's number negated, so that the newest come
-- first; before them all stands a row whose tf counts the term's postings. The index carries the whole row, so that a
-- query reads the index alone.
CREATE TABLE postings (
    tenant TEXT COLLATE "C" NOT NULL,
    stream BIGINT NOT NULL,
    term   TEXT COLLATE "C" NOT NULL,
    place  BIGINT NOT NULL,
    tf     BIGINT NOT NULL,
    length BIGINT NOT NULL,
    PRIMARY KEY (tenant, stream, term, place) INCLUDE (tf, length)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (tf), DELETE ON postings TO recollect_app;

-- Ids that memories had elsewhere.
CREATE TABLE aliases (
    tenant TEXT COLLATE "C" NOT NULL,
    alias  TEXT COLLATE "C" NOT NULL,
    id     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, alias, id)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX aliases_by_id ON aliases (tenant, id);
GRANT SELECT, INSERT, DELETE ON aliases TO recollect_app;

-- Counters of reading: outside ledger, tick and state.
CREATE TABLE accesses (
    tenant TEXT COLLATE "C" NOT NULL,
    id     TEXT COLLATE "C" NOT NULL,
    count  BIGINT NOT NULL,
    last   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (count, last), DELETE ON accesses TO recollect_app;

-- Governance events, each with the policy that was in force, kept once by its hash.
CREATE TABLE policies (
    tenant TEXT COLLATE "C" NOT NULL,
    hash   TEXT COLLATE "C" NOT NULL,
    body   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, hash)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT ON policies TO recollect_app;

-- Numbers come from a sequence: the highest number and one would collide between writers of different streams.
CREATE SEQUENCE trace_numbers;
CREATE TABLE traces (
    tenant    TEXT COLLATE "C" NOT NULL,
    number    BIGINT NOT NULL DEFAULT nextval('recollect.trace_numbers'),
    at        TEXT COLLATE "C" NOT NULL,
    type      TEXT COLLATE "C" NOT NULL,
    stream    BIGINT,
    memory_id TEXT COLLATE "C",
    policy    TEXT COLLATE "C",
    body      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, number)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX traces_by_memory ON traces (tenant, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX traces_by_stream ON traces (tenant, stream) WHERE stream IS NOT NULL;
GRANT SELECT, INSERT, DELETE ON traces TO recollect_app;
GRANT USAGE ON SEQUENCE trace_numbers TO recollect_app;

-- Answers to writes that named an idempotency key, so that a retry is given the same one.
CREATE TABLE retries (
    tenant    TEXT COLLATE "C" NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    digest    TEXT COLLATE "C" NOT NULL,
    salt      BYTEA NOT NULL,
    outcome   TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    reasons   TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, key)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX retries_by_memory ON retries (tenant, memory_id);
GRANT SELECT, INSERT, DELETE ON retries TO recollect_app;

-- What was erased, as opaque ids, so that a restored copy forgets it again. Rows are added and never taken away.
CREATE SEQUENCE erasure_numbers;
CREATE TABLE erasures (
    tenant TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL DEFAULT nextval('recollect.erasure_numbers'),
    what   TEXT COLLATE "C" NOT NULL CHECK (what IN ('memory', 'stream', 'actor')),
    id     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, number)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT ON erasures TO recollect_app;
GRANT USAGE ON SEQUENCE erasure_numbers TO recollect_app;
