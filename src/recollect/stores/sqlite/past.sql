-- The part of a stream's ledger that some memories' states follow from.

-- name: ids_around
WITH RECURSIVE around (id) AS (
    SELECT value FROM json_each(:ids)
     UNION
    SELECT l.other_id FROM around CROSS JOIN ledger l ON l.tenant = :tenant AND l.memory_id = around.id
     WHERE l.stream = :stream AND l.other_id IS NOT NULL
     UNION
    SELECT l.memory_id FROM around CROSS JOIN ledger l ON l.tenant = :tenant AND l.other_id = around.id
     WHERE l.stream = :stream)
SELECT id FROM around

-- name: entries_of_memories
SELECT s.uid, l.seq, l.tick, l.event, l.memory_id, l.other_id, l.from_status, l.to_status, l.rule, l.rules_version,
       l.commitment, l.actor, l.at, l.prev_hash, l.hash, a.seq, a.body, a.salt
  FROM json_each(:ids) wanted
 CROSS JOIN ledger l ON l.tenant = :tenant AND l.memory_id = wanted.value AND l.stream = :stream
  JOIN streams s ON s.tenant = l.tenant AND s.stream = l.stream
  LEFT JOIN amendments a ON a.tenant = l.tenant AND a.stream = l.stream AND a.seq = l.seq
 ORDER BY l.seq

-- name: versions_of_memories
SELECT v.memory, v.id, v.body, v.salt FROM json_each(:ids) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.id = wanted.value AND m.stream = :stream
  JOIN versions v USING (tenant, stream, memory) ORDER BY v.memory
