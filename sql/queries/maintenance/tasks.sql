-- Maintenance besides the archive: partitions, old rows, statistics.

-- name: set_up_session :run
-- Set up a maintenance session: no statement timeout, a short lock timeout, no search path, UTC.
SELECT set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false),
       set_config('lock_timeout', '2s', false), set_config('search_path', '', false),
       set_config('TimeZone', 'UTC', false);

-- name: list_partitions :many
-- Tables by month, oldest first: attached, being detached, and detached.
SELECT p.relname::text AS parent, c.relname::text AS name, to_date(right(c.relname, 7), 'YYYY_MM') AS month,
       CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'detaching'
            ELSE 'attached' END AS state
FROM pg_catalog.pg_class AS p
JOIN pg_catalog.pg_class AS c
  ON c.relnamespace = p.relnamespace AND c.relkind = 'r' AND c.relname ~ ('^' || p.relname || '_[0-9]{4}_[0-9]{2}$')
LEFT JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = c.oid AND i.inhparent = p.oid
WHERE p.relnamespace = 'mailqueue'::regnamespace
  AND p.relkind = 'p'
ORDER BY month, array_position('{email_history,send_logs,email_events,email_contents}', p.relname::text), parent;

-- name: is_partition_empty :value
-- Whether a table has no row.
SELECT mailqueue.is_table_empty(%(name)s);

-- name: today :value
-- The current day, in UTC.
SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date;

-- name: detach_partition :run
-- Detach a month from its table; inserts and reads of other months continue.
ALTER TABLE {parent} DETACH PARTITION {partition} CONCURRENTLY;

-- name: finish_detaching :run
-- Complete an interrupted detach.
ALTER TABLE {parent} DETACH PARTITION {partition} FINALIZE;

-- name: drop_detached :run
-- Drop a table that was detached.
DROP TABLE {partition};

-- name: make_partitions_of :value
-- Create the partitions of a day's month, or attach those that were being detached; returns the number.
SELECT mailqueue.make_partitions_of(%(month)s);

-- name: ensure_months_ahead :value
-- Create the partitions of the coming months; returns the number that was missing.
SELECT mailqueue.ensure_partitions(%(months)s);

-- name: count_months_ahead :value
-- Number of days from today for which every monthly table has a partition.
SELECT min(e.until) - (clock_timestamp() AT TIME ZONE 'UTC')::date
FROM (SELECT (max(to_date(right(c.relname, 7), 'YYYY_MM')) + interval '1 month')::date AS until
      FROM pg_catalog.pg_class AS p
      LEFT JOIN pg_catalog.pg_inherits AS i ON i.inhparent = p.oid
      LEFT JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
      WHERE p.relnamespace = 'mailqueue'::regnamespace AND p.relkind = 'p'
      GROUP BY p.oid) AS e;

-- name: gather_signals :value
-- Count accepted mail and wake lanes, like workers do; returns the number of signals.
SELECT g.woken FROM mailqueue.gather_lanes() AS g;

-- name: roll_days_over :value
-- Move counters of past days to limit_days; returns the number of limits.
SELECT mailqueue.roll_days_over();

-- name: recount_usage :value
-- Compare what projects use of their bounds with the tables, where a day has passed; returns how many were corrected.
SELECT mailqueue.recount_usage_if_due();

-- name: sweep_balanced_days :value
-- Delete the books of days that balance and of which no mail is left; returns the number of days.
WITH old AS (
    SELECT a.project_id, a.day
    FROM mailqueue.accepted_days AS a
    JOIN mailqueue.retention AS r ON r.project_id = a.project_id AND r.kind = 'email_history'
    WHERE a.day < current_date - r.keep_days - 62
      AND NOT EXISTS (SELECT FROM mailqueue.archives AS f
                      WHERE f.project_id = a.project_id AND f.kind = 'email_history' AND f.state <> 'purged'
                        AND f.month <= a.day + 400)
      AND a.emails = (SELECT sum(d.emails) FROM mailqueue.archived_days AS d
                      WHERE d.project_id = a.project_id AND d.day = a.day)
), unbooked AS (
    DELETE FROM mailqueue.archived_days AS d USING old AS o WHERE d.project_id = o.project_id AND d.day = o.day
), forgotten AS (
    DELETE FROM mailqueue.accepted_days AS a USING old AS o WHERE a.project_id = o.project_id AND a.day = o.day
    RETURNING 1
)
SELECT count(*) FROM forgotten;

