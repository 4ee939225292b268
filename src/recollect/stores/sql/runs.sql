-- Runs of language models: the statements of one capability, by name. Lists are newest first.

-- name: put_model_run
INSERT INTO model_runs (tenant, id, job, stream, started_at, ended_at, outcome, reason, secret)
VALUES (:tenant, :id, :job, :stream, :started_at, :ended_at, :outcome, :reason, :secret)
ON CONFLICT (tenant, id) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome, reason = excluded.reason
    WHERE model_runs.outcome <> 'undone'

-- name: lock_model_run
UPDATE model_runs SET outcome = outcome WHERE tenant = :tenant AND id = :id

-- name: model_run
SELECT * FROM model_runs WHERE tenant = :tenant AND id = :id

-- name: model_runs
SELECT * FROM model_runs
 WHERE tenant = :tenant AND (started_at, id) < (:before_at, :before_id)
   AND (CAST(:job AS text) IS NULL OR job = :job) AND (CAST(:stream AS bigint) IS NULL OR stream = :stream)
 ORDER BY started_at DESC, id DESC LIMIT :limit

-- name: model_runs_like
SELECT * FROM model_runs WHERE tenant = :tenant AND substr(id, 1, length(:id)) = :id ORDER BY id LIMIT 10

-- name: put_model_call
INSERT INTO model_calls (tenant, run_id, number, at, job, template, template_version, prompt_seal, model, max_tokens, temperature,
                         seed, calls, prompt_tokens, answer_tokens, estimated, cost_millionths, duration_ms, outcome)
VALUES (:tenant, :run_id, :number, :at, :job, :template, :template_version, :prompt_seal, :model, :max_tokens, :temperature,
        :seed, :calls, :prompt_tokens, :answer_tokens, :estimated, :cost_millionths, :duration_ms, :outcome)
ON CONFLICT (tenant, run_id, number) DO UPDATE SET calls = excluded.calls, prompt_tokens = excluded.prompt_tokens,
       answer_tokens = excluded.answer_tokens, estimated = excluded.estimated, cost_millionths = excluded.cost_millionths,
       duration_ms = excluded.duration_ms, outcome = excluded.outcome

-- name: put_call_source
INSERT INTO model_call_sources (tenant, run_id, number, memory_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: model_calls
SELECT * FROM model_calls WHERE tenant = :tenant AND run_id = :run_id ORDER BY number

-- name: call_sources
SELECT number, memory_id FROM model_call_sources WHERE tenant = :tenant AND run_id = :run_id ORDER BY number, memory_id

-- name: calls_reading
-- The prompts of a job that were made from a memory, and have been dealt with.
SELECT count(*) AS n FROM model_call_sources s JOIN model_calls c USING (tenant, run_id, number)
 WHERE s.tenant = :tenant AND s.memory_id = :id AND c.job = :job AND c.outcome IN ('answered', 'invalid', 'overlong', 'unreadable')

-- name: last_model_call
SELECT max(c.at) AS at FROM model_calls c JOIN model_runs r ON r.tenant = c.tenant AND r.id = c.run_id
 WHERE c.tenant = :tenant AND r.stream = :stream AND r.job = :job AND c.at >= :since AND c.outcome = 'answered'

-- name: spent_in_run
SELECT coalesce(sum(prompt_tokens), 0) AS prompt_tokens, coalesce(sum(answer_tokens), 0) AS answer_tokens,
       coalesce(sum(cost_millionths), 0) AS cost_millionths
  FROM model_calls WHERE tenant = :tenant AND run_id = :run_id

-- name: spent_by_tenant
SELECT coalesce(sum(prompt_tokens), 0) AS prompt_tokens, coalesce(sum(answer_tokens), 0) AS answer_tokens,
       coalesce(sum(cost_millionths), 0) AS cost_millionths
  FROM model_calls WHERE tenant = :tenant AND at >= :since

-- name: spent_by_all
SELECT coalesce(sum(prompt_tokens), 0) AS prompt_tokens, coalesce(sum(answer_tokens), 0) AS answer_tokens,
       coalesce(sum(cost_millionths), 0) AS cost_millionths
  FROM model_spending WHERE day = :day

-- name: add_spending
INSERT INTO model_spending (day, number, prompt_tokens, answer_tokens, cost_millionths)
VALUES (:day, :number, :prompt_tokens, :answer_tokens, :cost_millionths)

-- name: remove_spending_before
DELETE FROM model_spending WHERE day < :day

-- name: put_model_proposal
INSERT INTO model_proposals (tenant, id, run_id, at, job, stream, action, status, reason, memory_id, pair, sources, body)
VALUES (:tenant, :id, :run_id, :at, :job, :stream, :action, :status, :reason, :memory_id, :pair, :sources, :body)
ON CONFLICT (tenant, id) DO UPDATE SET status = excluded.status, reason = excluded.reason, memory_id = excluded.memory_id,
       body = excluded.body

-- name: proposals_of_run
SELECT * FROM model_proposals WHERE tenant = :tenant AND run_id = :run_id ORDER BY at, id

-- name: proposals_like
SELECT * FROM model_proposals WHERE tenant = :tenant AND substr(id, 1, length(:id)) = :id ORDER BY id LIMIT 10

-- name: proposals_waiting
SELECT * FROM model_proposals WHERE tenant = :tenant AND body IS NOT NULL
   AND (CAST(:stream AS bigint) IS NULL OR stream = :stream) ORDER BY at, id

-- name: count_proposals
SELECT count(*) AS n FROM model_proposals
 WHERE tenant = :tenant AND stream = :stream AND job = :job AND at >= :since AND (CAST(:status AS text) IS NULL OR status = :status)

-- name: pairs_since
SELECT DISTINCT pair FROM model_proposals WHERE tenant = :tenant AND stream = :stream AND job = :job AND pair IS NOT NULL
   AND (at >= :since OR body IS NOT NULL)

-- name: erase_run_secrets
UPDATE model_runs SET secret = NULL WHERE tenant = :tenant AND secret IS NOT NULL
   AND id IN (SELECT run_id FROM model_call_sources WHERE tenant = :tenant AND memory_id = :id)

-- name: remove_call_sources
DELETE FROM model_call_sources WHERE tenant = :tenant AND memory_id = :id

-- name: erase_proposals
UPDATE model_proposals SET status = 'erased', reason = 'model:source_erased', body = NULL
 WHERE tenant = :tenant AND body IS NOT NULL AND replace(sources, :id, '') <> sources

-- name: old_model_runs
SELECT id FROM model_runs r WHERE tenant = :tenant AND started_at < :at AND NOT EXISTS (
       SELECT 1 FROM model_proposals p WHERE p.tenant = r.tenant AND p.run_id = r.id AND p.body IS NOT NULL)

-- name: remove_model_run
DELETE FROM model_runs WHERE tenant = :tenant AND id = :run_id

-- name: remove_model_calls
DELETE FROM model_calls WHERE tenant = :tenant AND run_id = :run_id

-- name: remove_sources_of_run
DELETE FROM model_call_sources WHERE tenant = :tenant AND run_id = :run_id

-- name: remove_proposals_of_run
DELETE FROM model_proposals WHERE tenant = :tenant AND run_id = :run_id
