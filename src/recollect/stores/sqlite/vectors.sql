-- What memories mean and how they are related: the statements that SQLite needs in its own words, by name. The others are in stores/sql.

-- name: vectors_numbered
SELECT v.memory, v.codes FROM json_each(:numbers) wanted
 CROSS JOIN vectors v ON v.tenant = :tenant AND v.stream = :stream AND v.memory = wanted.value
   AND v.generation = :generation

-- name: relations_at
SELECT r.from_stream, r.from_memory, r.to_stream, r.to_memory, r.relation_type, r.strength, r.created_at, r.reason
  FROM json_each(:places) wanted
 CROSS JOIN relations r ON r.tenant = :tenant AND r.from_stream = json_extract(wanted.value, '$[0]')
   AND r.from_memory = json_extract(wanted.value, '$[1]')
 UNION
SELECT r.from_stream, r.from_memory, r.to_stream, r.to_memory, r.relation_type, r.strength, r.created_at, r.reason
  FROM json_each(:places) wanted
 CROSS JOIN relations r INDEXED BY relations_to ON r.tenant = :tenant AND r.to_stream = json_extract(wanted.value, '$[0]')
   AND r.to_memory = json_extract(wanted.value, '$[1]')
 ORDER BY 1, 2, 3, 4, 5

-- name: live_versions
WITH RECURSIVE chain (stream, memory, next_id, steps) AS (
    SELECT m.stream, m.memory, m.superseded_by_id, 1 FROM json_each(:places) wanted
     CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = json_extract(wanted.value, '$[0]')
       AND m.memory = json_extract(wanted.value, '$[1]')
     WHERE m.status = 'superseded' AND m.superseded_by_id IS NOT NULL
     UNION ALL
    SELECT chain.stream, chain.memory, m.superseded_by_id, steps + 1 FROM chain
     CROSS JOIN memories m ON m.tenant = :tenant AND m.id = next_id
     WHERE m.status = 'superseded' AND m.superseded_by_id IS NOT NULL AND steps < :longest)
SELECT chain.stream, chain.memory, m.stream, m.memory FROM chain
 CROSS JOIN memories m ON m.tenant = :tenant AND m.id = next_id AND m.status = 'active'
 CROSS JOIN memories former ON former.tenant = :tenant AND former.stream = chain.stream AND former.memory = chain.memory
 WHERE m.stream = former.stream AND m.scope = former.scope AND m.category = former.category AND m.kind = former.kind
   AND m.phase = former.phase AND m.user_id IS former.user_id
 ORDER BY 1, 2
