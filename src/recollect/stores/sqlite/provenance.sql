-- What builds upon what, and who vouches for whom: the statements that SQLite needs in its own words, by name. The others are in stores/sql.

-- name: memories_with_hashes
SELECT m.*, v.body, NULL AS count, NULL AS last, b.content_hash AS parent_hash FROM json_each(:hashes) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.content_hash = wanted.value AND m.content_hash IS NOT NULL
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE {filters} ORDER BY m.created_at, m.stream, m.memory LIMIT :limit

-- name: built_upon
SELECT m.*, v.body, NULL AS count, NULL AS last, b.content_hash AS parent_hash FROM json_each(:hashes) wanted
 CROSS JOIN parents p ON p.tenant = :tenant AND p.hash = wanted.value
 CROSS JOIN memories m ON m.tenant = p.tenant AND m.stream = p.stream AND m.memory = p.memory
  JOIN versions v ON v.tenant = m.tenant AND v.stream = m.stream AND v.memory = m.memory
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE {filters} GROUP BY m.stream, m.memory ORDER BY m.created_at, m.stream, m.memory LIMIT :limit

-- name: tied_to
-- Read off every version: only an erasure asks, which rewrites every file anyway, and no write has to keep an index for it.
SELECT m.*, v.body, NULL AS count, NULL AS last, b.content_hash AS parent_hash FROM (
        SELECT v.*, CASE WHEN {body_readable} THEN v.body ELSE '{}' END AS said FROM versions v
         WHERE v.tenant = :tenant AND v.body IS NOT NULL) v
  JOIN memories m USING (tenant, stream, memory)
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE {filters} AND EXISTS (
        SELECT 1 FROM json_each(v.said, '$.neighbours') near
         WHERE json_extract(near.value, '$[0]') IN (SELECT value FROM json_each(:ids))
         UNION ALL
        SELECT 1 FROM json_each(v.said, '$.meta') told
         WHERE told.key IN ('promoted_from', 'summary_of', 'source_turn_ids') AND EXISTS (
                SELECT 1 FROM json_each(CASE told.type WHEN 'array' THEN told.value ELSE json_array(told.value) END) one
                 WHERE one.value IN (SELECT value FROM json_each(:ids)))
         UNION ALL
        SELECT 1 FROM json_tree(v.said, '$.meta.entry.vouchers') voucher
         WHERE voucher.key IN ('id', 'name') AND voucher.atom IN (SELECT value FROM json_each(:ids))
         UNION ALL
        SELECT 1 FROM json_tree(CASE WHEN {vouchers_readable} THEN m.vouchers ELSE '[]' END) voucher
         WHERE voucher.key IN ('id', 'name') AND voucher.atom IN (SELECT value FROM json_each(:ids))
         UNION ALL
        SELECT 1 WHERE m.user_id IN (SELECT value FROM json_each(:ids))
            OR m.agent_id IN (SELECT value FROM json_each(:ids))
            OR m.actor_id IN (SELECT value FROM json_each(:ids))
            OR m.scope IN (SELECT value FROM json_each(:ids))
            OR m.thread_id IN (SELECT value FROM json_each(:ids))
            OR m.run_id IN (SELECT value FROM json_each(:ids))
            OR json_extract(v.said, '$.author.id') IN (SELECT value FROM json_each(:ids))
            OR json_extract(v.said, '$.author.name') IN (SELECT value FROM json_each(:ids)))
 ORDER BY m.stream, m.memory

-- name: actors_with_uids
SELECT a.uid, a.name FROM json_each(:uids) wanted
 CROSS JOIN actors a ON a.tenant = :tenant AND a.uid = wanted.value WHERE a.name IS NOT NULL

-- name: vouched_for
-- Of each voucher so many at most: whoever vouches for thousands must not crowd out the others.
SELECT voucher, author, user_id, agent_id FROM (
    SELECT *, row_number() OVER (PARTITION BY voucher ORDER BY author, user_id, agent_id) AS nth FROM (
        SELECT DISTINCT who.name AS voucher, m.author_id AS author,
               CASE WHEN m.author_id = m.user_id THEN m.user_id ELSE '' END AS user_id,
               CASE WHEN m.author_id = m.agent_id THEN m.agent_id ELSE '' END AS agent_id
          FROM json_each(:names) wanted
         CROSS JOIN actors who ON who.tenant = :tenant AND who.name = wanted.value
         CROSS JOIN ledger l ON l.tenant = :tenant AND l.actor = who.uid AND l.event = 'vouched'
         CROSS JOIN memories m ON m.tenant = :tenant AND m.id = l.memory_id AND instr(m.vouchers, '"actor":"' || who.uid || '"') > 0
         WHERE m.author_id IS NOT NULL AND {filters}))
 WHERE nth <= :each ORDER BY voucher, author, user_id, agent_id
