-- What builds upon what, and who vouches for it.

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

-- It is filled at once, so on a partitioned store it needs its partitions now; other tables get theirs later.
DO $$
DECLARE
    wanted CONSTANT integer := current_setting('recollect.partitions');
BEGIN
    FOR remainder IN 0 .. wanted - 1 LOOP
        EXECUTE format('CREATE TABLE recollect.%I PARTITION OF recollect.parents FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                       'parents_' || remainder, wanted, remainder);
    END LOOP;
END
$$;

-- The versions of every tenant are read here once. What binds even the tables' owner to one tenant is put back in force
-- before this transaction ends, as after every migration.
ALTER TABLE versions NO FORCE ROW LEVEL SECURITY;
INSERT INTO parents (tenant, hash, stream, memory)
SELECT DISTINCT v.tenant, p.hash, v.stream, v.memory
  FROM versions v CROSS JOIN LATERAL jsonb_array_elements_text(v.body::jsonb -> 'parent_refs') AS p (hash)
 WHERE v.body IS NOT NULL AND strpos(v.body, '"parent_refs":') > 0;

CREATE INDEX memories_by_hash ON memories (tenant, content_hash) WHERE content_hash IS NOT NULL;

-- Derived: a list of who vouches for a memory, by the opaque uids of actors. Names stay in one place and can be erased there.
ALTER TABLE memories ADD COLUMN vouchers TEXT COLLATE "C" NOT NULL DEFAULT '[]';

-- Whom somebody vouched for: the graph of trust is walked along this index.
CREATE INDEX ledger_vouches ON ledger (tenant, actor, memory_id) WHERE event = 'vouched';
