-- The two kinds of truth (versions and ledger entries), and what is derived from them.
-- Every primary key begins with the tenant; a stream is known inside the store by its number, outside by its uid.

CREATE TABLE store (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The unit of order. The owner's name goes when the owner is erased; the uid, which the ledger uses, says nothing.
CREATE TABLE streams (
    tenant      TEXT    NOT NULL,
    stream      INTEGER NOT NULL,
    uid         TEXT    NOT NULL,
    namespace   TEXT    NOT NULL CHECK (namespace IN ('prod', 'test', 'ephemeral')),
    space       TEXT    NOT NULL CHECK (space IN ('session', 'user', 'project', 'system')),
    owner       TEXT,
    tick        INTEGER NOT NULL DEFAULT 0,
    last_seq    INTEGER NOT NULL DEFAULT 0,
    last_memory INTEGER NOT NULL DEFAULT 0,
    head        TEXT    NOT NULL,
    last_at     TEXT    NOT NULL DEFAULT '',
    documents   INTEGER NOT NULL DEFAULT 0,
    words       INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, stream)
) WITHOUT ROWID;
CREATE UNIQUE INDEX streams_by_address ON streams (tenant, namespace, space, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_owner ON streams (tenant, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_space ON streams (tenant, space);
CREATE UNIQUE INDEX streams_by_uid ON streams (tenant, uid);

-- Who acted. The uid is a salted commitment to the name, so that history cannot be put under another name, and a name
-- can be erased from it without breaking its chain.
CREATE TABLE actors (
    tenant TEXT NOT NULL,
    uid    TEXT NOT NULL,
    name   TEXT,
    salt   BLOB,
    PRIMARY KEY (tenant, uid),
    CHECK ((name IS NULL) = (salt IS NULL))
) WITHOUT ROWID;
CREATE UNIQUE INDEX actors_by_name ON actors (tenant, name) WHERE name IS NOT NULL;

-- Immutable. Body and salt are both null once erased or purged; nothing else ever changes.
-- It has rowids, unlike the others: its rows are long, and without them each would spill into a page of its own.
CREATE TABLE versions (
    tenant TEXT    NOT NULL,
    stream INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    id     TEXT    NOT NULL,
    body   TEXT,
    salt   BLOB,
    PRIMARY KEY (tenant, stream, memory),
    CHECK ((body IS NULL) = (salt IS NULL))
);

CREATE TABLE ledger (
    tenant        TEXT    NOT NULL,
    stream        INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    tick          INTEGER NOT NULL,
    event         TEXT    NOT NULL,
    memory_id     TEXT    NOT NULL,
    other_id      TEXT,
    from_status   TEXT,
    to_status     TEXT,
    rule          TEXT    NOT NULL,
    rules_version INTEGER NOT NULL,
    commitment    TEXT,
    actor         TEXT    NOT NULL,
    at            TEXT    NOT NULL,
    prev_hash     TEXT    NOT NULL,
    hash          TEXT    NOT NULL,
    PRIMARY KEY (tenant, stream, seq)
) WITHOUT ROWID;
CREATE INDEX ledger_by_memory ON ledger (tenant, memory_id);
CREATE INDEX ledger_by_other ON ledger (tenant, other_id) WHERE other_id IS NOT NULL;

-- The values that an entry brings, committed and erasable like a version.
CREATE TABLE amendments (
    tenant    TEXT    NOT NULL,
    stream    INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    memory_id TEXT    NOT NULL,
    body      TEXT,
    salt      BLOB,
    PRIMARY KEY (tenant, stream, seq),
    CHECK ((body IS NULL) = (salt IS NULL))
) WITHOUT ROWID;
CREATE INDEX amendments_by_memory ON amendments (tenant, memory_id);

-- Derived: the fold of the ledger, with the columns that reads filter by.
CREATE TABLE memories (
    tenant           TEXT    NOT NULL,
    stream           INTEGER NOT NULL,
    memory           INTEGER NOT NULL,
    id               TEXT    NOT NULL,
    status           TEXT    NOT NULL,
    version          INTEGER NOT NULL CHECK (version >= 1),
    supersedes_id    TEXT,
    superseded_by_id TEXT,
    related          TEXT    NOT NULL,
    conflicts        TEXT    NOT NULL,
    canonical_key    TEXT    NOT NULL,
    key_digest       TEXT    NOT NULL,
    key_identity     TEXT    NOT NULL,
    pinned           INTEGER NOT NULL,
    importance       INTEGER NOT NULL,
    importance_reason TEXT   NOT NULL,
    authority        TEXT    NOT NULL,
    authority_reason TEXT    NOT NULL,
    category         TEXT    NOT NULL,
    tags             TEXT    NOT NULL,
    reinforcements   INTEGER NOT NULL,
    last_reinforced  TEXT    NOT NULL,
    last_modified    TEXT    NOT NULL,
    expires_at       TEXT,
    expires_at_tick  INTEGER,
    deleted_at       TEXT,
    purge_at         TEXT,
    removed          TEXT,
    created_at       TEXT,
    scope            TEXT,
    content_hash     TEXT,
    kind             TEXT,
    kind_class       TEXT,
    event_type       TEXT,
    layer            TEXT,
    tier             TEXT,
    topic_id         TEXT,
    source           TEXT,
    user_id          TEXT,
    agent_id         TEXT,
    run_id           TEXT,
    thread_id        TEXT,
    actor_id         TEXT,
    role             TEXT,
    terms            TEXT,
    PRIMARY KEY (tenant, stream, memory)
) WITHOUT ROWID;
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

-- Derived: the text index of what is active. A posting's place is its memory's number negated, so that the newest come
-- first; before them all stands a row whose tf counts the term's postings. A write thus touches one page per term.
CREATE TABLE postings (
    tenant TEXT    NOT NULL,
    stream INTEGER NOT NULL,
    term   TEXT    NOT NULL,
    place  INTEGER NOT NULL,
    tf     INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (tenant, stream, term, place)
) WITHOUT ROWID;

-- Ids that memories had elsewhere.
CREATE TABLE aliases (
    tenant TEXT NOT NULL,
    alias  TEXT NOT NULL,
    id     TEXT NOT NULL,
    PRIMARY KEY (tenant, alias, id)
) WITHOUT ROWID;
CREATE INDEX aliases_by_id ON aliases (tenant, id);

-- Counters of reading: outside ledger, tick and state.
CREATE TABLE accesses (
    tenant TEXT    NOT NULL,
    id     TEXT    NOT NULL,
    count  INTEGER NOT NULL,
    last   TEXT    NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- Governance events, each with the policy that was in force, kept once by its hash.
CREATE TABLE policies (
    tenant TEXT NOT NULL,
    hash   TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (tenant, hash)
) WITHOUT ROWID;

CREATE TABLE traces (
    tenant    TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    at        TEXT    NOT NULL,
    type      TEXT    NOT NULL,
    stream    INTEGER,
    memory_id TEXT,
    policy    TEXT,
    body      TEXT    NOT NULL,
    PRIMARY KEY (tenant, number)
) WITHOUT ROWID;
CREATE INDEX traces_by_memory ON traces (tenant, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX traces_by_stream ON traces (tenant, stream) WHERE stream IS NOT NULL;

-- Answers to writes that named an idempotency key, so that a retry is given the same one.
CREATE TABLE retries (
    tenant    TEXT NOT NULL,
    key       TEXT NOT NULL,
    digest    TEXT NOT NULL,
    salt      BLOB NOT NULL,
    outcome   TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    reasons   TEXT NOT NULL,
    at        TEXT NOT NULL,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX retries_by_memory ON retries (tenant, memory_id);
