-- Where threads stand in what changed: the statements of one capability, by name.

-- name: thread_revision
SELECT rev, moves, newest_stream, round_until FROM thread_revisions
 WHERE tenant = :tenant AND user_id = :user AND agent = :agent AND thread_id = :name

-- name: thread_cursors
SELECT stream, seq, shown FROM cursors
 WHERE tenant = :tenant AND user_id = :user AND agent = :agent AND thread_id = :name ORDER BY stream

-- name: newest_stream
SELECT coalesce(max(stream), 0) AS newest FROM streams WHERE tenant = :tenant

-- name: begin_thread
INSERT INTO thread_revisions (tenant, user_id, agent, thread_id, rev, moves, newest_stream, round_until)
VALUES (:tenant, :user, :agent, :name, :rev, :moves, :newest_stream, :round_until) ON CONFLICT DO NOTHING

-- name: move_thread
-- Compare and set: whoever saw an older state moves nothing.
UPDATE thread_revisions SET rev = :rev, moves = moves + 1, round_until = :round_until
 WHERE tenant = :tenant AND user_id = :user AND agent = :agent AND thread_id = :name AND moves = :moves

-- name: put_cursor
INSERT INTO cursors (tenant, user_id, agent, thread_id, stream, seq, shown) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, user_id, agent, thread_id, stream) DO UPDATE SET seq = excluded.seq, shown = excluded.shown

-- name: remove_threads_naming
DELETE FROM thread_revisions WHERE tenant = :tenant AND (user_id = :name OR thread_id = :name)

-- name: remove_cursors_naming
DELETE FROM cursors WHERE tenant = :tenant AND (user_id = :name OR thread_id = :name)

-- name: remove_threads_named
DELETE FROM thread_revisions WHERE tenant = :tenant AND thread_id = :name AND (CAST(:user AS text) IS NULL OR user_id = :user)

-- name: remove_cursors_named
DELETE FROM cursors WHERE tenant = :tenant AND thread_id = :name AND (CAST(:user AS text) IS NULL OR user_id = :user)
