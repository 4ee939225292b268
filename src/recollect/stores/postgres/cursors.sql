-- Where threads stand in what changed: the statements that PostgreSQL needs in its own words, by name. The others are in stores/sql.

-- name: remove_threads_named
DELETE FROM thread_revisions WHERE tenant = :tenant AND thread_id = :name AND (:user::text IS NULL OR user_id = :user)

-- name: remove_cursors_named
DELETE FROM cursors WHERE tenant = :tenant AND thread_id = :name AND (:user::text IS NULL OR user_id = :user)
