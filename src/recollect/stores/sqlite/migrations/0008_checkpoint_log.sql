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
