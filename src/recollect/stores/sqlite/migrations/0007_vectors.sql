-- What memories mean, as vectors, and how they are related. Both are derived: the vectors from the versions, the relations
-- from the ledger's links.

-- Which embedder made the vectors of a stream, '' if it has none; "generation" tells those in use from those that a change
-- of embedder is still making, with the embedder named in "next_embedder".
ALTER TABLE streams ADD COLUMN embedder TEXT NOT NULL DEFAULT '';
ALTER TABLE streams ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN next_embedder TEXT NOT NULL DEFAULT '';
CREATE INDEX streams_by_embedder ON streams (tenant, embedder) WHERE last_memory > 0;

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
CREATE TABLE relations (
    tenant        TEXT    NOT NULL,
    from_stream   INTEGER NOT NULL,
    from_memory   INTEGER NOT NULL,
    to_stream     INTEGER NOT NULL,
    to_memory     INTEGER NOT NULL,
    relation_type TEXT    NOT NULL,
    strength      INTEGER NOT NULL CHECK (strength BETWEEN 0 AND 1000000),
    created_at    TEXT    NOT NULL,
    PRIMARY KEY (tenant, from_stream, from_memory, to_stream, to_memory, relation_type)
) WITHOUT ROWID;
CREATE INDEX relations_to ON relations (tenant, to_stream, to_memory);

-- What an agent may not know of is counted by its category, whenever that agent asks something.
CREATE INDEX memories_by_category ON memories (tenant, stream, category) WHERE status = 'active';
