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
