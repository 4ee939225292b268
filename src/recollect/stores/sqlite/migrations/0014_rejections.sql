-- Derived: the values that a person said were never true. Marks are keyed hashes; the key goes when the owner is erased.
CREATE TABLE rejections (
    tenant    TEXT    NOT NULL,
    stream    INTEGER NOT NULL,
    mark      TEXT    NOT NULL,
    rejection TEXT    NOT NULL,
    secret    TEXT    NOT NULL,
    PRIMARY KEY (tenant, stream, mark, rejection)
) WITHOUT ROWID;
