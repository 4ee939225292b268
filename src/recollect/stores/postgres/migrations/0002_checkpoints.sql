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

-- Threads can be erased too, and are noted by their uid.
ALTER TABLE erasures DROP CONSTRAINT erasures_what_check,
    ADD CONSTRAINT erasures_what_check CHECK (what IN ('memory', 'stream', 'actor', 'thread'));
