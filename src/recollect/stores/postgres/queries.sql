-- The statements of an operation that PostgreSQL needs in its own words, by name. Those that every engine runs as they
-- stand are in stores/sql.
-- Lists arrive as JSON arrays. Where a result's order follows the list, WITH ORDINALITY keeps it; and each of the list is
-- looked up by itself (LATERAL … LIMIT 1), since the planner, who cannot know how long the list is, would read the table.
-- Statements that take many rows at once take a column of each as an array, in the order of the question marks.

-- ── the frame of a transaction ──────────────────────────────────────────────────────────────────────────────────

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY

-- name: begin_write
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE

-- name: enter
-- All of it ends with the transaction, so that a pooler may give the connection to somebody else afterwards. Every statement has an
-- index to go by: a plan from when a table fitted on a page must not read the whole of it once it has grown. So one plan serves
-- for all parameters, and making it anew for each call would take a third of the server's time for a query.
SELECT set_config('role', 'recollect_app', true),
       set_config('search_path', 'recollect, pg_temp', true),
       set_config('recollect.tenant', :tenant, true),
       set_config('statement_timeout', :statement_ms, true),
       set_config('lock_timeout', :lock_ms, true),
       set_config('idle_in_transaction_session_timeout', :idle_ms, true),
       set_config('jit', 'off', true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true),
       set_config('max_parallel_workers_per_gather', '0', true)

-- name: before_commit
-- A commit that waits for a standby must not be cut short: the server would answer as if the standby had it.
SELECT set_config('statement_timeout', '0', true)

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- ── streams ─────────────────────────────────────────────────────────────────────────────────────────────────────
-- Rows are always locked in the order of their numbers, and new streams are made under a lock of the tenant's that is
-- taken before any row's: so writers that name their streams first never wait for each other in a circle.

-- name: lock_streams_if_all_exist
SELECT s.* FROM streams s
  JOIN jsonb_to_recordset(:addresses::jsonb) AS a (namespace text, space text, owner text)
    ON s.tenant = :tenant AND s.namespace = a.namespace AND s.space = a.space AND s.owner = a.owner
 WHERE :wanted = (SELECT count(*) FROM streams t
                    JOIN jsonb_to_recordset(:addresses::jsonb) AS b (namespace text, space text, owner text)
                      ON t.tenant = :tenant AND t.namespace = b.namespace AND t.space = b.space AND t.owner = b.owner)
 ORDER BY s.stream FOR UPDATE OF s

-- name: lock_streams
SELECT s.* FROM streams s
  JOIN jsonb_to_recordset(:addresses::jsonb) AS a (namespace text, space text, owner text)
    ON s.tenant = :tenant AND s.namespace = a.namespace AND s.space = a.space AND s.owner = a.owner
 ORDER BY s.stream FOR UPDATE OF s

-- name: no_new_streams
SELECT pg_advisory_xact_lock(hashtextextended('recollect new streams of ' || :tenant, 0))

-- name: streams_within
SELECT * FROM streams WHERE tenant = :tenant AND owner = ANY (ARRAY(SELECT jsonb_array_elements_text(:owners::jsonb)))
 UNION
SELECT * FROM streams WHERE tenant = :tenant AND space = :space

-- name: locked_stream
SELECT * FROM streams WHERE tenant = :tenant AND stream = :stream FOR UPDATE

-- name: locked_streams
SELECT * FROM streams WHERE tenant = :tenant ORDER BY stream FOR UPDATE

-- ── versions, ledger, amendments ────────────────────────────────────────────────────────────────────────────────

-- name: consolidation_entries
SELECT l.*, s.uid, a.body FROM amendments a JOIN ledger l USING (tenant, stream, seq) JOIN streams s USING (tenant, stream)
 WHERE a.tenant = :tenant AND l.event IN ('archived', 'consolidated', 'rekeyed', 'linked', 'restored', 'unlinked')
   AND strpos(a.body, '"run":') > 0 ORDER BY l.stream, l.seq

