-- Leases: work that one process does at a time.

-- name: lease_table_exists :value
-- Whether the table of leases is there.
SELECT to_regclass('mailqueue.leases') IS NOT NULL;

-- name: show_backend_pid :value
-- The server process of this session.
SELECT pg_backend_pid();

-- name: take_lease :value
-- Take a lease for the session of a server process; false if another holds it. Does not wait for a holder.
WITH taken AS (
    INSERT INTO mailqueue.leases AS l (name, token, holder, pid, backend_started, lease_until)
    SELECT %(name)s, %(token)s, %(holder)s, %(pid)s,
           (SELECT a.backend_start FROM pg_catalog.pg_stat_activity AS a WHERE a.pid = %(pid)s),
           clock_timestamp() + make_interval(secs => %(seconds)s)
    WHERE NOT EXISTS (
        SELECT FROM mailqueue.leases AS h
        WHERE h.name = %(name)s AND h.lease_until > clock_timestamp()
          AND (h.pid IS NULL OR EXISTS (SELECT FROM pg_catalog.pg_stat_activity AS a
                                        WHERE a.pid = h.pid AND coalesce(a.backend_start = h.backend_started, true))))
    ON CONFLICT (name) DO UPDATE
    SET token = excluded.token, holder = excluded.holder, pid = excluded.pid,
        backend_started = excluded.backend_started, taken_at = excluded.taken_at, renewed_at = excluded.renewed_at,
        lease_until = excluded.lease_until
    WHERE l.lease_until <= clock_timestamp()
       OR NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity AS a
                      WHERE a.pid = l.pid AND coalesce(a.backend_start = l.backend_started, true))
    RETURNING 1
)
SELECT EXISTS (SELECT FROM taken);

-- name: renew_lease :value
-- Extend a lease; false if it was lost.
WITH renewed AS (
    UPDATE mailqueue.leases AS l
    SET renewed_at = clock_timestamp(), lease_until = clock_timestamp() + make_interval(secs => %(seconds)s)
    WHERE l.name = %(name)s AND l.token = %(token)s
    RETURNING 1
)
SELECT EXISTS (SELECT FROM renewed);

-- name: use_lease :maybe
-- Keep others from taking a lease until this transaction ends; no row if it was lost.
SELECT set_config('mailqueue.lease', l.token::text, true)
FROM mailqueue.leases AS l
WHERE l.name = %(name)s AND l.token = %(token)s AND l.lease_until > clock_timestamp()
FOR KEY SHARE;

-- name: release_lease :run
-- Release a lease.
DELETE FROM mailqueue.leases AS l WHERE l.name = %(name)s AND l.token = %(token)s;

-- name: find_lease_holder :maybe
-- The holder of a lease, and since when.
SELECT l.holder, l.taken_at FROM mailqueue.leases AS l WHERE l.name = %(name)s;
