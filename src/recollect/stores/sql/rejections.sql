-- Values that were rejected: the statements of one capability, by name.

-- name: rejection_secrets
SELECT DISTINCT r.stream, r.secret FROM streams s
  JOIN rejections r ON r.tenant = s.tenant AND r.stream = s.stream
 WHERE s.tenant = :tenant AND ((s.space = :space AND s.owner = :owner) OR (s.space = 'user' AND s.owner = :person))
 ORDER BY r.stream

-- name: rejections_with_mark
SELECT rejection FROM rejections WHERE tenant = :tenant AND stream = :stream AND mark = :mark ORDER BY rejection

-- name: rejections_of_stream
SELECT rejection, secret, mark FROM rejections WHERE tenant = :tenant AND stream = :stream ORDER BY rejection, mark

-- name: rejecting_streams
SELECT DISTINCT stream FROM rejections WHERE tenant = :tenant ORDER BY stream

-- name: add_rejection
INSERT INTO rejections (tenant, stream, mark, rejection, secret) VALUES (?, ?, ?, ?, ?)

-- name: remove_rejection
DELETE FROM rejections WHERE tenant = :tenant AND stream = :stream AND rejection = :rejection

-- name: drop_rejections
DELETE FROM rejections WHERE tenant = :tenant AND stream = :stream
