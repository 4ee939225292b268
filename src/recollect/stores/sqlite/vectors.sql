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