-- name: sweep_waiters :value
-- Delete wake-up requests of workers that are gone: each causes a NOTIFY at every commit. Returns their number.
WITH forgotten AS (
    DELETE FROM mailqueue.waiters AS x
    WHERE NOT EXISTS (SELECT FROM mailqueue.workers AS w
                      WHERE w.id = x.worker_id AND w.stopped_at IS NULL AND w.lost_at IS NULL
                        AND w.beat_at > clock_timestamp() - interval '10 min')
    RETURNING 1
)
SELECT count(*) FROM forgotten;

-- name: count_pages :value
-- Number of pages of a table.
SELECT (pg_relation_size(%(name)s::text::regclass) / current_setting('block_size')::bigint)::bigint;

-- name: sweep_idempotency_keys :value
-- Delete old idempotency keys in a range of the table's pages; returns their number.
WITH forgotten AS (
    DELETE FROM mailqueue.idempotency_keys AS k
    USING mailqueue.retention AS r
    WHERE k.ctid >= format('(%%s,0)', %(from_page)s::bigint)::tid
      AND k.ctid < format('(%%s,0)', %(until_page)s::bigint)::tid
      AND r.project_id = k.project_id AND r.kind = 'idempotency_keys'
      AND (k.created_at < clock_timestamp() - make_interval(days => r.keep_days)
           OR (k.fingerprint = mailqueue.request_fingerprint() AND k.created_at < clock_timestamp() - interval '24 h'))
      AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = k.email_id)
    RETURNING 1
)
SELECT count(*) FROM forgotten;

-- name: sweep_retained :value
-- Delete a batch of rows of a kind whose retention is over; returns their number.
SELECT mailqueue.sweep_retained(%(kind)s, %(most)s);

-- name: sweep_webhooks :one
-- Delete webhook deliveries after an id whose retention is over; the last id examined, and the number deleted.
SELECT s.last, s.swept FROM mailqueue.sweep_webhooks(%(after)s, 5000) AS s;

-- name: sweep_webhook_events :value
-- Delete a batch of old webhook events; returns their number.
SELECT mailqueue.sweep_webhook_events(5000);

-- name: end_warm_ups :many
-- End the warm-up of accounts that finished its last stage; returns them.
SELECT w.project, w.sender AS name FROM mailqueue.end_warm_ups(%(by)s) AS w;

-- name: list_warm_ups :many
-- Accounts in warm-up today: their stage, its limit, mail sent, bounces and complaints.
SELECT h.project, h.sender, h.warm_up_stage AS stage, h.warm_up_stages AS stages, h.daily_limit, h.daily_sent,
       h.daily_bounces
FROM mailqueue.sender_headroom AS h
WHERE h.warm_up_stage IS NOT NULL
ORDER BY h.project, h.sender;

-- name: expire_api_keys :many
-- Mark keys that have expired as revoked; returns them.
SELECT k.project, k.name FROM mailqueue.expire_api_keys(%(by)s) AS k;

-- name: list_expiring_keys :many
-- Valid keys that expire within that many days.
SELECT p.name AS project, k.name, k.expires_at
FROM mailqueue.api_keys AS k
JOIN mailqueue.projects AS p ON p.id = k.project_id
WHERE k.revoked_at IS NULL
  AND k.expires_at > clock_timestamp()
  AND k.expires_at <= clock_timestamp() + make_interval(days => %(days)s)
ORDER BY k.expires_at;

