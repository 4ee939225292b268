-- The statements that every engine runs as they stand, by name. Parameters are written :name, or ? where many rows are run.
-- What an engine has to say in its own words is in its own folder, in a file of the same name.
-- A parameter that may be NULL says its type with CAST: PostgreSQL has to be told, and every engine reads it.

-- ── streams ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: stream_at
SELECT * FROM streams WHERE tenant = :tenant AND namespace = :namespace AND space = :space AND owner = :owner

-- SQLite sorts a text in a column of numbers behind every number.
-- name: end_of_stream
SELECT l.seq, l.tick, l.at, l.hash,
       (SELECT 1 + count(*) FROM ledger p WHERE p.tenant = l.tenant AND p.stream = l.stream AND p.event = 'phase_started'),
       (SELECT coalesce(max(v.memory), 0) FROM versions v
         WHERE v.tenant = l.tenant AND v.stream = l.stream AND v.memory <= 9223372036854775807)
  FROM ledger l WHERE l.tenant = :tenant AND l.stream = :stream AND l.seq <= 9223372036854775807 ORDER BY l.seq DESC LIMIT 1

-- name: stream_numbered
SELECT * FROM streams WHERE tenant = :tenant AND stream = :stream

-- name: streams_of_tenant
SELECT * FROM streams WHERE tenant = :tenant ORDER BY stream

-- name: stream_times
-- When each stream was first and last written to.
SELECT s.stream, a.at AS began_at, z.at AS last_at FROM streams s
  JOIN ledger a ON a.tenant = s.tenant AND a.stream = s.stream AND a.seq = 1
  JOIN ledger z ON z.tenant = s.tenant AND z.stream = s.stream AND z.seq = s.last_seq
 WHERE s.tenant = :tenant

-- name: streams_of_owner
SELECT * FROM streams WHERE tenant = :tenant AND owner = :owner ORDER BY stream

-- name: streams_of_space
SELECT * FROM streams WHERE tenant = :tenant AND space = :space ORDER BY stream

-- name: add_stream
INSERT INTO streams (tenant, stream, uid, namespace, space, owner, head)
VALUES (:tenant, (SELECT coalesce(max(stream), 0) + 1 FROM streams WHERE tenant = :tenant),
        :uid, :namespace, :space, :owner, :head)

-- name: advance_stream
UPDATE streams SET tick = :tick, last_seq = :last_seq, last_memory = :last_memory, head = :head, last_at = :last_at,
       documents = :documents, words = :words, phase = :phase
 WHERE tenant = :tenant AND stream = :stream

-- name: forget_owner_name
UPDATE streams SET owner = NULL WHERE tenant = :tenant AND stream = :stream

-- name: forget_stream_values
UPDATE amendments SET body = NULL, salt = NULL WHERE tenant = :tenant AND stream = :stream AND body IS NOT NULL
   AND seq IN (SELECT seq FROM ledger WHERE tenant = :tenant AND stream = :stream
                  AND event IN ('phase_started', 'rejected'))

-- name: actor_named
SELECT uid FROM actors WHERE tenant = :tenant AND name = :name

-- name: add_actor
INSERT INTO actors (tenant, uid, name, salt) VALUES (:tenant, :uid, :name, :salt)

-- name: actor_names
SELECT uid, name, salt FROM actors WHERE tenant = :tenant ORDER BY uid

-- name: platform_ids
SELECT platform, id, actor, at, signature FROM platform_ids WHERE tenant = :tenant ORDER BY platform, id

-- name: add_platform_id
INSERT INTO platform_ids (tenant, platform, id, actor, at, signature)
VALUES (:tenant, :platform, :id, :actor, :at, :signature)

-- name: remove_platform_id
DELETE FROM platform_ids WHERE tenant = :tenant AND platform = :platform AND id = :id

-- name: forget_platform_ids
DELETE FROM platform_ids WHERE tenant = :tenant AND actor = :uid

-- name: access_keys
SELECT id, digest, name, user_id, agent, projects, rights, created_at, expires_at, revoked_at, last_used FROM access_keys
 WHERE tenant = :tenant AND (CAST(:id AS text) IS NULL OR id = :id) ORDER BY created_at, id

-- name: add_access_key
INSERT INTO access_keys (tenant, id, digest, name, user_id, agent, projects, rights, created_at, expires_at, revoked_at, last_used)
VALUES (:tenant, :id, :digest, :name, :user_id, :agent, :projects, :rights, :created_at, :expires_at, :revoked_at, :last_used)

-- name: revoke_access_key
UPDATE access_keys SET revoked_at = :at WHERE tenant = :tenant AND id = :id AND revoked_at IS NULL

