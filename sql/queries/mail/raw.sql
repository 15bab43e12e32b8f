-- Accepting finished messages.

-- name: accept_raw :many
-- Accept finished messages in the caller's transaction, all or none; a row for each in order. Invalid input raises
-- 22023, a key that is no longer valid MQ004.
SELECT r.index, r.id, r.status, r.reason
FROM mailqueue.accept_raw(
        mailqueue.project_of_keys(%(project)s, %(keys)s::uuid[]), %(documents)s::jsonb, %(octets)b::bytea[]) AS r
ORDER BY r.index;
