-- Graphs: their checkpoints, and the namespaces of their stores. The statements of one capability, by name.

-- ── threads ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: graph_thread
SELECT * FROM graph_threads WHERE tenant = :tenant AND user_id = :user_id AND thread_id = :thread_id

-- name: open_graph_thread
INSERT INTO graph_threads (tenant, user_id, thread_id, uid, created_at, updated_at)
VALUES (:tenant, :user_id, :thread_id, :uid, :at, :at)
ON CONFLICT (tenant, user_id, thread_id) DO UPDATE SET updated_at = excluded.updated_at
RETURNING uid

-- name: move_graph_head
UPDATE graph_threads
   SET head = (SELECT max(c.id) FROM graph_checkpoints c WHERE c.tenant = :tenant AND c.thread = :thread AND c.ns = '')
 WHERE tenant = :tenant AND uid = :thread

-- name: graph_threads_named
SELECT * FROM graph_threads WHERE tenant = :tenant AND thread_id = :thread_id ORDER BY user_id

-- name: graph_threads_of_user
SELECT * FROM graph_threads WHERE tenant = :tenant AND user_id = :user_id ORDER BY updated_at DESC, thread_id

-- name: graph_threads_of_tenant
SELECT * FROM graph_threads WHERE tenant = :tenant ORDER BY updated_at DESC, user_id, thread_id

-- name: graph_threads_of_run
SELECT DISTINCT t.* FROM graph_checkpoints c JOIN graph_threads t ON t.tenant = c.tenant AND t.uid = c.thread
 WHERE c.tenant = :tenant AND c.run_id = :run_id ORDER BY t.uid

-- ── versions ────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: put_graph_checkpoint
INSERT INTO graph_checkpoints (tenant, thread, ns, id, parent_id, run_id, saved_at, rebuilt, type, body,
                               metadata_type, metadata)
VALUES (:tenant, :thread, :ns, :id, :parent_id, :run_id, :saved_at, :rebuilt, :type, :body, :metadata_type, :metadata)
ON CONFLICT (tenant, thread, ns, id) DO UPDATE
   SET parent_id = excluded.parent_id, run_id = excluded.run_id, saved_at = excluded.saved_at,
       rebuilt = excluded.rebuilt, type = excluded.type, body = excluded.body,
       metadata_type = excluded.metadata_type, metadata = excluded.metadata

-- name: put_graph_value
INSERT INTO graph_values (tenant, thread, digest, type, value) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, thread, digest) DO NOTHING

-- name: put_graph_channel
INSERT INTO graph_channels (tenant, thread, ns, checkpoint, channel, digest) VALUES (?, ?, ?, ?, ?, ?)

-- name: graph_checkpoint
SELECT * FROM graph_checkpoints WHERE tenant = :tenant AND thread = :thread AND ns = :ns AND id = :id

-- name: newest_graph_checkpoint
SELECT max(id) AS id FROM graph_checkpoints WHERE tenant = :tenant AND thread = :thread AND ns = :ns

-- A page ends where the next one begins: after (id, thread, ns), newest first.
-- name: graph_page_of_thread
SELECT t.user_id, t.thread_id, c.* FROM graph_checkpoints c JOIN graph_threads t ON t.tenant = c.tenant AND t.uid = c.thread
 WHERE c.tenant = :tenant AND c.thread = :thread
   AND (:any_ns = 1 OR c.ns = :ns) AND (:any_id = 1 OR c.id = :id)
   AND (c.id, c.thread, c.ns) < (:after_id, :after_thread, :after_ns)
 ORDER BY c.id DESC, c.thread DESC, c.ns DESC LIMIT :limit

-- name: graph_page_of_tenant
SELECT t.user_id, t.thread_id, c.* FROM graph_checkpoints c JOIN graph_threads t ON t.tenant = c.tenant AND t.uid = c.thread
 WHERE c.tenant = :tenant AND (:any_user = 1 OR t.user_id = :user_id)
   AND (c.id, c.thread, c.ns) < (:after_id, :after_thread, :after_ns)
 ORDER BY c.id DESC, c.thread DESC, c.ns DESC LIMIT :limit

-- name: graph_extent
SELECT count(*) AS n,
       (SELECT o.saved_at FROM graph_checkpoints o
         WHERE o.tenant = :tenant AND o.thread = :thread AND o.ns = :ns ORDER BY o.id LIMIT 1) AS oldest
  FROM graph_checkpoints WHERE tenant = :tenant AND thread = :thread AND ns = :ns

-- name: graph_versions
SELECT ns, id, parent_id, run_id, saved_at, rebuilt FROM graph_checkpoints
 WHERE tenant = :tenant AND thread = :thread ORDER BY ns, id

-- name: graph_channel_names
SELECT channel FROM graph_channels
 WHERE tenant = :tenant AND thread = :thread AND ns = :ns AND checkpoint = :checkpoint

