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