-- ── current state ───────────────────────────────────────────────────────────────────────────────────────────────

-- What stands beside a memory is looked up for each one: a plan from when a table was small would read the whole of it later.

-- name: memories_by_ids
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash
  FROM jsonb_array_elements_text(:ids::jsonb) WITH ORDINALITY AS wanted (id, nth)
 CROSS JOIN LATERAL (SELECT * FROM memories WHERE tenant = :tenant AND id = wanted.id LIMIT 1) m
 CROSS JOIN LATERAL (SELECT body FROM versions WHERE tenant = :tenant AND stream = m.stream AND memory = m.memory LIMIT 1) v
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY wanted.nth

-- name: memories_numbered
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash
  FROM jsonb_array_elements_text(:numbers::jsonb) WITH ORDINALITY AS wanted (memory, nth)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = :stream AND memory = wanted.memory::bigint LIMIT 1) m
 CROSS JOIN LATERAL (SELECT body FROM versions WHERE tenant = :tenant AND stream = :stream AND memory = m.memory LIMIT 1) v
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY wanted.nth

-- name: nearby
SELECT m.memory, m.id, m.canonical_key, m.created_at, m.scope, m.category, m.phase, m.slot, m.subject_value,
       CASE WHEN {filters} THEN v.body::json ->> 'content' END AS content
  FROM jsonb_array_elements_text(:numbers::jsonb) WITH ORDINALITY AS wanted (memory, nth)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = :stream AND memory = wanted.memory::bigint LIMIT 1) m
 CROSS JOIN LATERAL (SELECT body FROM versions WHERE tenant = :tenant AND stream = :stream AND memory = m.memory LIMIT 1) v
 WHERE m.status = 'active' AND m.kind = 'semantic' AND v.body IS NOT NULL
 ORDER BY wanted.nth

-- name: memories_at
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash
  FROM jsonb_array_elements(:places::jsonb) WITH ORDINALITY AS wanted (place, nth)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = (wanted.place ->> 0)::bigint
                        AND memory = (wanted.place ->> 1)::bigint LIMIT 1) m
 CROSS JOIN LATERAL (SELECT body FROM versions WHERE tenant = :tenant AND stream = m.stream AND memory = m.memory LIMIT 1) v
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY wanted.nth

-- name: announced_memories
-- The memories at some places; if not all of them fit, those of each ranking that do, as many as it asks for. With them come
-- those that they are related to, their neighbours in a conversation, that have their keys elsewhere, that they name, and the active
-- ones that the chains of superseded ones end in. Each row says
-- whether it fits, whether it was compared itself, whether its key was looked for elsewhere and what its relations are: a line each,
-- since JSON takes three times as long to make. If it was not compared, it says only which of the others it may make outdated: hubs have
-- hundreds of relations. What may outdate a compared memory comes along if there is a reason other than nearness. The place {links} holds true or false, since a plan for both would be made anew each time.
WITH RECURSIVE known AS MATERIALIZED (
    SELECT m.stream, m.memory, ({filters}) IS TRUE AS fits FROM jsonb_array_elements(:places::jsonb) AS listed (place)
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND stream = (listed.place ->> 0)::bigint
                            AND memory = (listed.place ->> 1)::bigint LIMIT 1) m),
further AS MATERIALIZED (
    SELECT f.stream, f.memory FROM jsonb_array_elements(:rankings::jsonb) AS listed (ranking)
     CROSS JOIN LATERAL (SELECT m.stream, m.memory
                           FROM jsonb_array_elements(ranking -> 1) WITH ORDINALITY AS ranked (place, nth)
                          CROSS JOIN LATERAL (SELECT * FROM memories
                                               WHERE tenant = :tenant AND stream = (ranked.place ->> 0)::bigint
                                                 AND memory = (ranked.place ->> 1)::bigint LIMIT 1) m
                          WHERE {filters} ORDER BY ranked.nth LIMIT (ranking ->> 0)::bigint) f
     WHERE EXISTS (SELECT FROM known WHERE NOT fits)),
