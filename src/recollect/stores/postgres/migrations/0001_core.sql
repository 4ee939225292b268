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
-- "phase" is the number of the current phase; each but the first begins with an entry of the ledger. "embedder" made the vectors
-- of its memories, '' if they have none; "generation" tells vectors in use from those that "next_embedder" is still making.
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
    phase       BIGINT NOT NULL DEFAULT 1,
    embedder    TEXT COLLATE "C" NOT NULL DEFAULT '',
    generation  BIGINT NOT NULL DEFAULT 0,
    next_embedder TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, stream)
) /*PARTITION BY HASH (tenant)*/;
CREATE UNIQUE INDEX streams_by_address ON streams (tenant, namespace, space, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_owner ON streams (tenant, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_space ON streams (tenant, space);
CREATE UNIQUE INDEX streams_by_uid ON streams (tenant, uid);
CREATE INDEX streams_by_embedder ON streams (tenant, embedder) WHERE last_memory > 0;
GRANT SELECT, INSERT, UPDATE ON streams TO recollect_app;

-- Who acted: a principal such as user:ana. The uid is a salted commitment to the name, so that history cannot be put under
-- another name, and a name can be erased from it without breaking its chain.
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
CREATE INDEX ledger_phases ON ledger (tenant, stream, seq) WHERE event = 'phase_started';
-- Whom somebody vouched for: the graph of trust is walked along this index.
CREATE INDEX ledger_vouches ON ledger (tenant, actor, memory_id) WHERE event = 'vouched';
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

-- Derived: the fold of the ledger, with the columns that reads filter by. "vouchers" lists opaque uids of actors, so that names
-- stay in one place. A memory holds from valid_from up to, and not including, valid_until; NULL leaves that side open.
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
    author_id         TEXT COLLATE "C",
    author_name       TEXT COLLATE "C",
    confidence        DOUBLE PRECISION,
    terms             TEXT COLLATE "C",
    phase             BIGINT DEFAULT 1,
    vouchers          TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    slot              TEXT COLLATE "C",
    subject_value     TEXT COLLATE "C",
    valid_from        TEXT COLLATE "C",
    valid_until       TEXT COLLATE "C",
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
-- What a turn reads whatever is asked: the latest lines of the conversation, the facts of the profile, and the rules. Few
-- memories are any of them, so these indexes stay small, and most writes do not touch them.
CREATE INDEX memories_turns ON memories (tenant, stream, memory) WHERE status = 'active' AND kind = 'short_term';
CREATE INDEX memories_profile ON memories (tenant, stream, memory) WHERE status = 'active' AND kind = 'profile';
CREATE INDEX memories_rules ON memories (tenant, stream, memory)
    WHERE status = 'active' AND layer = 'intent' AND authority <> 'ai_inferred';
-- What an agent may not know of is counted by its category, whenever that agent asks something.
CREATE INDEX memories_by_category ON memories (tenant, stream, category) WHERE status = 'active';
CREATE INDEX memories_by_hash ON memories (tenant, content_hash) WHERE content_hash IS NOT NULL;
-- Whose words they are, in whichever stream: a person's record is gathered, and authors are filtered by, along these.
CREATE INDEX memories_by_user ON memories (tenant, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX memories_by_actor ON memories (tenant, actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX memories_by_author ON memories (tenant, author_id) WHERE author_id IS NOT NULL;
CREATE INDEX memories_by_author_name ON memories (tenant, author_name) WHERE author_name IS NOT NULL;
-- What a plain statement is about, read by rule: its slot (subject, attribute and scope, without the value), and whom and
-- what it names. Digests, so that they are short; they go with the content.
CREATE INDEX memories_by_slot ON memories (tenant, stream, slot) WHERE status = 'active' AND slot IS NOT NULL;
CREATE INDEX memories_by_subject_value ON memories (tenant, stream, subject_value)
    WHERE status = 'active' AND subject_value IS NOT NULL;
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

-- Answers to changes that named an idempotency key, so that a retry is given the same one. A write keeps its memory and what
-- became of it. Any other change keeps its whole answer: none while it is being done, empty once an erasure removed it.
CREATE TABLE retries (
    tenant    TEXT COLLATE "C" NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    digest    TEXT COLLATE "C" NOT NULL,
    salt      BYTEA NOT NULL,
    outcome   TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    reasons   TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    answer    TEXT COLLATE "C",
    PRIMARY KEY (tenant, key)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX retries_by_memory ON retries (tenant, memory_id);
CREATE INDEX retries_with_answer ON retries (tenant) WHERE memory_id = '' AND (answer IS NULL OR answer <> '');
GRANT SELECT, INSERT, UPDATE, DELETE ON retries TO recollect_app;

-- What was erased, as opaque ids, so that a restored copy forgets it again. Rows are added and never taken away.
CREATE SEQUENCE erasure_numbers;
CREATE TABLE erasures (
    tenant TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL DEFAULT nextval('recollect.erasure_numbers'),
    what   TEXT COLLATE "C" NOT NULL CHECK (what IN ('memory', 'stream', 'actor', 'thread', 'link', 'review')),
    id     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, number)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT ON erasures TO recollect_app;
GRANT USAGE ON SEQUENCE erasure_numbers TO recollect_app;

-- What a running graph needs to go on after a restart: one head row for each user's thread, with its versions behind it.
-- A thread is known to the other tables by a random uid, so that its user's name and its own stand in one row only.

CREATE TABLE graph_threads (
    tenant     TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL,
    thread_id  TEXT COLLATE "C" NOT NULL,
    uid        TEXT COLLATE "C" NOT NULL,
    head       TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, user_id, thread_id)
) /*PARTITION BY HASH (tenant)*/;
CREATE UNIQUE INDEX graph_threads_by_uid ON graph_threads (tenant, uid);
CREATE INDEX graph_threads_by_name ON graph_threads (tenant, thread_id);
CREATE INDEX graph_threads_by_update ON graph_threads (tenant, updated_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON graph_threads TO recollect_app;

-- A version of a thread without the values of its channels. "rebuilt" lists the channels whose value is not stored with
-- it but replayed from the writes of its ancestors: those must not be removed before it.
CREATE TABLE graph_checkpoints (
    tenant        TEXT COLLATE "C" NOT NULL,
    thread        TEXT COLLATE "C" NOT NULL,
    ns            TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    parent_id     TEXT COLLATE "C",
    run_id        TEXT COLLATE "C",
    saved_at      TEXT COLLATE "C" NOT NULL,
    rebuilt       TEXT COLLATE "C" NOT NULL,
    type          TEXT COLLATE "C" NOT NULL,
    body          BYTEA NOT NULL,
    metadata_type TEXT COLLATE "C" NOT NULL,
    metadata      BYTEA NOT NULL,
    PRIMARY KEY (tenant, thread, ns, id)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX graph_checkpoints_by_run ON graph_checkpoints (tenant, run_id) WHERE run_id IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON graph_checkpoints TO recollect_app;

-- Which value each channel of a version has.
CREATE TABLE graph_channels (
    tenant     TEXT COLLATE "C" NOT NULL,
    thread     TEXT COLLATE "C" NOT NULL,
    ns         TEXT COLLATE "C" NOT NULL,
    checkpoint TEXT COLLATE "C" NOT NULL,
    channel    TEXT COLLATE "C" NOT NULL,
    digest     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, thread, ns, checkpoint, channel)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX graph_channels_by_digest ON graph_channels (tenant, thread, digest);
GRANT SELECT, INSERT, DELETE ON graph_channels TO recollect_app;

-- The values themselves, once each within a thread however many versions share them.
CREATE TABLE graph_values (
    tenant TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    type   TEXT COLLATE "C" NOT NULL,
    value  BYTEA NOT NULL,
    PRIMARY KEY (tenant, thread, digest)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, DELETE ON graph_values TO recollect_app;

-- What tasks wrote after a version and before the next one. They may arrive before the version that they belong to.
CREATE TABLE graph_writes (
    tenant     TEXT COLLATE "C" NOT NULL,
    thread     TEXT COLLATE "C" NOT NULL,
    ns         TEXT COLLATE "C" NOT NULL,
    checkpoint TEXT COLLATE "C" NOT NULL,
    task_id    TEXT COLLATE "C" NOT NULL,
    idx        BIGINT NOT NULL,
    task_path  TEXT COLLATE "C" NOT NULL,
    channel    TEXT COLLATE "C" NOT NULL,
    type       TEXT COLLATE "C" NOT NULL,
    value      BYTEA NOT NULL,
    PRIMARY KEY (tenant, thread, ns, checkpoint, task_id, idx)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE, DELETE ON graph_writes TO recollect_app;

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

-- How far each thread has been shown what changed. A thread is its reader's own: under another user or agent, the same name is
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

-- The worker. One row for each stream and job: the job has dealt with the ledger up to "seq", and looked at the stream last at "at".
CREATE TABLE worker_cursors (
    tenant TEXT COLLATE "C" NOT NULL,
    stream BIGINT NOT NULL,
    job    TEXT COLLATE "C" NOT NULL,
    seq    BIGINT NOT NULL CHECK (seq >= 0),
    at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, stream, job)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (seq, at), DELETE ON worker_cursors TO recollect_app;

-- Which worker looks after the tenant, and until when. "number" rises each time the lease is taken, so that a worker who was
-- thought dead and goes on changes no cursor. "last_round" is when the last round began that came to its end.
CREATE TABLE worker_leases (
    tenant     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    holder     TEXT COLLATE "C" NOT NULL,
    number     BIGINT NOT NULL,
    until      TEXT COLLATE "C" NOT NULL,
    last_round TEXT COLLATE "C" NOT NULL
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (holder, number, until, last_round), DELETE ON worker_leases TO recollect_app;

-- What memories mean, as vectors, and how they are related. Both are derived: the vectors from the versions, the relations
-- from the ledger's links.

-- One signed byte a dimension. A version with content has one; it goes with the content.
CREATE TABLE vectors (
    tenant     TEXT COLLATE "C" NOT NULL,
    stream     BIGINT NOT NULL,
    memory     BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    codes      BYTEA NOT NULL,
    PRIMARY KEY (tenant, stream, memory, generation)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, DELETE ON vectors TO recollect_app;

-- From one memory to another, wherever they lie. "strength" is in millionths, since a float would compare differently elsewhere.
-- "reason" says why the first may make the second outdated; it is empty for every other type.
CREATE TABLE relations (
    tenant        TEXT COLLATE "C" NOT NULL,
    from_stream   BIGINT NOT NULL,
    from_memory   BIGINT NOT NULL,
    to_stream     BIGINT NOT NULL,
    to_memory     BIGINT NOT NULL,
    relation_type TEXT COLLATE "C" NOT NULL,
    strength      BIGINT NOT NULL CHECK (strength BETWEEN 0 AND 1000000),
    created_at    TEXT COLLATE "C" NOT NULL,
    reason        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, from_stream, from_memory, to_stream, to_memory, relation_type)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX relations_to ON relations (tenant, to_stream, to_memory);
GRANT SELECT, INSERT, DELETE ON relations TO recollect_app;

-- The log of what checkpoints cover. Leaves are appended, and never changed or taken away; each tenant has a log of its own.
-- Nothing in it is content or a name: streams, actors and keys are opaque, and heads are hashes.

-- "body" is the leaf itself, in canonical form: its bytes are what the tree is made of. "kind" and "subject" (a stream's uid, or a
-- public key) repeat what it is about, so that it is found.
CREATE TABLE log_leaves (
    tenant  TEXT COLLATE "C" NOT NULL,
    place   BIGINT NOT NULL CHECK (place >= 0),
    kind    TEXT COLLATE "C" NOT NULL CHECK (kind IN ('stream', 'key')),
    subject TEXT COLLATE "C" NOT NULL,
    body    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, place)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX log_leaves_by_subject ON log_leaves (tenant, kind, subject, place);
GRANT SELECT, INSERT ON log_leaves TO recollect_app;

-- The root of the tree over the first "size" leaves.
CREATE TABLE log_checkpoints (
    tenant TEXT COLLATE "C" NOT NULL,
    size   BIGINT NOT NULL CHECK (size >= 1),
    log    TEXT COLLATE "C" NOT NULL,
    root   TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, size)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT ON log_checkpoints TO recollect_app;

-- Who signed it, by public key. Private keys are never in a database.
CREATE TABLE log_signatures (
    tenant    TEXT COLLATE "C" NOT NULL,
    size      BIGINT NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, size, key)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT ON log_signatures TO recollect_app;

-- Derived: the content hashes that each version names as its parents, so that a parent finds what was built upon it.
-- What a version supersedes is not here: that is known by id.
CREATE TABLE parents (
    tenant TEXT COLLATE "C" NOT NULL,
    hash   TEXT COLLATE "C" NOT NULL,
    stream BIGINT NOT NULL,
    memory BIGINT NOT NULL,
    PRIMARY KEY (tenant, hash, stream, memory)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX parents_by_memory ON parents (tenant, stream, memory);
GRANT SELECT, INSERT, DELETE ON parents TO recollect_app;

-- The ids that a principal has on other platforms. Its own signature covers every value of a row.
CREATE TABLE platform_ids (
    tenant    TEXT COLLATE "C" NOT NULL,
    platform  TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    actor     TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    signature TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, platform, id)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, DELETE ON platform_ids TO recollect_app;

-- Keys that clients of a server hold: a digest of each, and whom it stands for. A key itself is kept nowhere.
CREATE TABLE access_keys (
    tenant     TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    digest     TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL,
    agent      TEXT COLLATE "C",
    projects   TEXT COLLATE "C" NOT NULL,
    rights     TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C",
    revoked_at TEXT COLLATE "C",
    last_used  TEXT COLLATE "C",
    PRIMARY KEY (tenant, id)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, UPDATE (revoked_at, last_used), DELETE ON access_keys TO recollect_app;

-- Derived: the values that a person said were never true. Marks are keyed hashes; the key goes when the owner is erased.
CREATE TABLE rejections (
    tenant    TEXT COLLATE "C" NOT NULL,
    stream    BIGINT NOT NULL,
    mark      TEXT COLLATE "C" NOT NULL,
    rejection TEXT COLLATE "C" NOT NULL,
    secret    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, stream, mark, rejection)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, DELETE ON rejections TO recollect_app;

-- What language models were asked and what they proposed: outside ledger, tick and state, and without content but for the
-- proposals that wait. "secret" is the key of the run's prompt seals; it goes when a memory goes that the run has read.
CREATE TABLE model_runs (
    tenant     TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    job        TEXT COLLATE "C" NOT NULL,
    stream     BIGINT NOT NULL,
    started_at TEXT COLLATE "C" NOT NULL,
    ended_at   TEXT COLLATE "C",
    outcome    TEXT COLLATE "C" NOT NULL,
    reason     TEXT COLLATE "C" NOT NULL,
    secret     BYTEA,
    PRIMARY KEY (tenant, id)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX model_runs_by_time ON model_runs (tenant, started_at, id);
GRANT SELECT, INSERT, UPDATE, DELETE ON model_runs TO recollect_app;

-- One prompt. It is written before it is sent, at the most that it may use, so that a crash counts too.
CREATE TABLE model_calls (
    tenant           TEXT COLLATE "C" NOT NULL,
    run_id           TEXT COLLATE "C" NOT NULL,
    number           BIGINT NOT NULL,
    at               TEXT COLLATE "C" NOT NULL,
    job              TEXT COLLATE "C" NOT NULL,
    template         TEXT COLLATE "C" NOT NULL,
    template_version BIGINT NOT NULL,
    prompt_seal      TEXT COLLATE "C" NOT NULL,
    model            TEXT COLLATE "C" NOT NULL,
    max_tokens       BIGINT NOT NULL,
    temperature      DOUBLE PRECISION NOT NULL,
    seed             BIGINT,
    calls            BIGINT NOT NULL,
    prompt_tokens    BIGINT NOT NULL,
    answer_tokens    BIGINT NOT NULL,
    estimated        BIGINT NOT NULL,
    cost_millionths  BIGINT NOT NULL,
    duration_ms      BIGINT NOT NULL,
    outcome          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, run_id, number)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX model_calls_by_time ON model_calls (tenant, at);
GRANT SELECT, INSERT, UPDATE, DELETE ON model_calls TO recollect_app;

-- From which memories a prompt was made.
CREATE TABLE model_call_sources (
    tenant    TEXT COLLATE "C" NOT NULL,
    run_id    TEXT COLLATE "C" NOT NULL,
    number    BIGINT NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, run_id, number, memory_id)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX model_call_sources_by_memory ON model_call_sources (tenant, memory_id);
GRANT SELECT, INSERT, DELETE ON model_call_sources TO recollect_app;

-- What a model proposed and what became of it. "sources" lists ids; "body" is there only while it waits for a decision.
-- "pair" tells two memories that were compared, and how alike they were, so that they are not compared again soon.
CREATE TABLE model_proposals (
    tenant    TEXT COLLATE "C" NOT NULL,
    id        TEXT COLLATE "C" NOT NULL,
    run_id    TEXT COLLATE "C" NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    job       TEXT COLLATE "C" NOT NULL,
    stream    BIGINT NOT NULL,
    action    TEXT COLLATE "C" NOT NULL,
    status    TEXT COLLATE "C" NOT NULL,
    reason    TEXT COLLATE "C" NOT NULL,
    memory_id TEXT COLLATE "C",
    pair      TEXT COLLATE "C",
    sources   TEXT COLLATE "C" NOT NULL,
    body      TEXT COLLATE "C",
    PRIMARY KEY (tenant, id)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX model_proposals_by_run ON model_proposals (tenant, run_id);
CREATE INDEX model_proposals_by_stream ON model_proposals (tenant, stream, job, at);
CREATE INDEX model_proposals_by_pair ON model_proposals (tenant, pair, at) WHERE pair IS NOT NULL;
CREATE INDEX model_proposals_waiting ON model_proposals (tenant, stream) WHERE body IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON model_proposals TO recollect_app;

-- What all tenants together used in a day: what a call may use, then what it used less. It names no tenant, so that each may
-- read the sum.
CREATE TABLE model_spending (
    day             TEXT COLLATE "C" NOT NULL,
    number          BIGINT NOT NULL,
    prompt_tokens   BIGINT NOT NULL,
    answer_tokens   BIGINT NOT NULL,
    cost_millionths BIGINT NOT NULL,
    PRIMARY KEY (day, number)
);
GRANT SELECT, INSERT, DELETE ON model_spending TO recollect_app;
