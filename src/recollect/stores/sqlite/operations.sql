-- Operational events: the statements that SQLite needs in its own words, by name. The others are in stores/sql.
-- SQLite keeps no statistics here and would walk the tenant's whole table, so the index is named where it matters.

-- name: keep_operation
INSERT INTO operations (tenant, number, at, user_id, thread_id, node, op, status, memory_id, category, similarity)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: operations_of_node
SELECT * FROM operations INDEXED BY operations_by_node
 WHERE tenant = :tenant AND node = :node AND at >= :since AND (at, number) < (:before_at, :before_number)
   AND (:thread IS NULL OR thread_id = :thread) AND (:op IS NULL OR op = :op) AND (:status IS NULL OR status = :status)
 ORDER BY at DESC, number DESC LIMIT :limit

-- name: operations_of_user
SELECT * FROM operations INDEXED BY operations_by_user
 WHERE tenant = :tenant AND user_id = :user AND at >= :since AND (at, number) < (:before_at, :before_number)
   AND (:thread IS NULL OR thread_id = :thread) AND (:op IS NULL OR op = :op) AND (:status IS NULL OR status = :status)
   AND (:node IS NULL OR node = :node)
 ORDER BY at DESC, number DESC LIMIT :limit

-- name: count_operations_of_user
SELECT substr(at, 1, :digits) AS period, node, op, status, count(*) AS n,
       count(CASE WHEN op = 'classify' THEN similarity END) AS checked,
       count(CASE WHEN op = 'classify' AND similarity = 1 THEN 1 END) AS met
  FROM operations INDEXED BY operations_by_user
 WHERE tenant = :tenant AND user_id = :user AND at >= :since
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4

-- name: lock_spending
-- A write transaction is alone here.
SELECT 1 WHERE 0

-- name: remove_operations_about
DELETE FROM operations WHERE tenant = :tenant AND memory_id = :id
   AND at IN (SELECT at FROM ledger INDEXED BY ledger_by_memory WHERE tenant = :tenant AND memory_id = :id)
