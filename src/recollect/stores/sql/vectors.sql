-- What memories mean and how they are related: the statements of one capability, by name.

-- name: embedders
-- From each name to the next in the index: a tenant has as many streams as it has users, and one or two names.
WITH RECURSIVE found (embedder) AS (
    SELECT (SELECT min(embedder) FROM streams WHERE tenant = :tenant AND last_memory > 0)
    UNION ALL
    SELECT (SELECT min(s.embedder) FROM streams s
             WHERE s.tenant = :tenant AND s.last_memory > 0 AND s.embedder > found.embedder)
      FROM found WHERE found.embedder IS NOT NULL
)
SELECT embedder FROM found WHERE embedder IS NOT NULL ORDER BY embedder

-- name: set_embedder
UPDATE streams SET embedder = :embedder, generation = :generation, next_embedder = :next_embedder
 WHERE tenant = :tenant AND stream = :stream

-- name: vectors_after
SELECT memory, codes FROM vectors
 WHERE tenant = :tenant AND stream = :stream AND memory > :after AND generation = :generation ORDER BY memory

-- name: stray_vectors
-- Those of a memory whose content is gone, or of no memory at all.
SELECT x.memory FROM vectors x LEFT JOIN versions v USING (tenant, stream, memory)
 WHERE x.tenant = :tenant AND x.stream = :stream AND v.body IS NULL ORDER BY x.memory

-- name: fitting_numbers
SELECT m.memory FROM memories m WHERE m.tenant = :tenant AND m.stream = :stream AND {filters} ORDER BY m.memory

-- name: add_vector
INSERT INTO vectors (tenant, stream, memory, generation, codes) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: remove_vectors
DELETE FROM vectors WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: drop_vectors
DELETE FROM vectors WHERE tenant = :tenant AND stream = :stream AND generation = :generation

-- name: relations_among_active
SELECT r.from_stream, r.from_memory, r.to_stream, r.to_memory, r.relation_type, r.strength, r.created_at, r.reason
  FROM relations r
  JOIN memories a ON a.tenant = r.tenant AND a.stream = r.from_stream AND a.memory = r.from_memory
  JOIN memories b ON b.tenant = r.tenant AND b.stream = r.to_stream AND b.memory = r.to_memory
 WHERE r.tenant = :tenant AND r.from_stream = :stream AND r.relation_type = :relation_type
   AND a.status = 'active' AND b.status = 'active'
 ORDER BY r.from_memory, r.to_stream, r.to_memory

-- name: put_relation
INSERT INTO relations (tenant, from_stream, from_memory, to_stream, to_memory, relation_type, strength, created_at,
                       reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: remove_relation
DELETE FROM relations WHERE tenant = :tenant AND from_stream = :from_stream AND from_memory = :from_memory
   AND to_stream = :to_stream AND to_memory = :to_memory AND relation_type = :relation_type

-- name: remove_relations
DELETE FROM relations WHERE tenant = :tenant AND ((from_stream = :stream AND from_memory = :memory)
    OR (to_stream = :stream AND to_memory = :memory))

-- name: drop_relations
DELETE FROM relations WHERE tenant = :tenant AND from_stream = :stream

-- name: without_vector
SELECT v.memory, v.body FROM versions v
 WHERE v.tenant = :tenant AND v.stream = :stream AND v.memory > :after AND v.body IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM vectors x WHERE x.tenant = v.tenant AND x.stream = v.stream AND x.memory = v.memory
                      AND x.generation = :generation)
 ORDER BY v.memory LIMIT :limit
