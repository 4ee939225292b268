-- Every statement that the SQLite store runs, by name. Parameters are written :name.
-- Lists arrive as JSON arrays, read with json_each; CROSS JOIN makes SQLite start from the list and not from the table.

-- ── streams ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- name: stream_at
SELECT * FROM streams WHERE tenant = :tenant AND namespace = :namespace AND space = :space AND owner = :owner

-- name: stream_numbered
SELECT * FROM streams WHERE tenant = :tenant AND stream = :stream

-- name: streams_of_tenant
SELECT * FROM streams WHERE tenant = :tenant ORDER BY stream

-- name: streams_of_owner
SELECT * FROM streams WHERE tenant = :tenant AND owner = :owner ORDER BY stream

-- name: streams_of_space
SELECT * FROM streams WHERE tenant = :tenant AND space = :space ORDER BY stream

-- One writer at a time is all that locking takes here; other engines lock the rows.
-- name: locked_stream
SELECT * FROM streams WHERE tenant = :tenant AND stream = :stream

-- name: locked_streams
SELECT * FROM streams WHERE tenant = :tenant AND (:owner IS NULL OR owner = :owner) ORDER BY stream

-- name: no_new_streams
SELECT :tenant WHERE 0

-- name: add_stream
INSERT INTO streams (tenant, stream, uid, namespace, space, owner, head)
SELECT :tenant, coalesce(max(stream), 0) + 1, :uid, :namespace, :space, :owner, :head FROM streams WHERE tenant = :tenant

-- name: advance_stream
UPDATE streams SET tick = :tick, last_seq = :last_seq, last_memory = :last_memory, head = :head, last_at = :last_at,
       documents = :documents, words = :words, phase = :phase
 WHERE tenant = :tenant AND stream = :stream

-- name: forget_owner_name
UPDATE streams SET owner = NULL WHERE tenant = :tenant AND stream = :stream

-- name: forget_phase_names
UPDATE amendments SET body = NULL, salt = NULL WHERE tenant = :tenant AND stream = :stream AND body IS NOT NULL
   AND seq IN (SELECT seq FROM ledger WHERE tenant = :tenant AND stream = :stream AND event = 'phase_started')

-- name: actor_named
SELECT uid FROM actors WHERE tenant = :tenant AND name = :name

-- name: add_actor
INSERT INTO actors (tenant, uid, name, salt) VALUES (:tenant, :uid, :name, :salt)

-- name: actor_names
SELECT uid, name, salt FROM actors WHERE tenant = :tenant ORDER BY uid

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
UPDATE amendments SET body = NULL, salt = NULL WHERE tenant = :tenant AND memory_id = :id AND body IS NOT NULL

-- name: first_entry
SELECT tick, at FROM ledger WHERE tenant = :tenant AND stream = :stream ORDER BY seq LIMIT 1

-- name: phases
SELECT l.rule, l.tick, l.at, a.body FROM ledger l LEFT JOIN amendments a USING (tenant, stream, seq)
 WHERE l.tenant = :tenant AND l.stream = :stream AND l.event = 'phase_started' ORDER BY l.seq

-- name: consolidation_entries
SELECT l.*, s.uid, a.body FROM amendments a JOIN ledger l USING (tenant, stream, seq) JOIN streams s USING (tenant, stream)
 WHERE a.tenant = :tenant AND l.event IN ('consolidated', 'rekeyed', 'linked', 'restored', 'unlinked')
   AND a.body LIKE '%"run":%' ORDER BY l.stream, l.seq

-- ── current state ───────────────────────────────────────────────────────────────────────────────────────────────

-- name: memories_by_ids
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM json_each(:ids) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.id = wanted.value
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id

-- name: memories_numbered
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM json_each(:numbers) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = wanted.value
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id

-- name: memories_at
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM json_each(:places) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = json_extract(wanted.value, '$[0]')
   AND m.memory = json_extract(wanted.value, '$[1]')
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id