chain (stream, memory, next_id, steps) AS (
    SELECT m.stream, m.memory, m.superseded_by_id, 1 FROM known
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND stream = known.stream AND memory = known.memory
                            AND status = 'superseded' LIMIT 1) m
     WHERE NOT known.fits
     UNION ALL
    SELECT chain.stream, chain.memory, m.superseded_by_id, steps + 1 FROM chain
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND id = next_id AND status = 'superseded' LIMIT 1) m
     WHERE steps < :longest::int),
ended AS MATERIALIZED (
    SELECT chain.stream, chain.memory, m.stream AS live_stream, m.memory AS live_memory, ({filters}) IS TRUE AS fits FROM chain
     CROSS JOIN LATERAL (SELECT * FROM memories WHERE tenant = :tenant AND id = next_id AND status = 'active' LIMIT 1) m
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND stream = chain.stream AND memory = chain.memory LIMIT 1) former
     WHERE m.stream = former.stream AND m.scope = former.scope AND m.category = former.category AND m.kind = former.kind
       AND m.phase = former.phase AND m.user_id IS NOT DISTINCT FROM former.user_id),
compared AS MATERIALIZED (
    SELECT stream, memory, fits FROM known
     UNION
    SELECT stream, memory, true FROM further
     UNION
    SELECT live_stream, live_memory, fits FROM ended),
reached AS MATERIALIZED (
    SELECT stream, memory FROM compared
     UNION
    SELECT r.to_stream, r.to_memory FROM compared
     CROSS JOIN LATERAL (SELECT * FROM relations WHERE tenant = :tenant AND from_stream = compared.stream
                            AND from_memory = compared.memory AND relation_type <> 'may_update' OFFSET 0) r
     UNION
    SELECT r.from_stream, r.from_memory FROM compared
     CROSS JOIN LATERAL (SELECT * FROM relations WHERE tenant = :tenant AND to_stream = compared.stream
                            AND to_memory = compared.memory AND reason <> 'near' OFFSET 0) r
     UNION
    SELECT m.stream, m.memory + step FROM compared
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND stream = compared.stream AND memory = compared.memory
                            AND (thread_id <> '' OR kind_class = :kind_class
                                 OR stream IN (SELECT jsonb_array_elements_text(:sessions::jsonb)::bigint)) LIMIT 1) m
     CROSS JOIN generate_series(-:reach::bigint, :reach::bigint) AS step
     WHERE compared.fits),
named AS MATERIALIZED (
    SELECT m.scope, m.kind_class, lower(m.canonical_key) AS key, m.related::jsonb || m.conflicts::jsonb
           || to_jsonb(array_remove(ARRAY[m.supersedes_id, m.superseded_by_id], NULL)) AS links FROM reached
     CROSS JOIN LATERAL (SELECT * FROM memories
                          WHERE tenant = :tenant AND stream = reached.stream AND memory = reached.memory LIMIT 1) m
     WHERE {links} OR :streams <> '[]'),
