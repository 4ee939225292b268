-- The worker: its cursors and its leases. The statements of one capability, by name.

-- name: streams_behind
-- What the ledger moved beyond a job's cursor, and with a time what the job has not looked at since; the longest waiting first.
SELECT s.stream, s.namespace, s.space, coalesce(c.seq, 0) AS seq, s.last_seq
  FROM streams s LEFT JOIN worker_cursors c ON c.tenant = s.tenant AND c.stream = s.stream AND c.job = :job
 WHERE s.tenant = :tenant AND s.owner IS NOT NULL
   AND (coalesce(c.seq, 0) < s.last_seq OR coalesce(c.at, '') < CAST(:since AS text))
 ORDER BY coalesce(c.at, ''), s.stream

-- name: move_worker_cursor
-- Compare and set: by whoever holds the lease, and only from where it found the cursor.
INSERT INTO worker_cursors (tenant, stream, job, seq, at)
SELECT tenant, CAST(:stream AS bigint), CAST(:job AS text), CAST(:seq AS bigint), CAST(:at AS text) FROM worker_leases
 WHERE tenant = :tenant AND holder = :holder AND number = :number
ON CONFLICT (tenant, stream, job) DO UPDATE SET seq = excluded.seq, at = excluded.at WHERE worker_cursors.seq = :found

-- name: lease
SELECT holder, number, until, last_round FROM worker_leases WHERE tenant = :tenant

-- name: take_lease
INSERT INTO worker_leases (tenant, holder, number, until, last_round) VALUES (:tenant, :holder, 1, :until, '')
ON CONFLICT (tenant) DO UPDATE SET holder = excluded.holder, number = worker_leases.number + 1, until = excluded.until
 WHERE worker_leases.until <= :now OR worker_leases.holder = :holder

-- name: renew_lease
UPDATE worker_leases SET until = :until, last_round = :last_round
 WHERE tenant = :tenant AND holder = :holder AND number = :number
