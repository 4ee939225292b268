-- Operational events: the statements of one capability, by name. Lists are newest first; a page begins before a place.

-- name: operations
SELECT * FROM operations
 WHERE tenant = :tenant AND at >= :since AND (at, number) < (:before_at, :before_number)
   AND (CAST(:thread AS text) IS NULL OR thread_id = :thread) AND (CAST(:op AS text) IS NULL OR op = :op)
   AND (CAST(:status AS text) IS NULL OR status = :status)
 ORDER BY at DESC, number DESC LIMIT :limit

-- name: count_operations
SELECT substr(at, 1, CAST(:digits AS integer)) AS period, node, op, status, count(*) AS n,
       count(CASE WHEN op = 'classify' THEN similarity END) AS checked,
       count(CASE WHEN op = 'classify' AND similarity = 1 THEN 1 END) AS met
  FROM operations
 WHERE tenant = :tenant AND at >= :since
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4

-- name: first_operation_of
-- Whatever copy of the store holds any of a user's events holds the oldest one: events leave in the order of their time.
SELECT at, number FROM operations WHERE tenant = :tenant AND user_id = :user ORDER BY at, number LIMIT 1

-- name: user_at
SELECT user_id FROM operations WHERE tenant = :tenant AND at = :at AND number = :number AND user_id IS NOT NULL

-- name: threads_of_user_alone
SELECT DISTINCT thread_id FROM operations
 WHERE tenant = :tenant AND user_id = :user AND thread_id IS NOT NULL AND thread_id NOT IN (
        SELECT thread_id FROM operations
         WHERE tenant = :tenant AND thread_id IS NOT NULL AND (user_id IS NULL OR user_id <> :user))
 ORDER BY thread_id

-- name: remove_operations_naming
DELETE FROM operations WHERE tenant = :tenant AND (user_id = :name OR thread_id = :name)

-- name: remove_operations_before
DELETE FROM operations WHERE tenant = :tenant AND at < :at