-- name: note_key_use
UPDATE access_keys SET last_used = :at WHERE tenant = :tenant AND id = :id

-- name: forget_access_keys
DELETE FROM access_keys WHERE tenant = :tenant AND user_id = :user

-- name: forget_actor_name
UPDATE actors SET name = NULL, salt = NULL WHERE tenant = :tenant AND uid = :uid AND name IS NOT NULL

-- ── versions, ledger, amendments ────────────────────────────────────────────────────────────────────────────────

-- name: add_version
INSERT INTO versions (tenant, stream, memory, id, body, salt) VALUES (:tenant, :stream, :memory, :id, :body, :salt)

-- name: versions_of_stream
SELECT memory, id, body, salt FROM versions WHERE tenant = :tenant AND stream = :stream ORDER BY memory

-- name: remove_version_body
UPDATE versions SET body = NULL, salt = NULL
 WHERE tenant = :tenant AND stream = :stream AND memory = :memory AND body IS NOT NULL

-- name: add_entry
INSERT INTO ledger (tenant, stream, seq, tick, event, memory_id, other_id, from_status, to_status, rule, rules_version,
                    commitment, actor, at, prev_hash, hash)
VALUES (:tenant, :stream, :seq, :tick, :event, :memory_id, :other_id, :from_status, :to_status, :rule, :rules_version,
        :commitment, :actor, :at, :prev_hash, :hash)

-- name: entries_of_stream
SELECT s.uid, l.seq, l.tick, l.event, l.memory_id, l.other_id, l.from_status, l.to_status, l.rule, l.rules_version,
       l.commitment, l.actor, l.at, l.prev_hash, l.hash
  FROM ledger l JOIN streams s USING (tenant, stream)
 WHERE l.tenant = :tenant AND l.stream = :stream AND l.seq > :after ORDER BY l.seq LIMIT :limit

-- name: entries_about
SELECT l.*, s.uid FROM ledger l JOIN streams s USING (tenant, stream)
 WHERE l.tenant = :tenant AND l.memory_id = :id
 UNION
SELECT l.*, s.uid FROM ledger l JOIN streams s USING (tenant, stream)
 WHERE l.tenant = :tenant AND l.other_id = :id
 ORDER BY 2, 3

-- name: add_amendment
INSERT INTO amendments (tenant, stream, seq, memory_id, body, salt)
VALUES (:tenant, :stream, :seq, :memory_id, :body, :salt)

-- name: amendments_of_stream
SELECT seq, body, salt FROM amendments WHERE tenant = :tenant AND stream = :stream ORDER BY seq

-- name: amendments_about
SELECT seq, body FROM amendments WHERE tenant = :tenant AND memory_id = :id AND body IS NOT NULL ORDER BY seq

-- name: remove_amendment_bodies
-- The ledger says whom an amendment is about; the column is only a way to find it, and may have been altered.
UPDATE amendments SET body = NULL, salt = NULL WHERE tenant = :tenant AND body IS NOT NULL
   AND (memory_id = :id OR (stream, seq) IN (SELECT stream, seq FROM ledger WHERE tenant = :tenant AND memory_id = :id))

-- name: first_acted_in
SELECT min(stream) AS stream FROM ledger WHERE tenant = :tenant AND actor = :uid

-- name: first_entry
SELECT tick, at FROM ledger WHERE tenant = :tenant AND stream = :stream ORDER BY seq LIMIT 1

-- name: phases
SELECT l.rule, l.tick, l.at, a.body FROM ledger l LEFT JOIN amendments a USING (tenant, stream, seq)
 WHERE l.tenant = :tenant AND l.stream = :stream AND l.event = 'phase_started' ORDER BY l.seq

-- ── current state ───────────────────────────────────────────────────────────────────────────────────────────────

-- name: ids_with_prefix
SELECT id FROM memories WHERE tenant = :tenant AND id >= :low AND id < :high ORDER BY id LIMIT :limit

-- name: ids_with_alias
SELECT id FROM aliases WHERE tenant = :tenant AND alias = :alias ORDER BY id LIMIT :limit

-- name: count_memories
SELECT count(*) AS n FROM memories m WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters}

-- name: count_by
SELECT {columns}, count(*) AS n FROM memories m
 WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters} GROUP BY {columns} ORDER BY {ordered}

-- name: count_by_day
SELECT substr(m.created_at, 1, 10) AS day, count(*) AS n FROM memories m
 WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters} GROUP BY 1 ORDER BY 1

-- name: count_removed
SELECT count(*) AS n FROM memories WHERE tenant = :tenant AND removed IS NOT NULL

