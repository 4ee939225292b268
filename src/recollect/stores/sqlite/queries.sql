-- The statements that SQLite needs in its own words, by name. Those that every engine runs as they stand are in stores/sql.
-- Lists arrive as JSON arrays, read with json_each; CROSS JOIN makes SQLite start from the list and not from the table.

-- ── streams ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- One writer at a time is all that locking takes here; other engines lock the rows.
-- name: streams_within
SELECT * FROM streams WHERE tenant = :tenant AND owner IN (SELECT value FROM json_each(:owners))
 UNION
SELECT * FROM streams WHERE tenant = :tenant AND space = :space

-- name: locked_stream
SELECT * FROM streams WHERE tenant = :tenant AND stream = :stream

-- name: locked_streams
SELECT * FROM streams WHERE tenant = :tenant ORDER BY stream

-- name: no_new_streams
SELECT :tenant WHERE 0

-- ── versions, ledger, amendments ────────────────────────────────────────────────────────────────────────────────

-- name: consolidation_entries
SELECT l.*, s.uid, a.body FROM amendments a JOIN ledger l USING (tenant, stream, seq) JOIN streams s USING (tenant, stream)
 WHERE a.tenant = :tenant AND l.event IN ('archived', 'consolidated', 'rekeyed', 'linked', 'restored', 'unlinked')
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

-- name: nearby
SELECT m.memory, m.id, m.canonical_key, m.created_at, m.scope, m.category, m.phase, m.slot, m.subject_value,
       json_extract(v.body, '$.content') AS content
  FROM json_each(:numbers) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = wanted.value
  JOIN versions v USING (tenant, stream, memory)
 WHERE m.status = 'active' AND m.kind = 'semantic' AND v.body IS NOT NULL AND {filters}

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
 WHERE v.body IS NOT NULL AND {filters}

-- name: entities_at
-- Few bodies have any, and looking for the word is much cheaper than reading the body.
SELECT v.stream, v.memory, json_extract(v.body, '$.entities') AS entities FROM json_each(:places) wanted
 CROSS JOIN versions v ON v.tenant = :tenant AND v.stream = json_extract(wanted.value, '$[0]')
   AND v.memory = json_extract(wanted.value, '$[1]')
 WHERE v.body LIKE '%"entities":%' AND {filters} AND json_type(v.body, '$.entities') = 'array'

-- name: candidates
-- Those that are kept beside one another are of one key.
SELECT m.stream, m.memory, m.id, m.scope, m.category, lower(m.canonical_key), m.phase, m.created_at, m.kind_class,
       m.source, m.authority, m.importance, m.pinned, m.tier, m.thread_id, m.user_id, m.actor_id, m.vouchers,
       m.valid_from, m.valid_until
  FROM json_each(:places) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = json_extract(wanted.value, '$[0]')
   AND m.memory = json_extract(wanted.value, '$[1]')
 WHERE {filters}

-- name: active_with_key
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM memories m
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE m.tenant = :tenant AND m.stream = :stream AND m.scope = :scope AND m.kind_class = :kind_class
   AND m.key_identity >= :low AND m.key_identity < :end AND m.status = 'active'

-- name: active_about
-- Those that a changed value or a retraction may be about: they share the slot, or whom and what they name.
-- For their order the planner would walk through the whole stream.
SELECT memory FROM memories INDEXED BY memories_by_slot
 WHERE tenant = :tenant AND stream = :stream AND slot = :slot AND status = 'active'
 UNION
SELECT memory FROM memories INDEXED BY memories_by_subject_value
 WHERE tenant = :tenant AND stream = :stream AND subject_value = :subject_value
   AND status = 'active'
 ORDER BY 1 LIMIT :limit

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

-- name: standing
-- The newest of a sort, each sort by its own index; those of them that fit.
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash
  FROM (SELECT memory FROM memories INDEXED BY memories_{which}
         WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND {sort}
         ORDER BY memory DESC LIMIT :limit) newest
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = newest.memory
  JOIN versions v USING (tenant, stream, memory)
  LEFT JOIN accesses a ON a.tenant = m.tenant AND a.id = m.id
  LEFT JOIN memories b ON b.tenant = m.tenant AND b.id = m.supersedes_id
 WHERE {filters} ORDER BY m.memory DESC

-- name: to_purge
SELECT id FROM memories INDEXED BY memories_to_purge
 WHERE tenant = :tenant AND stream = :stream AND purge_at IS NOT NULL AND purge_at <= :now AND removed IS NULL
 ORDER BY memory

-- ── text index ──────────────────────────────────────────────────────────────────────────────────────────────────
-- The count of a term stands at place -9223372036854775807, before every posting.