-- name: contents_at
SELECT v.stream, v.memory, json_extract(v.body, '$.content') AS content FROM json_each(:places) wanted
 CROSS JOIN versions v ON v.tenant = :tenant AND v.stream = json_extract(wanted.value, '$[0]')
   AND v.memory = json_extract(wanted.value, '$[1]')
 WHERE v.body IS NOT NULL

-- name: entities_at
-- Few bodies have any, and looking for the word is much cheaper than reading the body.
SELECT v.stream, v.memory, json_extract(v.body, '$.entities') AS entities FROM json_each(:places) wanted
 CROSS JOIN versions v ON v.tenant = :tenant AND v.stream = json_extract(wanted.value, '$[0]')
   AND v.memory = json_extract(wanted.value, '$[1]')
 WHERE v.body LIKE '%"entities":%' AND json_type(v.body, '$.entities') = 'array'

-- name: candidates
-- Those that are kept beside one another are of one key.
SELECT m.stream, m.memory, m.id, m.scope, m.category, lower(m.canonical_key), m.phase, m.created_at, m.kind_class,
       m.source, m.authority, m.importance, m.pinned, m.tier, m.thread_id, m.user_id, m.actor_id, m.vouchers
  FROM json_each(:places) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = json_extract(wanted.value, '$[0]')
   AND m.memory = json_extract(wanted.value, '$[1]')
 WHERE {filters}

-- name: ids_with_prefix
SELECT id FROM memories WHERE tenant = :tenant AND id >= :low AND id < :high ORDER BY id LIMIT :limit

-- name: ids_with_alias
SELECT id FROM aliases WHERE tenant = :tenant AND alias = :alias ORDER BY id LIMIT :limit

-- name: active_with_key
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM memories m
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE m.tenant = :tenant AND m.stream = :stream AND m.scope = :scope AND m.kind_class = :kind_class
   AND m.key_identity >= :low AND m.key_identity < :end AND m.status = 'active'

-- name: key_holders
SELECT m.memory FROM json_each(:scopes) s CROSS JOIN json_each(:keys) k
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.scope = s.value
   AND m.kind_class = json_extract(k.value, '$[0]') AND m.key_identity >= json_extract(k.value, '$[1]')
   AND m.key_identity < json_extract(k.value, '$[1]') || '$' AND m.status = 'active'

-- name: select_memories
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM memories m
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters}
 ORDER BY m.created_at DESC, m.stream DESC, m.memory DESC LIMIT :limit

-- name: select_in_stream
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM memories m
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE m.tenant = :tenant AND m.stream = :stream AND m.removed IS NULL AND {filters}
 ORDER BY m.memory DESC LIMIT :limit

-- name: newest_turns
SELECT memory FROM memories INDEXED BY memories_turns
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND kind = 'short_term'
 ORDER BY memory DESC LIMIT :limit

-- name: newest_profile
SELECT memory FROM memories INDEXED BY memories_profile
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND kind = 'profile'
 ORDER BY memory DESC LIMIT :limit

-- name: newest_rules
SELECT memory FROM memories INDEXED BY memories_rules
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND layer = 'intent'
   AND authority <> 'ai_inferred'
 ORDER BY memory DESC LIMIT :limit

-- name: count_memories
SELECT count(*) AS n FROM memories m WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters}

-- name: count_by
SELECT m.{column} AS value, count(*) AS n FROM memories m
 WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters} GROUP BY m.{column} ORDER BY m.{column}

-- name: count_removed
SELECT count(*) AS n FROM memories WHERE tenant = :tenant AND removed IS NOT NULL

-- name: states_of_stream
SELECT m.*, v.body FROM memories m JOIN versions v USING (tenant, stream, memory)
 WHERE m.tenant = :tenant AND m.stream = :stream ORDER BY m.memory

