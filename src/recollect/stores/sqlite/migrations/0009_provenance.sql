-- What builds upon what, and who vouches for it.

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

INSERT INTO parents (tenant, hash, stream, memory)
SELECT DISTINCT v.tenant, p.value, v.stream, v.memory FROM versions v, json_each(v.body, '$.parent_refs') p
 WHERE v.body IS NOT NULL;

CREATE INDEX memories_by_hash ON memories (tenant, content_hash) WHERE content_hash IS NOT NULL;

-- Derived: a list of who vouches for a memory, by the opaque uids of actors. Names stay in one place and can be erased there.
ALTER TABLE memories ADD COLUMN vouchers TEXT NOT NULL DEFAULT '[]';

-- Whom somebody vouched for: the graph of trust is walked along this index.
CREATE INDEX ledger_vouches ON ledger (tenant, actor, memory_id) WHERE event = 'vouched';
