-- The two kinds of truth (versions and ledger entries), and what is derived from them.
-- Every primary key begins with the tenant; a stream is known inside the store by its number, outside by its uid.

CREATE TABLE store (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The unit of order. The owner's name goes when the owner is erased; the uid, which the ledger uses, says nothing.
-- "phase" is the number of the current phase; each but the first begins with an entry of the ledger. "embedder" made the vectors
-- of its memories, '' if they have none; "generation" tells vectors in use from those that "next_embedder" is still making.
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
    phase       INTEGER NOT NULL DEFAULT 1,
    embedder    TEXT    NOT NULL DEFAULT '',
    generation  INTEGER NOT NULL DEFAULT 0,
    next_embedder TEXT  NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, stream)
) WITHOUT ROWID;
CREATE UNIQUE INDEX streams_by_address ON streams (tenant, namespace, space, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_owner ON streams (tenant, owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_by_space ON streams (tenant, space);
CREATE UNIQUE INDEX streams_by_uid ON streams (tenant, uid);
CREATE INDEX streams_by_embedder ON streams (tenant, embedder) WHERE last_memory > 0;

-- Who acted: a principal such as user:ana. The uid is a salted commitment to the name, so that history cannot be put under
-- another name, and a name can be erased from it without breaking its chain.
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
CREATE INDEX ledger_phases ON ledger (tenant, stream, seq) WHERE event = 'phase_started';
-- Whom somebody vouched for: the graph of trust is walked along this index.
CREATE INDEX ledger_vouches ON ledger (tenant, actor, memory_id) WHERE event = 'vouched';

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

-- Derived: the fold of the ledger, with the columns that reads filter by. "vouchers" lists opaque uids of actors, so that names
-- stay in one place. A memory holds from valid_from up to, and not including, valid_until; NULL leaves that side open.
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
    author_id        TEXT,
    author_name      TEXT,
    confidence       REAL,
    terms            TEXT,
    phase            INTEGER DEFAULT 1,
    vouchers         TEXT    NOT NULL DEFAULT '[]',
    slot             TEXT,
    subject_value    TEXT,
    valid_from       TEXT,
    valid_until      TEXT,
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

-- Answers to changes that named an idempotency key, so that a retry is given the same one. A write keeps its memory and what
-- became of it. Any other change keeps its whole answer: none while it is being done, empty once an erasure removed it.
CREATE TABLE retries (
    tenant    TEXT NOT NULL,
    key       TEXT NOT NULL,
    digest    TEXT NOT NULL,
    salt      BLOB NOT NULL,
    outcome   TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    reasons   TEXT NOT NULL,
    at        TEXT NOT NULL,
    answer    TEXT,
    PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX retries_by_memory ON retries (tenant, memory_id);
CREATE INDEX retries_with_answer ON retries (tenant) WHERE memory_id = '' AND (answer IS NULL OR answer <> '');

-- What a running graph needs to go on after a restart: one head row for each user's thread, with its versions behind it.
-- A thread is known to the other tables by a random uid, so that its user's name and its own stand in one row only.

CREATE TABLE graph_threads (
    tenant     TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    thread_id  TEXT NOT NULL,
    uid        TEXT NOT NULL,
    head       TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (tenant, user_id, thread_id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX graph_threads_by_uid ON graph_threads (tenant, uid);
CREATE INDEX graph_threads_by_name ON graph_threads (tenant, thread_id);
CREATE INDEX graph_threads_by_update ON graph_threads (tenant, updated_at);

-- A version of a thread without the values of its channels. "rebuilt" lists the channels whose value is not stored with
-- it but replayed from the writes of its ancestors: those must not be removed before it.
CREATE TABLE graph_checkpoints (
    tenant        TEXT NOT NULL,
    thread        TEXT NOT NULL,
    ns            TEXT NOT NULL,
    id            TEXT NOT NULL,
    parent_id     TEXT,
    run_id        TEXT,
    saved_at      TEXT NOT NULL,
    rebuilt       TEXT NOT NULL,
    type          TEXT NOT NULL,
    body          BLOB NOT NULL,
    metadata_type TEXT NOT NULL,
    metadata      BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, ns, id)
);
CREATE INDEX graph_checkpoints_by_run ON graph_checkpoints (tenant, run_id) WHERE run_id IS NOT NULL;

-- Which value each channel of a version has.
CREATE TABLE graph_channels (
    tenant     TEXT NOT NULL,
    thread     TEXT NOT NULL,
    ns         TEXT NOT NULL,
    checkpoint TEXT NOT NULL,
    channel    TEXT NOT NULL,
    digest     TEXT NOT NULL,
    PRIMARY KEY (tenant, thread, ns, checkpoint, channel)
) WITHOUT ROWID;
CREATE INDEX graph_channels_by_digest ON graph_channels (tenant, thread, digest);

-- The values themselves, once each within a thread however many versions share them. It has rowids: its rows are long.
CREATE TABLE graph_values (
    tenant TEXT NOT NULL,
    thread TEXT NOT NULL,
    digest TEXT NOT NULL,
    type   TEXT NOT NULL,
    value  BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, digest)
);

-- What tasks wrote after a version and before the next one. They may arrive before the version that they belong to.
CREATE TABLE graph_writes (
    tenant     TEXT    NOT NULL,
    thread     TEXT    NOT NULL,
    ns         TEXT    NOT NULL,
    checkpoint TEXT    NOT NULL,
    task_id    TEXT    NOT NULL,
    idx        INTEGER NOT NULL,
    task_path  TEXT    NOT NULL,
    channel    TEXT    NOT NULL,
    type       TEXT    NOT NULL,
    value      BLOB    NOT NULL,
    PRIMARY KEY (tenant, thread, ns, checkpoint, task_id, idx)
);

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

-- How far each thread has been shown what changed. A thread is its reader's own: under another user or agent, the same name is
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

-- The worker. One row for each stream and job: the job has dealt with the ledger up to "seq", and looked at the stream last at "at".
CREATE TABLE worker_cursors (
    tenant TEXT    NOT NULL,
    stream INTEGER NOT NULL,
    job    TEXT    NOT NULL,
    seq    INTEGER NOT NULL CHECK (seq >= 0),
    at     TEXT    NOT NULL,
    PRIMARY KEY (tenant, stream, job)
) WITHOUT ROWID;

-- Which worker looks after the tenant, and until when. "number" rises each time the lease is taken, so that a worker who was
-- thought dead and goes on changes no cursor. "last_round" is when the last round began that came to its end.
CREATE TABLE worker_leases (
    tenant     TEXT    NOT NULL PRIMARY KEY,
    holder     TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    until      TEXT    NOT NULL,
    last_round TEXT    NOT NULL
) WITHOUT ROWID;

-- What memories mean, as vectors, and how they are related. Both are derived: the vectors from the versions, the relations
-- from the ledger's links.

-- One signed byte a dimension. A version with content has one; it goes with the content.
CREATE TABLE vectors (
    tenant     TEXT    NOT NULL,
    stream     INTEGER NOT NULL,
    memory     INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    codes      BLOB    NOT NULL,
    PRIMARY KEY (tenant, stream, memory, generation)
) WITHOUT ROWID;

-- From one memory to another, wherever they lie. "strength" is in millionths, since a float would compare differently elsewhere.
-- "reason" says why the first may make the second outdated; it is empty for every other type.
CREATE TABLE relations (
    tenant        TEXT    NOT NULL,
    from_stream   INTEGER NOT NULL,
    from_memory   INTEGER NOT NULL,
    to_stream     INTEGER NOT NULL,
    to_memory     INTEGER NOT NULL,
    relation_type TEXT    NOT NULL,
    strength      INTEGER NOT NULL CHECK (strength BETWEEN 0 AND 1000000),
    created_at    TEXT    NOT NULL,
    reason        TEXT    NOT NULL,
    PRIMARY KEY (tenant, from_stream, from_memory, to_stream, to_memory, relation_type)
) WITHOUT ROWID;
CREATE INDEX relations_to ON relations (tenant, to_stream, to_memory);

-- The log of what checkpoints cover. Leaves are appended, and never changed or taken away; each tenant has a log of its own.
-- Nothing in it is content or a name: streams, actors and keys are opaque, and heads are hashes.

-- "body" is the leaf itself, in canonical form: its bytes are what the tree is made of. "kind" and "subject" (a stream's uid, or a
-- public key) repeat what it is about, so that it is found.
CREATE TABLE log_leaves (
    tenant  TEXT    NOT NULL,
    place   INTEGER NOT NULL CHECK (place >= 0),
    kind    TEXT    NOT NULL CHECK (kind IN ('stream', 'key')),
    subject TEXT    NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (tenant, place)
) WITHOUT ROWID;
CREATE INDEX log_leaves_by_subject ON log_leaves (tenant, kind, subject, place);

-- The root of the tree over the first "size" leaves.
CREATE TABLE log_checkpoints (
    tenant TEXT    NOT NULL,
    size   INTEGER NOT NULL CHECK (size >= 1),
    log    TEXT    NOT NULL,
    root   TEXT    NOT NULL,
    at     TEXT    NOT NULL,
    PRIMARY KEY (tenant, size)
) WITHOUT ROWID;

-- Who signed it, by public key. Private keys are never in a database.
CREATE TABLE log_signatures (
    tenant    TEXT    NOT NULL,
    size      INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    signature TEXT    NOT NULL,
    PRIMARY KEY (tenant, size, key)
) WITHOUT ROWID;

-- Derived: the content hashes that each version names as its parents, so that a parent finds what was built upon it.
-- What a version supersedes is not here: that is known by id.
CREATE TABLE parents (
    tenant TEXT    NOT NULL,
    hash   TEXT    NOT NULL,
    stream INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash, stream, memory)
) WITHOUT ROWID;
CREATE INDEX parents_by_memory ON parents (tenant, stream, memory);

-- The ids that a principal has on other platforms. Its own signature covers every value of a row.
CREATE TABLE platform_ids (
    tenant    TEXT NOT NULL,
    platform  TEXT NOT NULL,
    id        TEXT NOT NULL,
    actor     TEXT NOT NULL,
    at        TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (tenant, platform, id)
) WITHOUT ROWID;

-- Keys that clients of a server hold: a digest of each, and whom it stands for. A key itself is kept nowhere.
CREATE TABLE access_keys (
    tenant     TEXT NOT NULL,
    id         TEXT NOT NULL,
    digest     TEXT NOT NULL,
    name       TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    agent      TEXT,
    projects   TEXT NOT NULL,
    rights     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT,
    last_used  TEXT,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- Derived: the values that a person said were never true. Marks are keyed hashes; the key goes when the owner is erased.
CREATE TABLE rejections (
    tenant    TEXT    NOT NULL,
    stream    INTEGER NOT NULL,
    mark      TEXT    NOT NULL,
    rejection TEXT    NOT NULL,
    secret    TEXT    NOT NULL,
    PRIMARY KEY (tenant, stream, mark, rejection)
) WITHOUT ROWID;

-- What language models were asked and what they proposed: outside ledger, tick and state, and without content but for the
-- proposals that wait. "secret" is the key of the run's prompt seals; it goes when a memory goes that the run has read.
CREATE TABLE model_runs (
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    job        TEXT    NOT NULL,
    stream     INTEGER NOT NULL,
    started_at TEXT    NOT NULL,
    ended_at   TEXT,
    outcome    TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    secret     BLOB,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX model_runs_by_time ON model_runs (tenant, started_at, id);

-- One prompt. It is written before it is sent, at the most that it may use, so that a crash counts too.
CREATE TABLE model_calls (
    tenant           TEXT    NOT NULL,
    run_id           TEXT    NOT NULL,
    number           INTEGER NOT NULL,
    at               TEXT    NOT NULL,
    job              TEXT    NOT NULL,
    template         TEXT    NOT NULL,
    template_version INTEGER NOT NULL,
    prompt_seal      TEXT    NOT NULL,
    model            TEXT    NOT NULL,
    max_tokens       INTEGER NOT NULL,
    temperature      REAL    NOT NULL,
    seed             INTEGER,
    calls            INTEGER NOT NULL,
    prompt_tokens    INTEGER NOT NULL,
    answer_tokens    INTEGER NOT NULL,
    estimated        INTEGER NOT NULL,
    cost_millionths  INTEGER NOT NULL,
    duration_ms      INTEGER NOT NULL,
    outcome          TEXT    NOT NULL,
    PRIMARY KEY (tenant, run_id, number)
) WITHOUT ROWID;
CREATE INDEX model_calls_by_time ON model_calls (tenant, at);

-- From which memories a prompt was made.
CREATE TABLE model_call_sources (
    tenant    TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    memory_id TEXT    NOT NULL,
    PRIMARY KEY (tenant, run_id, number, memory_id)
) WITHOUT ROWID;
CREATE INDEX model_call_sources_by_memory ON model_call_sources (tenant, memory_id);

-- What a model proposed and what became of it. "sources" lists ids; "body" is there only while it waits for a decision.
-- "pair" tells two memories that were compared, and how alike they were, so that they are not compared again soon.
CREATE TABLE model_proposals (
    tenant    TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    run_id    TEXT    NOT NULL,
    at        TEXT    NOT NULL,
    job       TEXT    NOT NULL,
    stream    INTEGER NOT NULL,
    action    TEXT    NOT NULL,
    status    TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    memory_id TEXT,
    pair      TEXT,
    sources   TEXT    NOT NULL,
    body      TEXT,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX model_proposals_by_run ON model_proposals (tenant, run_id);
CREATE INDEX model_proposals_by_stream ON model_proposals (tenant, stream, job, at);
CREATE INDEX model_proposals_by_pair ON model_proposals (tenant, pair, at) WHERE pair IS NOT NULL;
CREATE INDEX model_proposals_waiting ON model_proposals (tenant, stream) WHERE body IS NOT NULL;

-- What all tenants together used in a day: what a call may use, then what it used less. It names no tenant, so that each may
-- read the sum.
CREATE TABLE model_spending (
    day             TEXT    NOT NULL,
    number          INTEGER NOT NULL,
    prompt_tokens   INTEGER NOT NULL,
    answer_tokens   INTEGER NOT NULL,
    cost_millionths INTEGER NOT NULL,
    PRIMARY KEY (day, number)
) WITHOUT ROWID;
