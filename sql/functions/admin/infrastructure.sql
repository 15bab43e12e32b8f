-- What administrators see of tables, disks and maintenance. Empty in a transaction that acts for one project.

-- Rows of a month leave to the archive, or are deleted, once they are older than the retention of their project; the
-- partition is dropped when it is empty, two months after its own at the earliest.
CREATE OR REPLACE FUNCTION mailqueue.partition_board()
RETURNS TABLE (table_name text, name text, month date, state text, rows_estimate bigint, bytes bigint,
               leaves_from date, dropped_from date, is_archived boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    WITH stay AS (
        SELECT k.table_name, min(r.hot_days) AS first, max(r.hot_days) AS last,
               bool_or(r.keep_days IS NULL OR r.keep_days > r.hot_days) AS is_archived
          FROM mailqueue.retention_rules AS r JOIN mailqueue.retained_kinds AS k ON k.kind = r.kind
         WHERE k.is_archived GROUP BY k.table_name
    )
    SELECT p.relname::text, c.relname::text, m.first_day,
           CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'detaching' ELSE 'attached' END,
           CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END, pg_total_relation_size(c.oid),
           (m.first_day + interval '1 month')::date + s.first,
           greatest((m.first_day + interval '1 month')::date + s.last, (m.first_day + interval '2 months')::date),
           s.is_archived
      FROM pg_class AS p
      JOIN pg_class AS c
        ON c.relnamespace = p.relnamespace AND c.relkind = 'r'
       AND c.relname ~ ('^' || p.relname || '_[0-9]{4}_[0-9]{2}$')
     CROSS JOIN LATERAL (SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS first_day) AS m
      LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid AND i.inhparent = p.oid
      LEFT JOIN stay AS s ON s.table_name = p.relname
     WHERE p.relnamespace = 'mailqueue'::regnamespace AND p.relkind = 'p' AND mailqueue.tenant() IS NULL
     ORDER BY m.first_day, p.relname
$$;
COMMENT ON FUNCTION mailqueue.partition_board() IS
    'Monthly tables, oldest first: estimated rows (NULL: not counted yet), bytes, and when their rows leave.';

CREATE OR REPLACE FUNCTION mailqueue.disk_board(OUT database_bytes bigint, OUT size_limit_bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN has_database_privilege(current_database(), 'CONNECT')
                     THEN pg_database_size(current_database()) END,
           nullif(mailqueue.system_number('database_size_limit'), 0)
     WHERE mailqueue.tenant() IS NULL
$$;
COMMENT ON FUNCTION mailqueue.disk_board() IS
    'Size of the database (NULL: not readable), and its limit (NULL: none), in bytes.';

CREATE OR REPLACE FUNCTION mailqueue.space_board()
RETURNS TABLE (host text, place text, free_bytes bigint, total_bytes bigint, reported_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.host, s.place, s.free_bytes, s.total_bytes, s.reported_at FROM mailqueue.fresh_space() AS s
     WHERE s.place <> 'limit' AND mailqueue.tenant() IS NULL ORDER BY s.host, s.place
$$;
COMMENT ON FUNCTION mailqueue.space_board() IS
    'Free space of the folders of PostgreSQL, as processes on its host reported within two minutes.';

CREATE OR REPLACE FUNCTION mailqueue.slot_board()
RETURNS TABLE (name text, is_active boolean, kept_bytes bigint, wal_status text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT r.slot_name::text, r.active,
           pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                                ELSE pg_current_wal_lsn() END, r.restart_lsn)::bigint,
           r.wal_status
      FROM pg_replication_slots AS r WHERE mailqueue.tenant() IS NULL ORDER BY 3 DESC NULLS FIRST, 1
$$;
COMMENT ON FUNCTION mailqueue.slot_board() IS
    'Replication slots and the bytes of WAL that each keeps (NULL: none yet, or lost), the most first.';

CREATE OR REPLACE FUNCTION mailqueue.table_board(p_limit integer)
RETURNS TABLE (name text, rows_estimate bigint, bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    SELECT t.name::text, sum(CASE WHEN t.reltuples >= 0 THEN t.reltuples::bigint END)::bigint, sum(t.bytes)::bigint
      FROM (SELECT coalesce(p.relname, c.relname) AS name, c.reltuples, pg_total_relation_size(c.oid) AS bytes
              FROM pg_class AS c
              LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid LEFT JOIN pg_class AS p ON p.oid = i.inhparent
             WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r') AS t
     WHERE mailqueue.tenant() IS NULL
     GROUP BY t.name ORDER BY 3 DESC, 1 LIMIT p_limit
$$;
COMMENT ON FUNCTION mailqueue.table_board(integer) IS
    'The largest tables with their indexes, those of all months together: estimated rows (NULL: not counted yet), '
    'bytes.';

CREATE OR REPLACE FUNCTION mailqueue.task_board()
RETURNS TABLE (task text, every interval, is_running boolean, due_at timestamptz, last_run_at timestamptz,
               last_took interval, last_report text, last_error text, is_late boolean)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT m.task, m.every, m.status = 'assigned', m.run_at, m.last_run_at, m.last_took, m.last_report, m.last_error,
           coalesce(m.last_run_at, m.created_at) < clock_timestamp() - m.every * 3 - interval '1 h'
      FROM mailqueue.maintenance_tasks AS m WHERE mailqueue.tenant() IS NULL ORDER BY m.task
$$;
COMMENT ON FUNCTION mailqueue.task_board() IS
    'Maintenance tasks: when each is due, ran last and how long it took; is_late as view health says it.';