-- name: put_memory
-- A row that is there already takes over whom its version names: a name can be cut out of a version, and nothing else changes.
INSERT INTO memories (tenant, stream, memory, id, status, version, supersedes_id, superseded_by_id, related, conflicts,
    canonical_key, key_digest, key_identity, pinned, importance, importance_reason, authority, authority_reason,
    category, tags, reinforcements, last_reinforced, last_modified, expires_at, expires_at_tick, deleted_at, purge_at,
    removed, created_at, scope, content_hash, kind, kind_class, event_type, layer, tier, topic_id, source, user_id,
    agent_id, run_id, thread_id, actor_id, role, phase, terms, vouchers)
VALUES (:tenant, :stream, :memory, :id, :status, :version, :supersedes_id, :superseded_by_id, :related, :conflicts,
    :canonical_key, :key_digest, :key_identity, :pinned, :importance, :importance_reason, :authority, :authority_reason,
    :category, :tags, :reinforcements, :last_reinforced, :last_modified, :expires_at, :expires_at_tick, :deleted_at,
    :purge_at, :removed, :created_at, :scope, :content_hash, :kind, :kind_class, :event_type, :layer, :tier, :topic_id,
    :source, :user_id, :agent_id, :run_id, :thread_id, :actor_id, :role, :phase, :terms, :vouchers)
ON CONFLICT (tenant, stream, memory) DO UPDATE SET user_id = excluded.user_id, actor_id = excluded.actor_id

-- name: move_memory
UPDATE memories SET status = :status, version = :version, supersedes_id = :supersedes_id,
    superseded_by_id = :superseded_by_id, related = :related, conflicts = :conflicts, canonical_key = :canonical_key,
    key_digest = :key_digest, key_identity = CASE WHEN key_identity = :apart THEN :apart ELSE :key_identity END,
    pinned = :pinned, importance = :importance, importance_reason = :importance_reason, authority = :authority,
    authority_reason = :authority_reason, category = :category, tags = :tags, reinforcements = :reinforcements,
    last_reinforced = :last_reinforced, last_modified = :last_modified, expires_at = :expires_at,
    expires_at_tick = :expires_at_tick, deleted_at = :deleted_at, purge_at = :purge_at, removed = :removed,
    vouchers = :vouchers
 WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: strip_memory
UPDATE memories SET scope = NULL, content_hash = NULL, kind = NULL, kind_class = NULL, event_type = NULL, layer = NULL, tier = NULL,
    topic_id = NULL, source = NULL, user_id = NULL, agent_id = NULL, run_id = NULL, thread_id = NULL, actor_id = NULL,
    role = NULL, phase = NULL, terms = NULL
 WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: drop_memories
DELETE FROM memories WHERE tenant = :tenant AND stream = :stream

-- name: expired
SELECT id FROM memories WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND expires_at <= :now
 UNION
SELECT id FROM memories WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND expires_at_tick <= :tick
 ORDER BY 1

-- name: unused
SELECT m.id FROM memories m LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
 WHERE m.tenant = :tenant AND m.stream = :stream AND m.status = 'active' AND m.pinned = 0
   AND m.importance < :importance AND m.last_reinforced < :before AND coalesce(a.last, '') < :before
 ORDER BY m.memory

-- name: to_purge
SELECT id FROM memories INDEXED BY memories_to_purge
 WHERE tenant = :tenant AND stream = :stream AND purge_at IS NOT NULL AND purge_at <= :now AND removed IS NULL
 ORDER BY memory

-- name: add_alias
INSERT OR IGNORE INTO aliases (tenant, alias, id) VALUES (:tenant, :alias, :id)

-- name: remove_aliases
DELETE FROM aliases WHERE tenant = :tenant AND id = :id

-- name: aliases_of_tenant
SELECT alias, id FROM aliases WHERE tenant = :tenant ORDER BY alias, id

-- name: orphans
SELECT stream, count(*) AS n FROM ledger WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant) GROUP BY stream
 UNION
SELECT stream, count(*) AS n FROM versions WHERE tenant = :tenant
   AND stream NOT IN (SELECT stream FROM streams WHERE tenant = :tenant) GROUP BY stream
 ORDER BY 1

-- ── text index ──────────────────────────────────────────────────────────────────────────────────────────────────
-- The count of a term stands at place -9223372036854775807, before every posting.

