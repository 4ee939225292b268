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