-- name: list_changed_tables :many
-- Tables with outdated statistics. Autovacuum does not analyze partitioned tables.
SELECT c.relname::text
FROM pg_catalog.pg_class AS c
LEFT JOIN pg_catalog.pg_stat_user_tables AS s ON s.relid = c.oid
LEFT JOIN LATERAL (
    SELECT max(greatest(t.last_analyze, t.last_autoanalyze)) AS analyzed_at,
           coalesce(sum(t.n_mod_since_analyze), 0) AS changed, coalesce(sum(t.n_live_tup), 0) AS live
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_stat_user_tables AS t ON t.relid = i.inhrelid
    WHERE i.inhparent = c.oid
) AS parts ON c.relkind = 'p'
WHERE c.relnamespace = 'mailqueue'::regnamespace
  AND CASE WHEN c.relkind = 'p'
           THEN parts.changed > 1000 + parts.live / 10
                OR (parts.live > 0 AND parts.analyzed_at IS DISTINCT FROM NULL
                    AND parts.analyzed_at > coalesce(s.last_analyze, '-infinity') + interval '1 day')
                OR (parts.live > 0 AND s.last_analyze IS NULL)
           WHEN c.relkind = 'r' AND NOT c.relispartition
           THEN s.n_mod_since_analyze > 1000 + s.n_live_tup / 10 END
ORDER BY c.relname;

-- name: analyze_table :run
-- Update a table's statistics.
ANALYZE {table};

-- name: list_vacuum_needs :many
-- Tables with many dead rows, or whose oldest transaction id is far back.
SELECT c.relname::text AS name, coalesce(s.n_live_tup, 0) AS live, coalesce(s.n_dead_tup, 0) AS dead,
       age(c.relfrozenxid)::bigint AS age, s.last_autovacuum
FROM pg_catalog.pg_class AS c
LEFT JOIN pg_catalog.pg_stat_user_tables AS s ON s.relid = c.oid
WHERE c.relnamespace = 'mailqueue'::regnamespace
  AND c.relkind = 'r'
  AND (s.n_dead_tup > %(dead)s AND s.n_dead_tup > s.n_live_tup / 2 OR age(c.relfrozenxid) > %(age)s)
ORDER BY s.n_dead_tup DESC NULLS LAST, c.relname;

-- name: reset_role :run
-- Act as the session user until the transaction ends.
SET LOCAL ROLE NONE;

-- name: list_horizon_holders :many
-- Sessions and slots that have held back the removal of dead rows for that long, as text.
SELECT h.words
FROM (
    SELECT format('process %%s (%%s of %%s) has had a transaction open since %%s: end it, or SELECT '
                  'pg_terminate_backend(%%s)',
                  a.pid, coalesce(nullif(a.application_name, ''), 'a program'), a.usename,
                  date_trunc('second', a.xact_start), a.pid) AS words,
           a.xact_start AS since
    FROM pg_catalog.pg_stat_activity AS a
    WHERE a.backend_xmin IS NOT NULL AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
      AND a.xact_start < clock_timestamp() - %(older_than)s::interval
    UNION ALL
    SELECT format('prepared transaction %%s is open since %%s: COMMIT PREPARED or ROLLBACK PREPARED it', x.gid,
                  date_trunc('second', x.prepared)), x.prepared
    FROM pg_catalog.pg_prepared_xacts AS x
    WHERE x.prepared < clock_timestamp() - %(older_than)s::interval
) AS h
ORDER BY h.since;

-- name: note_maintenance_run :run
-- Record a run of a maintenance task; where no worker has claimed it, the next one is due after its interval.
UPDATE mailqueue.maintenance_tasks AS t
SET last_run_at = clock_timestamp(),
    last_took = %(took)s::interval,
    last_report = left(%(report)s, 1000),
    run_at = CASE WHEN t.status = 'pending' THEN clock_timestamp() + t.every ELSE t.run_at END
WHERE t.task = %(task)s;
