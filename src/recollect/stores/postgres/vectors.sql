-- What memories mean and how they are related: the statements that PostgreSQL needs in its own words, by name. The others are in stores/sql.

-- name: vectors_numbered
SELECT memory, codes FROM vectors
 WHERE tenant = :tenant AND stream = :stream AND generation = :generation
   AND memory = ANY (ARRAY(SELECT jsonb_array_elements_text(:numbers::jsonb)::bigint))

-- name: relations_at
-- OFFSET 0 keeps each place looked up by itself: joined at once, all relations of the tenant would be read.
SELECT r.from_stream, r.from_memory, r.to_stream, r.to_memory, r.relation_type, r.strength, r.created_at, r.reason
  FROM jsonb_array_elements(:places::jsonb) AS wanted (place)
 CROSS JOIN LATERAL (SELECT * FROM relations
                      WHERE tenant = :tenant AND from_stream = (wanted.place ->> 0)::bigint
                        AND from_memory = (wanted.place ->> 1)::bigint OFFSET 0) r
 UNION
SELECT r.from_stream, r.from_memory, r.to_stream, r.to_memory, r.relation_type, r.strength, r.created_at, r.reason
  FROM jsonb_array_elements(:places::jsonb) AS wanted (place)
 CROSS JOIN LATERAL (SELECT * FROM relations
                      WHERE tenant = :tenant AND to_stream = (wanted.place ->> 0)::bigint
                        AND to_memory = (wanted.place ->> 1)::bigint OFFSET 0) r
 ORDER BY 1, 2, 3, 4, 5

-- name: live_versions
WITH RECURSIVE chain (stream, memory, next_id, steps) AS (
    SELECT m.stream, m.memory, m.superseded_by_id, 1 FROM jsonb_array_elements(:places::jsonb) AS wanted (place)
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND stream = (wanted.place ->> 0)::bigint
                            AND memory = (wanted.place ->> 1)::bigint AND status = 'superseded' LIMIT 1) m
     UNION ALL
    SELECT chain.stream, chain.memory, m.superseded_by_id, steps + 1 FROM chain
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND id = next_id AND status = 'superseded' LIMIT 1) m
     WHERE steps < :longest::int)
SELECT chain.stream, chain.memory, m.stream, m.memory FROM chain
 CROSS JOIN LATERAL (SELECT * FROM memories WHERE tenant = :tenant AND id = next_id AND status = 'active' LIMIT 1) m
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = chain.stream AND memory = chain.memory LIMIT 1) former
 WHERE m.stream = former.stream AND m.scope = former.scope AND m.category = former.category AND m.kind = former.kind
   AND m.phase = former.phase AND m.user_id IS NOT DISTINCT FROM former.user_id
 ORDER BY 1, 2