-- name: add_postings
-- Only the count of a term may be there already: a second posting of one memory breaks the constraint.
INSERT INTO postings (tenant, stream, term, place, tf, length) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, stream, term, place)
DO UPDATE SET tf = CASE WHEN place = -9223372036854775807 THEN tf + 1 END

-- name: remove_posting
DELETE FROM postings WHERE tenant = ? AND stream = ? AND term = ? AND place = -?

-- name: uncount_term
UPDATE postings SET tf = tf - ?4 WHERE tenant = ?1 AND stream = ?2 AND term = ?3 AND place = -9223372036854775807

-- name: drop_uncounted_terms
DELETE FROM postings WHERE tenant = ? AND stream = ? AND term = ? AND place = -9223372036854775807 AND tf <= 0

-- name: term_frequencies
SELECT p.term, p.tf FROM json_each(:terms) wanted
 CROSS JOIN postings p ON p.tenant = :tenant AND p.stream = :stream AND p.term = wanted.value
                      AND p.place = -9223372036854775807

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
SELECT memory, terms FROM memories WHERE tenant = :tenant AND stream = :stream
   AND memory IN (SELECT value FROM json_each(:numbers)) AND terms IS NOT NULL ORDER BY memory

-- name: texts_numbered
SELECT m.memory, m.id, m.terms FROM json_each(:numbers) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = wanted.value
 WHERE m.status = 'active'

-- name: visible_numbers
SELECT m.memory FROM json_each(:numbers) wanted
 CROSS JOIN memories m ON m.tenant = :tenant AND m.stream = :stream AND m.memory = wanted.value
 WHERE {filters}

-- name: active_between_categories
SELECT count(*) AS n FROM memories
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND category > :after AND category < :before
   AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))

-- ── beside the ledger ───────────────────────────────────────────────────────────────────────────────────────────

-- name: count_access
INSERT INTO accesses (tenant, id, count, last) VALUES (?, ?, ?, ?)
ON CONFLICT (tenant, id) DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)

-- name: keep_trace
INSERT INTO traces (tenant, number, at, type, stream, memory_id, policy, body)
SELECT :tenant, coalesce(max(number), 0) + 1, :at, :type, :stream, :memory_id, :policy, :body
  FROM traces WHERE tenant = :tenant

-- name: traces
SELECT * FROM traces
 WHERE tenant = :tenant AND number > :after AND number < :before AND at >= :since
   AND (:type IS NULL OR type = :type) AND (:session IS NULL OR (json_valid(body) AND json_extract(body, '$.session') = :session))
   AND (:memory IS NULL OR instr(body, :memory) > 0)
 ORDER BY number LIMIT :limit

-- name: latest_traces
SELECT * FROM traces
 WHERE tenant = :tenant AND number > :after AND number < :before AND at >= :since
   AND (:type IS NULL OR type = :type) AND (:session IS NULL OR (json_valid(body) AND json_extract(body, '$.session') = :session))
   AND (:memory IS NULL OR instr(body, :memory) > 0)
 ORDER BY number DESC LIMIT :limit

-- name: remove_traces_of_memory
DELETE FROM traces WHERE tenant = :tenant AND (memory_id = :id OR instr(body, :id) > 0)

-- name: traces_holding
SELECT number, body FROM traces WHERE tenant = :tenant AND instr(body, :text) > 0

-- name: remove_traces_holding
DELETE FROM traces WHERE tenant = :tenant AND instr(body, :text) > 0

-- ── carrying a tenant to another store ──────────────────────────────────────────────────────────────────────────

-- name: tables
SELECT t.name AS "table", c.name AS "column", c.pk AS place FROM sqlite_master t JOIN pragma_table_info(t.name) c
 WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'tenant')
 ORDER BY t.name, c.name

-- name: column_types
SELECT t.name, c.name, lower(c.type) FROM sqlite_master t JOIN pragma_table_info(t.name) c
 WHERE t.type = 'table' ORDER BY t.name, c.cid

-- name: is_mistyped
CASE WHEN max(typeof({column}) NOT IN ('{type}', 'null')) THEN '{table}.{column}' END

-- name: mistyped
SELECT {columns} FROM {table}

-- name: clear_rows
DELETE FROM {table} WHERE tenant = :tenant AND {filters}

-- name: tenants
SELECT DISTINCT tenant FROM {table} WHERE {filters}

-- ── the store as a whole ────────────────────────────────────────────────────────────────────────────────────────

-- name: note_scrub_due
INSERT INTO store (name, value) VALUES ('scrub_due', 'yes') ON CONFLICT (name) DO NOTHING

-- name: scrub_done
DELETE FROM store WHERE name = 'scrub_due'

-- name: store_value_names
SELECT name FROM store WHERE substr(name, 1, length(:prefix)) = :prefix ORDER BY name

-- name: remove_store_value
DELETE FROM store WHERE name = :name

-- name: set_store_value
INSERT INTO store (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value