-- name: add_posting
INSERT INTO postings (tenant, stream, term, place, tf, length) VALUES (?, ?, ?, -?, ?, ?)

-- name: count_term
INSERT INTO postings (tenant, stream, term, place, tf, length) VALUES (?, ?, ?, -9223372036854775807, 1, 0)
ON CONFLICT (tenant, stream, term, place) DO UPDATE SET tf = tf + 1

-- name: remove_posting
DELETE FROM postings WHERE tenant = ? AND stream = ? AND term = ? AND place = -?

-- name: uncount_term
UPDATE postings SET tf = tf - 1 WHERE tenant = ? AND stream = ? AND term = ? AND place = -9223372036854775807

-- name: drop_uncounted_terms
DELETE FROM postings WHERE tenant = ? AND stream = ? AND term = ? AND place = -9223372036854775807 AND tf <= 0

-- name: drop_postings
DELETE FROM postings WHERE tenant = :tenant AND stream = :stream

-- name: set_terms
UPDATE memories SET terms = :terms WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: term_frequencies
SELECT p.term, p.tf FROM json_each(:terms) wanted
 CROSS JOIN postings p ON p.tenant = :tenant AND p.stream = :stream AND p.term = wanted.value
                      AND p.place = -9223372036854775807

-- name: postings
SELECT -place, tf, length FROM postings
 WHERE tenant = :tenant AND stream = :stream AND term = :term AND place > -9223372036854775807
 ORDER BY place LIMIT :limit

-- name: fitting_postings
SELECT -p.place, p.tf, p.length FROM postings p
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = -p.place
 WHERE p.tenant = :tenant AND p.stream = :stream AND p.term = :term AND p.place > -9223372036854775807 AND {filters}
 ORDER BY p.place LIMIT :limit

-- name: postings_of
SELECT -p.place, p.tf, p.length FROM json_each(:numbers) wanted
 CROSS JOIN postings p ON p.tenant = :tenant AND p.stream = :stream AND p.term = :term AND p.place = -wanted.value

-- name: sharing
-- Few share enough, and only those are looked at more closely.
SELECT m.memory
  FROM (SELECT p.place, count(*) AS shared FROM json_each(:terms) wanted
         CROSS JOIN postings p ON p.tenant = :tenant AND p.stream = :stream AND p.term = wanted.value
                              AND p.place > -9223372036854775807 AND p.place < -:after
         GROUP BY p.place HAVING count(*) >= :shared_min) s
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = -s.place
 WHERE {filters} ORDER BY s.shared DESC, s.place LIMIT :limit

-- name: terms_of
SELECT terms FROM memories WHERE tenant = :tenant AND stream = :stream AND memory = :memory

-- name: postings_of_stream
SELECT term, -place, tf, length FROM postings
 WHERE tenant = :tenant AND stream = :stream AND place > -9223372036854775807 ORDER BY term, place DESC

-- name: terms_counted
SELECT term, tf FROM postings
 WHERE tenant = :tenant AND stream = :stream AND place = -9223372036854775807 ORDER BY term

-- name: terms_of_stream
SELECT memory, terms FROM memories WHERE tenant = :tenant AND stream = :stream AND terms IS NOT NULL ORDER BY memory

-- name: texts_numbered
SELECT m.memory, m.id, m.terms FROM json_each(:numbers) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = wanted.value
 WHERE m.status = 'active'

-- name: visible_numbers
SELECT m.memory FROM json_each(:numbers) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = wanted.value
 WHERE {filters}

-- name: active_between_scopes
-- Between two names, so that an index answers without walking the stream.
SELECT count(*) AS n FROM memories
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND scope > :after AND scope < :before

-- name: active_between_categories
SELECT count(*) AS n FROM memories
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND category > :after AND category < :before
   AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))

-- ── beside the ledger ───────────────────────────────────────────────────────────────────────────────────────────

-- name: count_access
INSERT INTO accesses (tenant, id, count, last) VALUES (?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)

-- name: remove_accesses
DELETE FROM accesses WHERE tenant = :tenant AND id = :id

