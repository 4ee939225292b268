-- Operational events: the statements that PostgreSQL needs in its own words, by name. The others are in stores/sql.

-- name: keep_operation
INSERT INTO operations (tenant, number, at, user_id, thread_id, node, op, status, memory_id, category, similarity)
SELECT tenant, number, at, user_id, thread_id, node, op, status, memory_id, category, similarity
  FROM unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
              ?::text[], ?::double precision[])
    AS new (tenant, number, at, user_id, thread_id, node, op, status, memory_id, category, similarity)
ON CONFLICT DO NOTHING

-- name: operations_of_node
SELECT * FROM operations
 WHERE tenant = :tenant AND node = :node AND at >= :since AND (at, number) < (:before_at, :before_number)
   AND (:thread::text IS NULL OR thread_id = :thread) AND (:op::text IS NULL OR op = :op)
   AND (:status::text IS NULL OR status = :status)
 ORDER BY at DESC, number DESC LIMIT :limit

-- name: operations_of_user
SELECT * FROM operations
 WHERE tenant = :tenant AND user_id = :user AND at >= :since AND (at, number) < (:before_at, :before_number)
   AND (:thread::text IS NULL OR thread_id = :thread) AND (:op::text IS NULL OR op = :op)
   AND (:status::text IS NULL OR status = :status) AND (:node::text IS NULL OR node = :node)
 ORDER BY at DESC, number DESC LIMIT :limit

-- name: count_operations_of_user
SELECT substr(at, 1, :digits::integer) AS period, node, op, status, count(*) AS n,
       count(CASE WHEN op = 'classify' THEN similarity END) AS checked,
       count(CASE WHEN op = 'classify' AND similarity = 1 THEN 1 END) AS met
  FROM operations
 WHERE tenant = :tenant AND user_id = :user AND at >= :since
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4

-- name: lock_spending
-- One at a time is it decided whether a model may be called, or two would take what is left for one.
SELECT pg_advisory_xact_lock(hashtextextended('recollect model spending', 0))

-- name: remove_operations_about
DELETE FROM operations WHERE tenant = :tenant AND memory_id = :id
   AND at IN (SELECT at FROM ledger WHERE tenant = :tenant AND memory_id = :id)
