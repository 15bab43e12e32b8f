-- Checks of the server: durability settings, and sessions that hold it back. Runs with the caller's rights: without
-- those of pg_read_all_stats, transactions of other users show only their pid.

CREATE OR REPLACE FUNCTION mailqueue.health_of_server() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_warn interval; v_alarm interval; v_number bigint; v_age bigint; v_most integer; v_count integer; v_hidden integer;
    v_pid integer;
    v_told text[]; v_oldest interval; v_worst_kept bigint;
    v_weak text;
BEGIN
    SELECT s.transaction_warning, s.transaction_alarm, s.xid_age_warning INTO v_warn, v_alarm, v_age
      FROM mailqueue.health_bounds() AS s;
    SELECT array_agg(format('pid %s (%s, user %s, %s) since %s, for %s', a.pid,
                            coalesce(nullif(a.application_name, ''), 'unnamed'), a.usename,
                            a.state, to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'),
                            mailqueue.span_words(v_now - a.xact_start))
                     ORDER BY a.xact_start),
           max(v_now - a.xact_start), (array_agg(a.pid ORDER BY a.xact_start))[1]
      INTO v_told, v_oldest, v_pid
      FROM pg_stat_activity AS a
     WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
       AND a.xact_start < v_now - v_warn;
    SELECT count(*) INTO v_hidden FROM pg_stat_activity AS a
     WHERE a.datname = current_database() AND a.backend_type IS NULL AND a.backend_xmin IS NOT NULL
       AND age(a.backend_xmin) > v_age / 5000;
    RETURN QUERY SELECT 'transactions',
        CASE WHEN v_oldest > v_alarm THEN 'alarm' WHEN v_told IS NOT NULL OR v_hidden > 0 THEN 'warning' ELSE 'ok' END,
        coalesce('open for long: ' || mailqueue.some_words(v_told) || '; meanwhile no dead row is removed',
                 CASE WHEN v_hidden > 0
                           THEN format('%s of other users, which you may not look into, hold dead rows', v_hidden) END,
                 format('none has been open for %s', mailqueue.span_words(v_warn))),
        CASE WHEN v_told IS NOT NULL THEN format('end what it does, or SELECT pg_terminate_backend(%s)', v_pid)
             WHEN v_hidden > 0 THEN format('GRANT pg_read_all_stats TO %I, and look again', current_user) END;

    -- Rows that are locked only for moments. The start of another user's transaction may be hidden: its transaction id
    -- shows its age.
    SELECT array_agg(format('pid %s (%s, user %s) has locked %s%s', h.pid,
                            coalesce(nullif(a.application_name, ''), 'unnamed'), a.usename, h.name,
                            coalesce(format(' since %s, for %s',
                                            to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS "UTC"'),
                                            mailqueue.span_words(v_now - a.xact_start)), '')) ORDER BY a.xact_start),
           min(h.pid)
      INTO v_told, v_pid
      FROM (SELECT o.pid, string_agg(o.name, ', ' ORDER BY o.name) AS name, max(o.xid_age) AS xid_age,
                   max(o.alarm) AS alarm
              FROM mailqueue.row_lock_holders() AS o GROUP BY o.pid) AS h
      LEFT JOIN pg_stat_activity AS a ON a.pid = h.pid
     WHERE coalesce(a.xact_start < v_now - h.alarm, h.xid_age > 10000);
    RETURN QUERY SELECT 'locked rows', CASE WHEN v_told IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce(mailqueue.some_words(v_told) || '; what needs the same row waits',
                 'none is locked for longer than a moment'),
        CASE WHEN v_told IS NOT NULL THEN format('end that transaction, or SELECT pg_terminate_backend(%s)', v_pid) END;

    SELECT array_agg(format('%s by %s since %s, renewed %s ago (SELECT pg_terminate_backend(%s) ends it)', l.name,
                            l.holder, to_char(l.taken_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
                            mailqueue.span_words(v_now - l.renewed_at), l.pid)
                     ORDER BY l.taken_at)
      INTO v_told FROM mailqueue.lease_holders() AS l;
    RETURN QUERY SELECT 'leases', 'ok',
        coalesce(mailqueue.some_words(v_told), 'no migration, maintenance or erasure is running'), NULL::text;

    SELECT array_agg(format('%s by %s for %s', x.gid, x.owner, mailqueue.span_words(v_now - x.prepared))
                     ORDER BY x.prepared),
           max(v_now - x.prepared)
      INTO v_told, v_oldest FROM pg_prepared_xacts AS x
     WHERE x.database = current_database() AND x.prepared < v_now - v_warn;
    RETURN QUERY SELECT 'prepared transactions',
        CASE WHEN v_told IS NULL THEN 'ok' WHEN v_oldest > v_alarm THEN 'alarm' ELSE 'warning' END,
        coalesce('prepared and never ended: ' || mailqueue.some_words(v_told), 'none waits to be ended'),
        CASE WHEN v_told IS NOT NULL
                  THEN 'COMMIT PREPARED or ROLLBACK PREPARED it: it holds rows and their dead versions, over restarts '
                       'too' END;

    SELECT s.slot_warning INTO v_number FROM mailqueue.health_bounds() AS s;
    SELECT array_agg(format('%s (%s) keeps %s of WAL%s', s.slot_name,
                            CASE WHEN s.active THEN 'pid ' || s.active_pid ELSE 'no session reads it' END,
                            coalesce(pg_size_pretty(s.kept), 'nothing'),
                            CASE s.wal_status WHEN 'lost' THEN ' and has lost some' ELSE '' END)
                     ORDER BY s.kept DESC NULLS FIRST), max(s.kept),
           count(*) FILTER (WHERE s.wal_status IN ('lost', 'unreserved'))
      INTO v_told, v_worst_kept, v_count
      FROM (SELECT r.*,
                   pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                                        ELSE pg_current_wal_lsn() END,
                                   r.restart_lsn)::bigint AS kept
              FROM pg_replication_slots AS r) AS s
     WHERE s.kept > v_number OR s.wal_status IN ('lost', 'unreserved') OR age(s.xmin) > v_age / 50
        OR age(s.catalog_xmin) > v_age / 50;
    RETURN QUERY SELECT 'replication slots',
        CASE WHEN v_told IS NULL THEN 'ok' WHEN v_count > 0 OR v_worst_kept > v_number * 10 THEN 'alarm'
             ELSE 'warning' END,
        coalesce(mailqueue.some_words(v_told), 'none keeps much'),
        CASE WHEN v_told IS NOT NULL
                  THEN 'see that its reader comes back, or SELECT pg_drop_replication_slot(name); '
                       'max_slot_wal_keep_size bounds what slots may keep' END;

    SELECT greatest(age(d.datfrozenxid), mxid_age(d.datminmxid)) INTO v_number FROM pg_database AS d
     WHERE d.datname = current_database();
    RETURN QUERY SELECT 'transaction ids',
        CASE WHEN v_number > v_age * 2 THEN 'alarm' WHEN v_number > v_age THEN 'warning' ELSE 'ok' END,
        format('the oldest is %s million old; at 2,100 million the server stops', v_number / 1000000),
        CASE WHEN v_number > v_age
                  THEN 'see who holds them under transactions, prepared transactions and replication slots; then '
                       'VACUUM (FREEZE) the oldest tables' END;

    v_weak := concat_ws(', ',
        CASE current_setting('fsync') WHEN 'on' THEN NULL ELSE 'fsync is ' || current_setting('fsync') END,
        CASE WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit is off' END,
        (SELECT 'synchronous_commit is off for '
                || string_agg(coalesce('user ' || r.rolname, 'this database'), ', ' ORDER BY r.rolname)
           FROM pg_db_role_setting AS s LEFT JOIN pg_roles AS r ON r.oid = s.setrole, unnest(s.setconfig) AS c(said)
          WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
            AND (r.oid IS NULL OR has_table_privilege(r.oid, 'mailqueue.email_queue', 'INSERT')
                 OR has_function_privilege(r.oid, 'mailqueue.mark_emails(integer, uuid[], bigint[], uuid[], bigint[])',
                                           'EXECUTE'))
            AND c.said ~* '^synchronous_commit=(off|of|false|f|no|n|0)$'),
        CASE current_setting('full_page_writes') WHEN 'on' THEN NULL
                                                 ELSE 'full_page_writes is '
                                                      || current_setting('full_page_writes') END);
    RETURN QUERY SELECT 'durability', CASE v_weak WHEN '' THEN 'ok' ELSE 'alarm' END,
        CASE v_weak WHEN '' THEN 'commits are on disk before they are answered'
                    ELSE v_weak || ': a crash of the server can lose accepted mail or send it twice' END,
        CASE WHEN v_weak <> '' THEN 'set them to on in postgresql.conf, and for this database and user, and reload' END;

    SELECT array_agg(c.relname::text ORDER BY c.relname) INTO v_told FROM pg_class AS c
     WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r' AND 'autovacuum_enabled' = ANY (
           SELECT split_part(o, '=', 1) FROM unnest(c.reloptions) AS o
            WHERE split_part(o, '=', 2) IN ('off', 'false', '0', 'no', 'f'));
    v_weak := concat_ws(', ', CASE current_setting('autovacuum') WHEN 'off' THEN 'autovacuum is off' END,
        CASE current_setting('track_counts')
             WHEN 'off' THEN 'track_counts is off, without which autovacuum does nothing' END,
        'it is off for ' || mailqueue.some_words(v_told));
    RETURN QUERY SELECT 'autovacuum', CASE v_weak WHEN '' THEN 'ok' ELSE 'alarm' END,
        CASE v_weak WHEN '' THEN 'on, for every table' ELSE v_weak END,
        CASE WHEN v_weak <> '' THEN
             'turn it on, or ALTER TABLE … RESET (autovacuum_enabled): the queue slows down with every mail' END;

    -- What is left to functions that disable other kinds of plans.
    SELECT string_agg(w.said, ', ' ORDER BY w.said) INTO v_weak FROM (
        SELECT s.name || ' is off' FROM pg_settings AS s
         WHERE s.name IN ('enable_indexscan', 'enable_indexonlyscan', 'enable_nestloop', 'enable_tidscan')
           AND s.setting = 'off'
        UNION
        SELECT split_part(c.said, '=', 1) || ' is off for ' || coalesce('user ' || r.rolname, 'this database')
          FROM pg_db_role_setting AS s LEFT JOIN pg_roles AS r ON r.oid = s.setrole, unnest(s.setconfig) AS c(said)
         WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
           AND (r.oid IS NULL OR has_table_privilege(r.oid, 'mailqueue.email_queue', 'INSERT')
                OR has_function_privilege(r.oid, 'mailqueue.mark_emails(integer, uuid[], bigint[], uuid[], bigint[])',
                                          'EXECUTE'))
           AND c.said ~* '^enable_(indexscan|indexonlyscan|nestloop|tidscan)=(off|of|false|f|no|n|0)$') AS w(said);
    RETURN QUERY SELECT 'planner', CASE WHEN v_weak IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce(v_weak || ': accepting and claiming mail may read whole tables',
                 'the plans that accepting and claiming mail need are allowed'),
        CASE WHEN v_weak IS NOT NULL
                  THEN 'set them to on in postgresql.conf, and ALTER DATABASE … RESET and ALTER ROLE … RESET them' END;

    v_most := current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer;
    SELECT count(*) INTO v_count FROM pg_stat_activity AS a WHERE a.datid IS NOT NULL;
    SELECT s.connections_warning INTO v_number FROM mailqueue.health_bounds() AS s;
    RETURN QUERY SELECT 'connections', CASE WHEN v_count * 100 > v_most * greatest(v_number, 95) THEN 'alarm'
             WHEN v_count * 100 > v_most * v_number THEN 'warning' ELSE 'ok' END,
        format('%s of %s are used', v_count, v_most),
        CASE WHEN v_count * 100 > v_most * v_number THEN
             'raise max_connections, run fewer workers (six connections each), or put a pooler in between' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_server() IS
    'Rows of view health: sessions that hold dead rows, important settings, connections. Runs with its caller''s '
    'rights.';

CREATE OR REPLACE FUNCTION mailqueue.health_bounds()
RETURNS TABLE (transaction_warning interval, transaction_alarm interval,
    slot_warning bigint, xid_age_warning bigint, connections_warning bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.system_interval('transaction_warning'), mailqueue.system_interval('transaction_alarm'),
           mailqueue.system_number('slot_warning'), mailqueue.system_number('xid_age_warning'),
           mailqueue.system_number('connections_warning')
$$;
COMMENT ON FUNCTION mailqueue.health_bounds() IS
    'Thresholds of system_settings for health_of_server(), whose caller cannot read that table.';
