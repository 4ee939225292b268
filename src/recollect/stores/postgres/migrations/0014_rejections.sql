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