seen AS MATERIALIZED (SELECT scope FROM named UNION SELECT jsonb_array_elements_text(:scopes::jsonb)),
held AS MATERIALIZED (SELECT DISTINCT kind_class, key FROM named WHERE kind_class <> :kind_class),
wanted AS MATERIALIZED (
    SELECT stream, memory, true AS reached, (stream, memory) IN (SELECT stream, memory FROM compared) AS compared FROM reached
     UNION ALL
    SELECT h.stream, h.memory, false, false FROM jsonb_array_elements_text(:streams::jsonb) AS elsewhere (stream)
     CROSS JOIN seen CROSS JOIN held
     CROSS JOIN LATERAL (SELECT stream, memory FROM memories
                          WHERE tenant = :tenant AND stream = elsewhere.stream::bigint AND scope = seen.scope
                            AND kind_class = held.kind_class AND key_identity >= held.key
                            AND key_identity < held.key || '$' AND status = 'active'
                          ORDER BY key_identity LIMIT 100) h
     WHERE (h.stream, h.memory) NOT IN (SELECT stream, memory FROM reached)
     UNION ALL
    SELECT l.stream, l.memory, false, false FROM named CROSS JOIN LATERAL jsonb_array_elements_text(named.links) AS link (id)
     CROSS JOIN LATERAL (SELECT stream, memory FROM memories WHERE tenant = :tenant AND id = link.id LIMIT 1) l
     WHERE {links} AND (l.stream, l.memory) NOT IN (SELECT stream, memory FROM reached))
SELECT m.*, lower(m.canonical_key) AS lower_key, v.body, a.count, a.last, b.content_hash AS parent_hash,
       ({filters}) AS fits, wanted.compared, wanted.reached, e.relations,
       ended.live_stream, ended.live_memory
  FROM wanted
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = wanted.stream AND memory = wanted.memory LIMIT 1) m
 CROSS JOIN LATERAL (SELECT body FROM versions
                      WHERE tenant = :tenant AND stream = wanted.stream AND memory = wanted.memory LIMIT 1) v
 CROSS JOIN LATERAL (SELECT string_agg(r.from_stream || ' ' || r.from_memory || ' ' || r.to_stream || ' ' || r.to_memory || ' '
                                       || r.relation_type || ' ' || r.strength || ' ' || r.created_at || ' ' || r.reason, E'\n') AS relations
                       FROM ((SELECT * FROM relations WHERE wanted.reached AND tenant = :tenant
                                 AND from_stream = wanted.stream AND from_memory = wanted.memory
                                 AND (wanted.compared OR relation_type = 'may_update'
                                      AND (to_stream, to_memory) IN (SELECT stream, memory FROM reached)) OFFSET 0)
                              UNION ALL
                             (SELECT * FROM relations WHERE wanted.compared AND tenant = :tenant
                                 AND to_stream = wanted.stream AND to_memory = wanted.memory OFFSET 0)) r) e
  LEFT JOIN ended ON ended.stream = wanted.stream AND ended.memory = wanted.memory
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true

-- name: contents_at
SELECT v.stream, v.memory, CASE WHEN {filters} THEN v.body::json ->> 'content' END AS content
  FROM jsonb_array_elements(:places::jsonb) AS wanted (place)
 CROSS JOIN LATERAL (SELECT * FROM versions
                      WHERE tenant = :tenant AND stream = (wanted.place ->> 0)::bigint
                        AND memory = (wanted.place ->> 1)::bigint LIMIT 1) v
 WHERE v.body IS NOT NULL

-- name: entities_at
-- Few bodies have any, and looking for the word is much cheaper than reading the body.
SELECT v.stream, v.memory, CASE WHEN {filters} THEN v.body::json ->> 'entities' END AS entities
  FROM jsonb_array_elements(:places::jsonb) AS wanted (place)
 CROSS JOIN LATERAL (SELECT * FROM versions
                      WHERE tenant = :tenant AND stream = (wanted.place ->> 0)::bigint
                        AND memory = (wanted.place ->> 1)::bigint LIMIT 1) v
 WHERE v.body LIKE '%"entities":%'

-- name: candidates
-- Those that are kept beside one another are of one key.
SELECT m.stream, m.memory, m.id, m.scope, m.category, lower(m.canonical_key), m.phase, m.created_at, m.kind_class,
       m.source, m.authority, m.importance, m.pinned, m.tier, m.thread_id, m.user_id, m.actor_id, m.vouchers,
       m.valid_from, m.valid_until
  FROM jsonb_array_elements(:places::jsonb) AS wanted (place)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = (wanted.place ->> 0)::bigint
                        AND memory = (wanted.place ->> 1)::bigint LIMIT 1) m
 WHERE {filters}