-- ── what tasks wrote ────────────────────────────────────────────────────────────────────────────────────────────

-- name: add_graph_write
INSERT INTO graph_writes (tenant, thread, ns, checkpoint, task_id, idx, task_path, channel, type, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, thread, ns, checkpoint, task_id, idx) DO NOTHING

-- name: replace_graph_write
INSERT INTO graph_writes (tenant, thread, ns, checkpoint, task_id, idx, task_path, channel, type, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, thread, ns, checkpoint, task_id, idx) DO UPDATE
   SET task_path = excluded.task_path, channel = excluded.channel, type = excluded.type, value = excluded.value

-- name: graph_writes_of
SELECT task_id, idx, task_path, channel, type, value FROM graph_writes
 WHERE tenant = :tenant AND thread = :thread AND ns = :ns AND checkpoint = :checkpoint
 ORDER BY task_path, task_id, idx

-- ── removal ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: remove_graph_checkpoint
DELETE FROM graph_checkpoints WHERE tenant = ? AND thread = ? AND ns = ? AND id = ?

-- name: remove_graph_channels
DELETE FROM graph_channels WHERE tenant = ? AND thread = ? AND ns = ? AND checkpoint = ?

-- name: remove_graph_writes
DELETE FROM graph_writes WHERE tenant = ? AND thread = ? AND ns = ? AND checkpoint = ?

-- Writes whose version was removed before they arrived.
-- name: remove_late_graph_writes
DELETE FROM graph_writes AS w
 WHERE w.tenant = :tenant AND w.thread = :thread
   AND w.checkpoint < (SELECT max(c.id) FROM graph_checkpoints c
                        WHERE c.tenant = w.tenant AND c.thread = w.thread AND c.ns = w.ns)
   AND NOT EXISTS (SELECT 1 FROM graph_checkpoints c
                    WHERE c.tenant = w.tenant AND c.thread = w.thread AND c.ns = w.ns AND c.id = w.checkpoint)

-- name: remove_unused_graph_values
DELETE FROM graph_values
 WHERE tenant = :tenant AND thread = :thread
   AND NOT EXISTS (SELECT 1 FROM graph_channels ch
                    WHERE ch.tenant = graph_values.tenant AND ch.thread = graph_values.thread
                      AND ch.digest = graph_values.digest)

-- name: remove_graph_thread
DELETE FROM graph_threads WHERE tenant = :tenant AND uid = :thread

-- name: remove_all_graph_checkpoints
DELETE FROM graph_checkpoints WHERE tenant = :tenant AND thread = :thread

-- name: remove_all_graph_channels
DELETE FROM graph_channels WHERE tenant = :tenant AND thread = :thread

-- name: remove_all_graph_values
DELETE FROM graph_values WHERE tenant = :tenant AND thread = :thread

-- name: remove_all_graph_writes
DELETE FROM graph_writes WHERE tenant = :tenant AND thread = :thread

-- ── copying ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: copy_graph_checkpoints
INSERT INTO graph_checkpoints (tenant, thread, ns, id, parent_id, run_id, saved_at, rebuilt, type, body,
                               metadata_type, metadata)
SELECT tenant, :target, ns, id, parent_id, run_id, saved_at, rebuilt, type, body, metadata_type, metadata
  FROM graph_checkpoints WHERE tenant = :tenant AND thread = :source

-- name: copy_graph_channels
INSERT INTO graph_channels (tenant, thread, ns, checkpoint, channel, digest)
SELECT tenant, :target, ns, checkpoint, channel, digest
  FROM graph_channels WHERE tenant = :tenant AND thread = :source

-- name: copy_graph_values
INSERT INTO graph_values (tenant, thread, digest, type, value)
SELECT tenant, :target, digest, type, value FROM graph_values WHERE tenant = :tenant AND thread = :source

-- name: copy_graph_writes
INSERT INTO graph_writes (tenant, thread, ns, checkpoint, task_id, idx, task_path, channel, type, value)
SELECT tenant, :target, ns, checkpoint, task_id, idx, task_path, channel, type, value
  FROM graph_writes WHERE tenant = :tenant AND thread = :source

-- ── the namespaces of stores ────────────────────────────────────────────────────────────────────────────────────

-- The owners between two names that have an active item. Keys of items begin with store-item-, and "." follows "-".
-- name: owners_of_items
SELECT s.owner FROM streams s
 WHERE s.tenant = :tenant AND s.namespace = 'prod' AND s.space = 'project' AND s.owner IS NOT NULL
   AND s.owner >= :low AND s.owner < :high
   AND EXISTS (SELECT 1 FROM memories m
                WHERE m.tenant = s.tenant AND m.stream = s.stream AND m.status = 'active' AND m.scope = :scope
                  AND m.kind_class = 'semantic' AND m.key_identity >= 'store-item-' AND m.key_identity < 'store-item.'
                  AND (m.expires_at IS NULL OR m.expires_at > :now))
 ORDER BY s.owner
