-- What builds upon what, and who vouches for whom: the statements that PostgreSQL needs in its own words, by name. The others are in stores/sql.

-- name: memories_with_hashes
SELECT m.*, v.body, NULL AS count, NULL AS last, b.content_hash AS parent_hash
  FROM (SELECT m.* FROM memories m
         WHERE m.tenant = :tenant AND m.content_hash = ANY (ARRAY(SELECT jsonb_array_elements_text(:hashes::jsonb)))
           AND {filters}
         ORDER BY m.created_at, m.stream, m.memory LIMIT :limit) m
  JOIN versions v ON v.tenant = :tenant AND v.stream = m.stream AND v.memory = m.memory
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY m.created_at, m.stream, m.memory

-- name: built_upon
SELECT m.*, v.body, NULL AS count, NULL AS last, b.content_hash AS parent_hash
  FROM (SELECT m.* FROM memories m
         WHERE m.tenant = :tenant AND {filters}
           AND (m.stream, m.memory) IN (SELECT p.stream, p.memory FROM parents p
                WHERE p.tenant = :tenant AND p.hash = ANY (ARRAY(SELECT jsonb_array_elements_text(:hashes::jsonb))))
         ORDER BY m.created_at, m.stream, m.memory LIMIT :limit) m
  JOIN versions v ON v.tenant = :tenant AND v.stream = m.stream AND v.memory = m.memory
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY m.created_at, m.stream, m.memory

-- name: tied_to
-- Read off every version: only an erasure asks, which vacuums every table anyway, and no write has to keep an index for it.
SELECT m.*, v.body, NULL AS count, NULL AS last, b.content_hash AS parent_hash FROM versions v
  JOIN memories m ON m.tenant = :tenant AND m.stream = v.stream AND m.memory = v.memory
  LEFT JOIN memories b ON b.tenant = :tenant AND b.id = m.supersedes_id
 CROSS JOIN (SELECT ARRAY(SELECT jsonb_array_elements_text(:ids::jsonb)) AS ids) wanted
 CROSS JOIN LATERAL (SELECT CASE WHEN {body_readable} THEN v.body::jsonb ELSE '{}'::jsonb END AS said,
                             CASE WHEN {vouchers_readable} THEN m.vouchers::jsonb ELSE '[]'::jsonb END AS vouched) parsed
 WHERE v.tenant = :tenant AND v.body IS NOT NULL AND {filters}
   AND (EXISTS (SELECT 1 FROM jsonb_array_elements(coalesce(said -> 'neighbours', '[]')) near
                 WHERE near ->> 0 = ANY (wanted.ids))
        OR said #>> '{meta,promoted_from}' = ANY (wanted.ids)
        OR jsonb_exists_any(coalesce(said #> '{meta,summary_of}', '[]'), wanted.ids)
        OR jsonb_exists_any(coalesce(said #> '{meta,source_turn_ids}', '[]'), wanted.ids)
        OR ARRAY[m.user_id, m.agent_id, m.actor_id, m.scope, m.thread_id, m.run_id, said #>> '{author,id}', said #>> '{author,name}'] && wanted.ids
        OR EXISTS (SELECT 1 FROM jsonb_path_query(said, 'lax $.meta.entry.vouchers[*].*') voucher
                    WHERE voucher #>> '{}' = ANY (wanted.ids))
        OR EXISTS (SELECT 1 FROM jsonb_path_query(vouched, 'lax $[*].told.*') voucher
                    WHERE voucher #>> '{}' = ANY (wanted.ids)))
 ORDER BY m.stream, m.memory

-- name: actors_with_uids
SELECT uid, name FROM actors
 WHERE tenant = :tenant AND name IS NOT NULL AND uid = ANY (ARRAY(SELECT jsonb_array_elements_text(:uids::jsonb)))

-- name: vouched_for
-- Of each voucher so many at most: whoever vouches for thousands must not crowd out the others.
SELECT voucher, author, user_id, agent_id FROM (
    SELECT *, row_number() OVER (PARTITION BY voucher ORDER BY author COLLATE "C", user_id, agent_id) AS nth FROM (
        SELECT DISTINCT who.name AS voucher, m.author_id AS author,
               CASE WHEN m.author_id = m.user_id THEN m.user_id ELSE '' END AS user_id,
               CASE WHEN m.author_id = m.agent_id THEN m.agent_id ELSE '' END AS agent_id FROM actors who
          JOIN ledger l ON l.tenant = :tenant AND l.actor = who.uid AND l.event = 'vouched'
          JOIN memories m ON m.tenant = :tenant AND m.id = l.memory_id AND strpos(m.vouchers, '"actor":"' || who.uid || '"') > 0
         WHERE who.tenant = :tenant AND who.name = ANY (ARRAY(SELECT jsonb_array_elements_text(:names::jsonb)))
           AND m.author_id IS NOT NULL AND {filters}) one) numbered
 WHERE nth <= :each ORDER BY voucher COLLATE "C", author COLLATE "C", user_id, agent_id