-- name: keep_policy
INSERT OR IGNORE INTO policies (tenant, hash, body) VALUES (:tenant, :hash, :body)

-- name: policy_kept
SELECT body FROM policies WHERE tenant = :tenant AND hash = :hash

-- name: keep_trace
INSERT INTO traces (tenant, number, at, type, stream, memory_id, policy, body)
SELECT :tenant, coalesce(max(number), 0) + 1, :at, :type, :stream, :memory_id, :policy, :body
  FROM traces WHERE tenant = :tenant

-- name: traces
SELECT * FROM traces
 WHERE tenant = :tenant AND number > :after AND number < :before AND at >= :since
   AND (:type IS NULL OR type = :type) AND (:session IS NULL OR json_extract(body, '$.session') = :session)
   AND (:memory IS NULL OR instr(body, :memory) > 0)
 ORDER BY number LIMIT :limit

-- name: latest_traces
SELECT * FROM traces
 WHERE tenant = :tenant AND number > :after AND number < :before AND at >= :since
   AND (:type IS NULL OR type = :type) AND (:session IS NULL OR json_extract(body, '$.session') = :session)
   AND (:memory IS NULL OR instr(body, :memory) > 0)
 ORDER BY number DESC LIMIT :limit

-- name: remove_traces_before
DELETE FROM traces WHERE tenant = :tenant AND at < :at

-- name: remove_traces_beyond
DELETE FROM traces WHERE tenant = :tenant
   AND number <= (SELECT number FROM traces WHERE tenant = :tenant ORDER BY number DESC LIMIT 1 OFFSET :max_kept)

-- name: remove_traces_of_memory
DELETE FROM traces WHERE tenant = :tenant AND (memory_id = :id OR instr(body, :id) > 0)

-- name: remove_traces_holding
DELETE FROM traces WHERE tenant = :tenant AND instr(body, :text) > 0

-- name: remove_traces_of_stream
DELETE FROM traces WHERE tenant = :tenant AND stream = :stream

-- name: retry
SELECT digest, salt, outcome, memory_id, reasons FROM retries WHERE tenant = :tenant AND key = :key

-- name: keep_retry
INSERT INTO retries (tenant, key, digest, salt, outcome, memory_id, reasons, at)
VALUES (:tenant, :key, :digest, :salt, :outcome, :memory_id, :reasons, :at)

-- name: remove_retries
DELETE FROM retries WHERE tenant = :tenant AND memory_id = :id

-- ── carrying a tenant to another store ──────────────────────────────────────────────────────────────────────────

-- name: tables
SELECT t.name AS "table", c.name AS "column", c.pk AS place FROM sqlite_master t JOIN pragma_table_info(t.name) c
 WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'tenant')
 ORDER BY t.name, c.name

-- name: rows_after
SELECT {columns} FROM {table} WHERE tenant = :tenant AND {filters} ORDER BY {key} LIMIT :limit

-- name: last_key
SELECT {columns} FROM {table} WHERE tenant = :tenant AND {filters} ORDER BY {key} LIMIT 1

-- name: count_rows
SELECT count(*) AS n FROM {table} WHERE tenant = :tenant AND {filters}

-- name: clear_rows
DELETE FROM {table} WHERE tenant = :tenant AND {filters}

-- name: put_rows
INSERT INTO {table} ({columns}) VALUES ({values})

-- name: tenants
SELECT DISTINCT tenant FROM {table} WHERE {filters}

-- name: note_scrub_due
INSERT INTO store (name, value) VALUES ('scrub_due', 'yes') ON CONFLICT (name) DO NOTHING

-- name: scrub_done
DELETE FROM store WHERE name = 'scrub_due'

-- name: store_value
SELECT value FROM store WHERE name = :name

-- name: store_values
SELECT name, value FROM store WHERE substr(name, 1, length(:prefix)) = :prefix ORDER BY name

-- name: remove_store_value
DELETE FROM store WHERE name = :name

-- name: set_store_value
INSERT INTO store (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value