-- name: active_with_key
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM memories m
  JOIN versions v ON v.tenant = :tenant AND v.stream = :stream AND v.memory = m.memory
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 WHERE m.tenant = :tenant AND m.stream = :stream AND m.scope = :scope AND m.kind_class = :kind_class
   AND m.key_identity >= :low AND m.key_identity < :end AND m.status = 'active'

-- name: active_about
-- Those that a changed value or a retraction may be about: they share the slot, or whom and what they name.
SELECT memory FROM memories WHERE tenant = :tenant AND stream = :stream AND slot = :slot AND status = 'active'
 UNION
SELECT memory FROM memories WHERE tenant = :tenant AND stream = :stream AND subject_value = :subject_value
   AND status = 'active'
 ORDER BY 1 LIMIT :limit

-- name: key_holders
SELECT m.memory FROM jsonb_array_elements_text(:scopes::jsonb) s CROSS JOIN jsonb_array_elements(:keys::jsonb) k
 CROSS JOIN LATERAL (SELECT memory FROM memories
                      WHERE tenant = :tenant AND stream = :stream AND scope = s AND kind_class = k ->> 0
                        AND key_identity >= k ->> 1 AND key_identity < (k ->> 1) || '$' AND status = 'active'
                      LIMIT 100) m

-- name: select_memories
-- The page is cut first, and only what is on it is joined.
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash
  FROM (SELECT m.* FROM memories m WHERE m.tenant = :tenant AND m.removed IS NULL AND {filters}
         ORDER BY m.created_at DESC, m.stream DESC, m.memory DESC LIMIT :limit) m
  JOIN versions v ON v.tenant = :tenant AND v.stream = m.stream AND v.memory = m.memory
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY m.created_at DESC, m.stream DESC, m.memory DESC

-- name: select_in_stream
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash
  FROM (SELECT m.* FROM memories m
         WHERE m.tenant = :tenant AND m.stream = :stream AND m.removed IS NULL AND {filters}
         ORDER BY m.memory DESC LIMIT :limit) m
  JOIN versions v ON v.tenant = :tenant AND v.stream = :stream AND v.memory = m.memory
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 ORDER BY m.memory DESC

-- name: standing
-- The newest of a sort, each sort by its own index; those of them that fit. The newest are found once, and not anew for each version.
WITH newest AS MATERIALIZED (
    SELECT memory FROM memories
     WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND {sort}
     ORDER BY memory DESC LIMIT :limit)
SELECT m.*, v.body, a.count, a.last, b.content_hash AS parent_hash FROM newest
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = :stream AND memory = newest.memory LIMIT 1) m
 CROSS JOIN LATERAL (SELECT body FROM versions
                      WHERE tenant = :tenant AND stream = :stream AND memory = newest.memory LIMIT 1) v
  LEFT JOIN LATERAL (SELECT count, last FROM accesses WHERE tenant = :tenant AND id = m.id LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT content_hash FROM memories WHERE tenant = :tenant AND id = m.supersedes_id LIMIT 1) b ON true
 WHERE {filters} ORDER BY m.memory DESC

-- name: to_purge
SELECT id FROM memories
 WHERE tenant = :tenant AND stream = :stream AND purge_at IS NOT NULL AND purge_at <= :now AND removed IS NULL
 ORDER BY memory

-- ── text index ──────────────────────────────────────────────────────────────────────────────────────────────────
-- The count of a term stands at place -9223372036854775807, before every posting.

