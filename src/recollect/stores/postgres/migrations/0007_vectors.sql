-- What memories mean, as vectors, and how they are related. Both are derived: the vectors from the versions, the relations
-- from the ledger's links.

-- Which embedder made the vectors of a stream, '' if it has none; "generation" tells those in use from those that a change
-- of embedder is still making, with the embedder named in "next_embedder".
ALTER TABLE streams ADD COLUMN embedder TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE streams ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN next_embedder TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX streams_by_embedder ON streams (tenant, embedder) WHERE last_memory > 0;

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
CREATE TABLE relations (
    tenant        TEXT COLLATE "C" NOT NULL,
    from_stream   BIGINT NOT NULL,
    from_memory   BIGINT NOT NULL,
    to_stream     BIGINT NOT NULL,
    to_memory     BIGINT NOT NULL,
    relation_type TEXT COLLATE "C" NOT NULL,
    strength      BIGINT NOT NULL CHECK (strength BETWEEN 0 AND 1000000),
    created_at    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, from_stream, from_memory, to_stream, to_memory, relation_type)
) /*PARTITION BY HASH (tenant)*/;
CREATE INDEX relations_to ON relations (tenant, to_stream, to_memory);
GRANT SELECT, INSERT, DELETE ON relations TO recollect_app;

-- What an agent may not know of is counted by its category, whenever that agent asks something.
CREATE INDEX memories_by_category ON memories (tenant, stream, category) WHERE status = 'active';