-- name: states_of_stream
SELECT m.*, v.body FROM memories m JOIN versions v USING (tenant, stream, memory)
 WHERE m.tenant = :tenant AND m.stream = :stream ORDER BY m.memory

-- name: put_memory
-- A row that is there already takes over whom its version names: a name can be cut out of a version, and nothing else changes.
INSERT INTO memories (tenant, stream, memory, id, status, version, supersedes_id, superseded_by_id, related, conflicts,
    canonical_key, key_digest, slot, subject_value, key_identity, pinned, importance, importance_reason, authority,
    authority_reason, category, tags, reinforcements, last_reinforced, last_modified, expires_at, expires_at_tick, valid_from,
    valid_until, deleted_at, purge_at, removed, created_at, scope, content_hash, kind, kind_class, event_type, layer, tier,
    topic_id, source, user_id, agent_id, run_id, thread_id, actor_id, role, author_id, author_name, confidence, phase, terms,
    vouchers)
VALUES (:tenant, :stream, :memory, :id, :status, :version, :supersedes_id, :superseded_by_id, :related, :conflicts,
    :canonical_key, :key_digest, :slot, :subject_value, :key_identity, :pinned, :importance, :importance_reason,
    :authority, :authority_reason, :category, :tags, :reinforcements, :last_reinforced, :last_modified, :expires_at,
    :expires_at_tick, :valid_from, :valid_until, :deleted_at, :purge_at, :removed, :created_at, :scope, :content_hash,
    :kind, :kind_class, :event_type, :layer, :tier, :topic_id,
    :source, :user_id, :agent_id, :run_id, :thread_id, :actor_id, :role, :author_id, :author_name, :confidence, :phase,
    :terms, :vouchers)
ON CONFLICT (tenant, stream, memory) DO UPDATE
   SET user_id = excluded.user_id, actor_id = excluded.actor_id, thread_id = excluded.thread_id, run_id = excluded.run_id,
       author_id = excluded.author_id, author_name = excluded.author_name

-- name: move_memory
-- Once a higher authority confirmed a statement, how sure the first speaker was counts no more.
UPDATE memories SET status = :status, version = :version, supersedes_id = :supersedes_id,
    superseded_by_id = :superseded_by_id, related = :related, conflicts = :conflicts, canonical_key = :canonical_key,
    key_digest = :key_digest, slot = :slot, subject_value = :subject_value, key_identity = CASE WHEN key_identity = :apart THEN :apart ELSE :key_identity END,
    pinned = :pinned, importance = :importance, importance_reason = :importance_reason, authority = :authority,
    authority_reason = :authority_reason, category = :category, tags = :tags, reinforcements = :reinforcements,
    last_reinforced = :last_reinforced, last_modified = :last_modified, expires_at = :expires_at,
    expires_at_tick = :expires_at_tick, valid_from = :valid_from, valid_until = :valid_until, deleted_at = :deleted_at,
    purge_at = :purge_at, removed = :removed, vouchers = :vouchers,
    confidence = CASE WHEN authority = :authority THEN confidence END
 WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: strip_memory
UPDATE memories SET scope = NULL, content_hash = NULL, kind = NULL, kind_class = NULL, event_type = NULL, layer = NULL,
    tier = NULL, topic_id = NULL, slot = NULL, subject_value = NULL, source = NULL, user_id = NULL, agent_id = NULL, run_id = NULL, thread_id = NULL,
    actor_id = NULL, role = NULL, author_id = NULL, author_name = NULL, confidence = NULL, phase = NULL, terms = NULL
 WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: drop_memories
DELETE FROM memories WHERE tenant = :tenant AND stream = :stream

-- name: first_expiry
SELECT (SELECT min(expires_at) FROM memories
         WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND expires_at IS NOT NULL),
       (SELECT min(expires_at_tick) FROM memories
         WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND expires_at_tick IS NOT NULL)

-- name: expired
SELECT id FROM memories WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND expires_at <= :now
 UNION
SELECT id FROM memories WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND expires_at_tick <= :tick
 ORDER BY 1

-- name: unused
SELECT m.id FROM memories m LEFT JOIN accesses a ON a.tenant = :tenant AND a.id = m.id
 WHERE m.tenant = :tenant AND m.stream = :stream AND m.status = 'active' AND m.pinned = 0
   AND m.importance < :importance AND m.last_reinforced < :before AND coalesce(a.last, '') < :before
 ORDER BY m.memory

-- name: add_alias
INSERT INTO aliases (tenant, alias, id) VALUES (:tenant, :alias, :id) ON CONFLICT DO NOTHING