-- name: add_postings
-- Only the count of a term may be there already: a second posting of one memory breaks the constraint.
INSERT INTO postings (tenant, stream, term, place, tf, length)
SELECT * FROM unnest(?::text[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[])
ON CONFLICT (tenant, stream, term, place)
DO UPDATE SET tf = CASE WHEN postings.place = -9223372036854775807 THEN postings.tf + 1 END

-- name: remove_posting
DELETE FROM postings p
 USING unnest(?::text[], ?::bigint[], ?::text[], ?::bigint[]) AS old (tenant, stream, term, memory)
 WHERE p.tenant = old.tenant AND p.stream = old.stream AND p.term = old.term AND p.place = -old.memory

-- name: uncount_term
-- OFFSET 0 keeps the place from being taken for a constant: the planner would look through the counts of all terms.
UPDATE postings p SET tf = p.tf - old.count
  FROM (SELECT tenant, stream, term, count, -9223372036854775807 AS place
          FROM unnest(?::text[], ?::bigint[], ?::text[], ?::bigint[]) AS gone (tenant, stream, term, count) OFFSET 0) old
 WHERE p.tenant = old.tenant AND p.stream = old.stream AND p.term = old.term AND p.place = old.place

-- name: drop_uncounted_terms
DELETE FROM postings p
 USING (SELECT tenant, stream, term, -9223372036854775807 AS place
          FROM unnest(?::text[], ?::bigint[], ?::text[]) AS gone (tenant, stream, term) OFFSET 0) old
 WHERE p.tenant = old.tenant AND p.stream = old.stream AND p.term = old.term AND p.place = old.place AND p.tf <= 0

-- name: term_frequencies
SELECT p.term, p.tf FROM jsonb_array_elements_text(:terms::jsonb) WITH ORDINALITY AS wanted (term, nth)
 CROSS JOIN LATERAL (SELECT term, tf FROM postings
                      WHERE tenant = :tenant AND stream = :stream AND term = wanted.term
                        AND place = -9223372036854775807 LIMIT 1) p
 ORDER BY wanted.nth

-- name: announced_text
-- The place {owned} holds one of the two conditions that follow, since the planner has to know which of them it is.
-- Each stream of some owners; how many of its memories have each term; and the entries of the terms that a search reads whole:
-- the rarest in all of the streams together, for as long as its budget lasts.
WITH searched AS MATERIALIZED (
    SELECT stream FROM streams
     WHERE tenant = :tenant AND {owned}
       AND namespace = ANY (ARRAY(SELECT jsonb_array_elements_text(:namespaces::jsonb)))),
counted AS MATERIALIZED (
    SELECT s.stream, wanted.term, c.tf, sum(c.tf) OVER (PARTITION BY wanted.term) AS total FROM searched s
     CROSS JOIN jsonb_array_elements_text(:terms::jsonb) AS wanted (term)
     CROSS JOIN LATERAL (SELECT tf FROM postings WHERE tenant = :tenant AND stream = s.stream AND term = wanted.term
                            AND place = -9223372036854775807 LIMIT 1) c),
planned AS (SELECT *, sum(tf) OVER (ORDER BY total, term COLLATE "C") AS read_by_then FROM counted)
SELECT stream, NULL, NULL, NULL, NULL, NULL FROM searched
 UNION ALL
SELECT planned.stream, planned.term, planned.tf, p.numbers, p.tfs, p.lengths FROM planned
  LEFT JOIN LATERAL (SELECT array_agg(-place ORDER BY place) AS numbers, array_agg(tf ORDER BY place) AS tfs,
                            array_agg(length ORDER BY place) AS lengths FROM postings
                      WHERE tenant = :tenant AND stream = planned.stream AND term = planned.term
                        AND place > -9223372036854775807) p ON planned.read_by_then <= :most

-- name: announced_beyond
-- How many active memories each stream of some owners has between some scopes, and of the scopes in between, between some categories.
SELECT s.stream, (SELECT count(*) FROM jsonb_to_recordset(:scope_gaps::jsonb) AS gap (after text, before text)
                   CROSS JOIN LATERAL (SELECT 1 FROM memories WHERE tenant = :tenant AND stream = s.stream
                                          AND status = 'active' AND scope > gap.after AND scope < gap.before OFFSET 0) m)
               + (SELECT count(*) FROM jsonb_to_recordset(:category_gaps::jsonb) AS gap (after text, before text)
                   CROSS JOIN LATERAL (SELECT 1 FROM memories WHERE tenant = :tenant AND stream = s.stream
                                          AND status = 'active' AND category > gap.after AND category < gap.before
                                          AND (:scopes::jsonb IS NULL
                                               OR scope IN (SELECT jsonb_array_elements_text(:scopes::jsonb))) OFFSET 0) m)
  FROM streams s
 WHERE s.tenant = :tenant AND {owned}
   AND s.namespace = ANY (ARRAY(SELECT jsonb_array_elements_text(:namespaces::jsonb)))

-- name: owned_by
owner = ANY (ARRAY(SELECT jsonb_array_elements_text(:owners::jsonb)))

-- name: owned_by_anybody
owner IS NOT NULL

-- name: fitting_postings
SELECT -p.place, p.tf, p.length FROM postings p
 CROSS JOIN LATERAL (SELECT 1 FROM memories m
                      WHERE m.tenant = :tenant AND m.stream = :stream AND m.memory = -p.place AND {filters} LIMIT 1) fits
 WHERE p.tenant = :tenant AND p.stream = :stream AND p.term = :term AND p.place > -9223372036854775807
 ORDER BY p.place LIMIT :limit

-- name: postings_of
SELECT -p.place, p.tf, p.length
  FROM jsonb_array_elements_text(:numbers::jsonb) WITH ORDINALITY AS wanted (memory, nth)
 CROSS JOIN LATERAL (SELECT place, tf, length FROM postings
                      WHERE tenant = :tenant AND stream = :stream AND term = :term AND place = -wanted.memory::bigint
                      LIMIT 1) p
 ORDER BY wanted.nth

-- name: sharing
-- Few share enough, and only those are looked at more closely.
SELECT -s.place AS memory
  FROM (SELECT p.place, count(*) AS shared FROM postings p
         WHERE p.tenant = :tenant AND p.stream = :stream
           AND p.term = ANY (ARRAY(SELECT jsonb_array_elements_text(:terms::jsonb)))
           AND p.place > -9223372036854775807 AND p.place < -:after
         GROUP BY p.place HAVING count(*) >= :shared_min) s
 CROSS JOIN LATERAL (SELECT 1 FROM memories m
                      WHERE m.tenant = :tenant AND m.stream = :stream AND m.memory = -s.place AND {filters} LIMIT 1) fits
 ORDER BY s.shared DESC, s.place LIMIT :limit

-- name: terms_of
SELECT memory, terms FROM memories WHERE tenant = :tenant AND stream = :stream
   AND memory = ANY (ARRAY(SELECT jsonb_array_elements_text(:numbers::jsonb)::bigint)) AND terms IS NOT NULL ORDER BY memory

-- name: texts_numbered
SELECT m.memory, m.id, m.terms
  FROM jsonb_array_elements_text(:numbers::jsonb) WITH ORDINALITY AS wanted (memory, nth)
 CROSS JOIN LATERAL (SELECT * FROM memories
                      WHERE tenant = :tenant AND stream = :stream AND memory = wanted.memory::bigint LIMIT 1) m
 WHERE m.status = 'active' ORDER BY wanted.nth

-- name: visible_numbers
SELECT m.memory FROM memories m
 WHERE m.tenant = :tenant AND m.stream = :stream
   AND m.memory = ANY (ARRAY(SELECT jsonb_array_elements_text(:numbers::jsonb)::bigint))
   AND {filters}

-- name: active_between_categories
SELECT count(*) AS n FROM memories
 WHERE tenant = :tenant AND stream = :stream AND status = 'active' AND category > :after AND category < :before
   AND (:scopes::jsonb IS NULL OR scope IN (SELECT jsonb_array_elements_text(:scopes::jsonb)))

-- ── beside the ledger ───────────────────────────────────────────────────────────────────────────────────────────

-- name: count_access
INSERT INTO accesses (tenant, id, count, last)
SELECT tenant, id, count, last FROM unnest(?::text[], ?::text[], ?::bigint[], ?::text[]) AS new (tenant, id, count, last)
ON CONFLICT (tenant, id) DO UPDATE
   SET count = accesses.count + excluded.count, last = greatest(accesses.last, excluded.last)

-- name: keep_trace
INSERT INTO traces (tenant, at, type, stream, memory_id, policy, body)
VALUES (:tenant, :at, :type, :stream, :memory_id, :policy, :body)

-- name: traces
SELECT * FROM traces
 WHERE tenant = :tenant AND number > :after AND number < :before AND at >= :since
   AND (:type::text IS NULL OR type = :type) AND (:session::text IS NULL OR body::json ->> 'session' = :session)
   AND (:memory::text IS NULL OR strpos(body, :memory) > 0)
 ORDER BY number LIMIT :limit

-- name: latest_traces
SELECT * FROM traces
 WHERE tenant = :tenant AND number > :after AND number < :before AND at >= :since
   AND (:type::text IS NULL OR type = :type) AND (:session::text IS NULL OR body::json ->> 'session' = :session)
   AND (:memory::text IS NULL OR strpos(body, :memory) > 0)
 ORDER BY number DESC LIMIT :limit

-- name: remove_traces_of_memory
DELETE FROM traces WHERE tenant = :tenant AND (memory_id = :id OR strpos(body, :id) > 0)

-- name: traces_holding
SELECT number, body FROM traces WHERE tenant = :tenant AND strpos(body, :text) > 0

-- name: remove_traces_holding
DELETE FROM traces WHERE tenant = :tenant AND strpos(body, :text) > 0

-- ── carrying a tenant to another store ──────────────────────────────────────────────────────────────────────────
-- The list of erasures is carried apart: not every store keeps it in a table.

-- name: tables
SELECT c.relname::text AS "table", a.attname::text AS "column",
       coalesce(array_position(i.indkey[0:i.indnkeyatts - 1], a.attnum), 0) AS place
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
 WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND c.relname <> 'erasures'
   AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tenant')
 ORDER BY c.relname, a.attname

-- name: clear_rows
WITH gone AS (DELETE FROM {table} WHERE tenant = :tenant AND {filters} RETURNING 1) SELECT count(*) AS n FROM gone

-- name: number_traces_on
SELECT setval('trace_numbers', greatest(max(number), (SELECT last_value FROM trace_numbers))) FROM traces
 WHERE tenant = :tenant

-- name: as_ourselves
SELECT set_config('role', 'none', true)

-- name: as_app
SELECT set_config('role', 'recollect_app', true)

-- ── the store as a whole ────────────────────────────────────────────────────────────────────────────────────────

-- name: note_scrub_due
-- A note of each transaction's own: erasures never wait for each other, and a scrub takes away those that it saw.
INSERT INTO store (name, value) VALUES ('scrub_due ' || pg_current_xact_id(), 'yes') ON CONFLICT DO NOTHING

-- name: erasures_of_tenant
SELECT tenant, what, id FROM erasures WHERE tenant = :tenant ORDER BY number

-- name: note_erasure
INSERT INTO erasures (tenant, what, id) SELECT tenant, what, id
  FROM unnest(?::text[], ?::text[], ?::text[]) WITH ORDINALITY AS new (tenant, what, id, place) ORDER BY place

-- name: scrub_notes
SELECT name FROM store WHERE name LIKE 'scrub_due %' ORDER BY name

-- name: store_value_names
SELECT name FROM store WHERE starts_with(name, :prefix) ORDER BY name
