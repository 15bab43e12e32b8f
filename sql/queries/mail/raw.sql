-- Accepting finished messages.

-- name: accept_raw :many
-- Accept finished messages in the caller's transaction, all or none; a row for each in order. Invalid input raises
-- 22023.
SELECT r.index, r.id, r.status, r.reason
FROM mailqueue.accept_raw(%(project)s, %(documents)s::jsonb, %(octets)b::bytea[]) AS r
ORDER BY r.index;