-- name: remove_aliases
DELETE FROM aliases WHERE tenant = :tenant AND id = :id

-- name: aliases_of_tenant
SELECT alias, id FROM aliases WHERE tenant = :tenant ORDER BY alias, id

-- name: orphans
SELECT stream FROM ledger WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM versions WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM amendments WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM memories WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM postings WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM vectors WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM parents WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT stream FROM rejections WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT from_stream AS stream FROM relations WHERE tenant = :tenant
   AND from_stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 UNION
SELECT to_stream AS stream FROM relations WHERE tenant = :tenant
   AND to_stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant)
 ORDER BY 1

-- ── text index ──────────────────────────────────────────────────────────────────────────────────────────────────
-- The count of a term stands at place -9223372036854775807, before every posting.

-- name: drop_postings
DELETE FROM postings WHERE tenant = :tenant AND stream = :stream

-- name: set_terms
UPDATE memories SET terms = :terms WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: postings
SELECT -place, tf, length FROM postings
 WHERE tenant = :tenant AND stream = :stream AND term = :term AND place > -9223372036854775807
 ORDER BY place LIMIT :limit

-- name: postings_of_stream
SELECT term, -place, tf, length FROM postings
 WHERE tenant = :tenant AND stream = :stream AND place > -9223372036854775807 ORDER BY term, place DESC

-- name: active_between_scopes
-- Between two names, so that an index answers without walking the stream.
SELECT count(*) AS n FROM memories
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND scope > :after AND scope < :before

-- ── beside the ledger ───────────────────────────────────────────────────────────────────────────────────────────

-- name: remove_accesses
DELETE FROM accesses WHERE tenant = :tenant AND id = :id

-- name: keep_policy
INSERT INTO policies (tenant, hash, body) VALUES (:tenant, :hash, :body) ON CONFLICT DO NOTHING

-- name: policy_kept
SELECT body FROM policies WHERE tenant = :tenant AND hash = :hash

-- name: remove_traces_before
DELETE FROM traces WHERE tenant = :tenant AND at < :at

-- name: remove_traces_beyond
DELETE FROM traces WHERE tenant = :tenant
   AND number <= (SELECT number FROM traces WHERE tenant = :tenant ORDER BY number DESC LIMIT 1 OFFSET :max_kept)

-- name: remove_trace
DELETE FROM traces WHERE tenant = ? AND number = ?

-- name: remove_traces_of_stream
DELETE FROM traces WHERE tenant = :tenant AND stream = :stream

-- name: retry
SELECT digest, salt, outcome, memory_id, reasons, answer FROM retries WHERE tenant = :tenant AND key = :key

-- name: keep_retry
INSERT INTO retries (tenant, key, digest, salt, outcome, memory_id, reasons, at)
VALUES (:tenant, :key, :digest, :salt, :outcome, :memory_id, :reasons, :at)

-- name: claim_retry
INSERT INTO retries (tenant, key, digest, salt, outcome, memory_id, reasons, at)
VALUES (:tenant, :key, :digest, :salt, '', '', '[]', :at)

-- name: keep_answer
UPDATE retries SET answer = :answer WHERE tenant = :tenant AND key = :key AND salt = :salt AND answer IS NULL

-- name: release_retry
DELETE FROM retries WHERE tenant = :tenant AND key = :key AND salt = :salt

-- name: empty_answers
UPDATE retries SET answer = '' WHERE tenant = :tenant AND memory_id = '' AND (answer IS NULL OR answer <> '')

-- name: remove_answers_before
DELETE FROM retries WHERE tenant = :tenant AND memory_id = '' AND at < :at

-- name: remove_retries
DELETE FROM retries WHERE tenant = :tenant AND memory_id = :id

-- ── carrying a tenant to another store ──────────────────────────────────────────────────────────────────────────

-- name: rows_after
SELECT {columns} FROM {table} WHERE tenant = :tenant AND {filters} ORDER BY {key} LIMIT :limit

-- name: last_key
SELECT {columns} FROM {table} WHERE tenant = :tenant AND {filters} ORDER BY {key} LIMIT 1

-- name: count_rows
SELECT count(*) AS n FROM {table} WHERE tenant = :tenant AND {filters}

-- name: naming
-- Of each column, whether any row holds a name: as its value, or as a string within a JSON text.
SELECT {columns} FROM {table} WHERE tenant = :tenant AND {filters}

-- name: put_rows
INSERT INTO {table} ({columns}) VALUES ({values})

-- ── the store as a whole ────────────────────────────────────────────────────────────────────────────────────────

-- name: store_value
SELECT value FROM store WHERE name = :name
