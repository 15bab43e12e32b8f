-- Checks of stored data: held mail, counters, books, disk space.

CREATE OR REPLACE FUNCTION mailqueue.note_books(p_faults text[]) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.book_checks AS b (faults) VALUES (p_faults)
    ON CONFLICT (is_only) DO UPDATE SET faults = excluded.faults, checked_at = clock_timestamp()
$$;
COMMENT ON FUNCTION mailqueue.note_books(text[]) IS 'Store the result of comparing the books, for view health.';

-- Claimed rows must equal what is reserved, for each limit and day: one snapshot reads both.
CREATE OR REPLACE FUNCTION mailqueue.wrong_reservations()
RETURNS TABLE (limit_id integer, day date, reserved bigint, claimed bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH assigned AS MATERIALIZED (
        SELECT q.assigned_to, q.account_day, q.project_id, q.project_day, sum(q.recipients) AS recipients
          FROM mailqueue.email_queue AS q WHERE q.status = 'assigned'
         GROUP BY q.assigned_to, q.account_day, q.project_id, q.project_day
    ), claimed AS (
        SELECT c.limit_id, c.day, sum(c.recipients)::bigint AS recipients
          FROM (SELECT m.id AS limit_id, a.account_day AS day, a.recipients FROM assigned AS a
                  JOIN mailqueue.limits AS m ON m.sender_account_id = a.assigned_to
                UNION ALL
                SELECT m.id, a.project_day, a.recipients FROM assigned AS a
                  JOIN mailqueue.limits AS m ON m.project_id = a.project_id AND m.sender_account_id IS NULL
                 WHERE a.project_day IS NOT NULL) AS c  -- test mail is reserved on its trap only
         GROUP BY c.limit_id, c.day
    ), counted AS (
        SELECT c.limit_id, c.day, sum(c.reserved)::bigint AS reserved
          FROM (SELECT m.id AS limit_id, n.day, n.reserved FROM mailqueue.limits AS m
                 CROSS JOIN LATERAL (SELECT x.day, x.reserved FROM mailqueue.limit_counters AS x
                                      WHERE x.limit_id = m.id ORDER BY x.rev DESC LIMIT 1) AS n
                UNION ALL
                SELECT d.limit_id, d.day, d.reserved FROM mailqueue.limit_days AS d WHERE d.reserved <> 0) AS c
         WHERE c.reserved <> 0 GROUP BY c.limit_id, c.day
    )
    SELECT coalesce(n.limit_id, c.limit_id), coalesce(n.day, c.day), coalesce(n.reserved, 0), coalesce(c.recipients, 0)
      FROM counted AS n FULL JOIN claimed AS c ON c.limit_id = n.limit_id AND c.day = n.day
     WHERE coalesce(n.reserved, 0) <> coalesce(c.recipients, 0)
$$;
COMMENT ON FUNCTION mailqueue.wrong_reservations() IS 'Limits whose reserved count differs from the claimed mail.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_held_mail() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_name text; v_count bigint; v_doubt bigint; v_chosen bigint; v_since timestamptz;
    v_most integer := greatest(10000, mailqueue.system_number('held_alarm') + 1);
BEGIN
    SELECT count(*) FILTER (WHERE h.unknowns = 0 AND NOT h.is_chosen), count(*) FILTER (WHERE h.unknowns > 0),
           count(*) FILTER (WHERE h.unknowns = 0 AND h.is_chosen), min(h.created_at)
      INTO v_count, v_doubt, v_chosen, v_since
      FROM (SELECT q.unknowns, q.created_at,                 -- otherwise a person, or a statement, held it
                   coalesce(q.last_error, '') NOT SIMILAR TO '(attempts used up|restored): %' AS is_chosen
              FROM mailqueue.email_queue AS q WHERE q.status = 'held' LIMIT v_most) AS h;
    v_name := CASE WHEN v_count + v_doubt + v_chosen >= v_most THEN 'more than ' ELSE '' END;
    RETURN QUERY SELECT 'held mail',
        CASE WHEN v_count = 0 THEN 'ok' WHEN v_count > mailqueue.system_number('held_alarm') THEN 'alarm'
             ELSE 'warning' END,
        CASE WHEN v_count + v_chosen = 0 THEN 'none waits for a decision'
             ELSE concat_ws('; ',
                 CASE WHEN v_count > 0 THEN format('%s%s held until a person decides', v_name,
                                                   mailqueue.count_words(v_count, 'mail')) END,
                 CASE WHEN v_chosen > 0 THEN format('%s%s held by a person', v_name,
                                                    mailqueue.count_words(v_chosen, 'mail')) END,
                 format('the oldest accepted at %s', mailqueue.shown(v_since))) END,
        CASE WHEN v_count > 0 THEN 'look at view held, then mailqueue email release or mailqueue email cancel' END;
    RETURN QUERY SELECT 'mail in doubt',
        CASE WHEN v_doubt = 0 THEN 'ok' WHEN v_doubt > mailqueue.system_number('held_alarm') THEN 'alarm'
             ELSE 'warning' END,
        CASE v_doubt WHEN 0 THEN 'none is in doubt'
                     ELSE format('%s%s may or may not have been sent',
             v_name, mailqueue.count_words(v_doubt, 'mail')) END,
        CASE WHEN v_doubt > 0 THEN 'find out, then mailqueue resolve ID --sent or --not-sent' END;
    SELECT count(*), min(p.name) INTO v_count, v_name
      FROM (SELECT o.project_id FROM mailqueue.email_order AS o WHERE o.blocked_by IS NOT NULL LIMIT 1000) AS h
      JOIN mailqueue.projects AS p ON p.id = h.project_id;
    RETURN QUERY SELECT 'ordered mail', CASE WHEN v_count = 0 THEN 'ok' ELSE 'warning' END,
        CASE v_count WHEN 0 THEN 'none waits behind mail that failed'
                     ELSE format('%s failed or expired in order, and the mail behind waits: project %s',
                                 mailqueue.count_words(v_count, 'mail'), v_name) END,
        CASE WHEN v_count > 0 THEN 'mailqueue why ID of a mail behind it names it; mailqueue email requeue ID, or '
                                   'mailqueue project change ' || v_name || ' --ordering-on-failure continue' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_held_mail() IS
    'Rows of view health: mail that is held, in doubt, or waits in order behind mail that failed.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_books() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_count bigint; v_days integer;
    b record;
BEGIN
    SELECT c.checked_at, c.faults INTO b FROM mailqueue.book_checks AS c;
    SELECT v_now::date - min(a.day) INTO v_days FROM mailqueue.accepted_days AS a WHERE isfinite(a.day);
    v_count := CASE WHEN coalesce(b.checked_at < v_now - mailqueue.system_interval('books_warning'),
                                  v_days > extract(day FROM mailqueue.system_interval('books_warning'))) THEN 1
                    ELSE 0 END;
    RETURN QUERY SELECT 'books',
        CASE WHEN cardinality(b.faults) > 0 THEN 'alarm' WHEN v_count > 0 THEN 'warning' ELSE 'ok' END,
        CASE WHEN cardinality(b.faults) > 0
                  THEN format('compared at %s: %s', mailqueue.shown(b.checked_at), mailqueue.some_words(b.faults))
             WHEN b.checked_at IS NULL
                  THEN CASE v_count WHEN 0 THEN 'not old enough to be compared' ELSE 'they were never compared' END
             ELSE format('every mail accepted was accounted for at %s', mailqueue.shown(b.checked_at)) END,
        CASE WHEN cardinality(b.faults) > 0
                  THEN 'see mailqueue verify; restore the rows from a backup and find who changed them'
             WHEN v_count > 0 THEN 'run mailqueue verify from cron' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_books() IS
    'The row of view health about the comparison of mail accepted with mail accounted for.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_partitions() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_told text[]; v_count bigint; v_days integer; v_worst bigint;
BEGIN
    SELECT min(coalesce(e.until, '-infinity'::date)
               - (v_now AT TIME ZONE 'UTC')::date) FILTER (WHERE e.until IS NOT NULL),
           count(*) FILTER (WHERE e.until IS NULL),
           array_agg(format('%s ends %s', e.name, coalesce(e.until::text, 'before it began'))
                     ORDER BY e.until NULLS FIRST, e.name)
      INTO v_days, v_count, v_told
      FROM (SELECT p.relname AS name, (max(to_date(right(c.relname, 7), 'YYYY_MM')) + interval '1 month')::date AS until
              FROM pg_class AS p LEFT JOIN pg_inherits AS i ON i.inhparent = p.oid
              LEFT JOIN pg_class AS c ON c.oid = i.inhrelid
             WHERE p.relnamespace = 'mailqueue'::regnamespace AND p.relkind = 'p' GROUP BY p.relname) AS e;
    v_worst := extract(day FROM mailqueue.system_interval('partitions_warning'));
    RETURN QUERY SELECT 'partitions',
        CASE WHEN v_count > 0 OR v_days < v_worst / 2 THEN 'alarm' WHEN v_days < v_worst THEN 'warning' ELSE 'ok' END,
        CASE WHEN v_count > 0 OR v_days < v_worst
                  THEN mailqueue.some_words(v_told) || format(', less than %s days ahead', v_worst)
             ELSE format('made ahead for %s days', v_days) END,
        CASE WHEN v_count > 0 OR v_days < v_worst
                  THEN 'start a worker, which makes them, or run SELECT mailqueue.ensure_partitions(3)' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_partitions() IS
    'The row of view health about partitions that are made ahead.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_stock() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_told text[]; v_count bigint; v_worst bigint;
BEGIN
    RETURN QUERY SELECT * FROM mailqueue.health_of_held_mail();
    SELECT array_agg(format('limit %s on %s: %s reserved, %s claimed', w.limit_id, w.day, w.reserved, w.claimed)
                     ORDER BY w.day, w.limit_id)
      INTO v_told FROM mailqueue.wrong_reservations() AS w;
    RETURN QUERY SELECT 'reservations', CASE WHEN v_told IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce(mailqueue.some_words(v_told), 'what limits have reserved is what workers hold'),
        CASE WHEN v_told IS NOT NULL
                  THEN 'claimed mail or counters were changed by hand: undo that; until midnight limits may be off by '
                       'as much' END;
    RETURN QUERY SELECT * FROM mailqueue.health_of_books();
    IF pg_is_in_recovery() THEN
        v_count := 0;  -- the table is unlogged: empty on a standby
    ELSE
        SELECT count(*) INTO v_count FROM mailqueue.waiters AS x LEFT JOIN mailqueue.workers AS w ON w.id = x.worker_id
         WHERE w.id IS NULL OR w.stopped_at IS NOT NULL OR w.lost_at IS NOT NULL
            OR w.beat_at < v_now - interval '10 min';
    END IF;
    RETURN QUERY SELECT 'waiters', CASE v_count WHEN 0 THEN 'ok' ELSE 'warning' END,
        CASE v_count WHEN 0 THEN 'every worker that waits for a NOTIFY is running'
             ELSE mailqueue.count_words(v_count, 'worker')
                          || CASE v_count WHEN 1 THEN ' that ended still waits' ELSE ' that ended still wait' END
                          || ' for a NOTIFY, which slows commits' END,
        CASE WHEN v_count > 0
                  THEN 'start a worker, which declares silent ones lost, or run DELETE FROM mailqueue.waiters' END;
    RETURN QUERY SELECT * FROM mailqueue.health_of_partitions();
    v_worst := mailqueue.system_number('dead_rows_warning');
    SELECT array_agg(format('%s has %s dead rows', d.name, d.dead) ORDER BY d.dead DESC), max(d.dead)
      INTO v_told, v_count
      FROM (SELECT c.relname AS name, pg_stat_get_dead_tuples(c.oid) AS dead, pg_stat_get_live_tuples(c.oid) AS live
              FROM pg_class AS c WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r') AS d
     WHERE d.dead > v_worst AND d.dead > d.live;
    RETURN QUERY SELECT 'dead rows',
        CASE WHEN v_told IS NULL THEN 'ok' WHEN v_count > v_worst * 10 THEN 'alarm' ELSE 'warning' END,
        coalesce(mailqueue.some_words(v_told), 'no table has more dead rows than live ones'),
        CASE WHEN v_told IS NOT NULL
                  THEN 'see who holds them under transactions, replication slots and autovacuum; then VACUUM the '
                       'table' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_stock() IS
    'Rows of view health: held mail, counters, books, partitions, dead rows.';

CREATE OR REPLACE FUNCTION mailqueue.count_words(p_count bigint, p_noun text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT p_count || ' ' || p_noun || CASE p_count WHEN 1 THEN '' ELSE 's' END $$;
COMMENT ON FUNCTION mailqueue.count_words(bigint, text) IS 'A count with its noun.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_space() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_told text; v_free bigint; v_since timestamptz; v_by_person boolean;
    v_refuse bigint := mailqueue.system_number('free_space_refuse');
    v_warn bigint := mailqueue.system_number('free_space_warning');
    v_freed text := 'free room or enlarge the disk: drop old partitions of email_history, send_logs and '
                    'email_contents, look at replication slots';
BEGIN
    SELECT s.free_bytes,
           format('%s left of %s on %s (%s)', pg_size_pretty(s.free_bytes), pg_size_pretty(s.total_bytes), s.host,
                  s.place)
      INTO v_free, v_told FROM mailqueue.fresh_space() AS s WHERE s.place <> 'limit' ORDER BY s.free_bytes LIMIT 1;
    RETURN QUERY SELECT 'free space', CASE WHEN v_free < v_refuse THEN 'alarm'
             WHEN v_free < v_warn OR (v_told IS NULL AND mailqueue.system_number('database_size_limit') = 0)
                                                THEN 'warning'
                                           ELSE 'ok' END,
        coalesce(v_told, 'no worker on the server''s host reports it'
                 || CASE WHEN mailqueue.system_number('database_size_limit') > 0
                              THEN ', but there is a database_size_limit'
                         ELSE '' END),
        CASE WHEN v_free < greatest(v_refuse, v_warn) THEN v_freed
             WHEN v_told IS NULL AND mailqueue.system_number('database_size_limit') = 0 THEN
                 'run a worker on the server''s host, as a user who may read data_directory, or set '
                 'database_size_limit in mailqueue.system_settings' END;
    v_told := NULL; v_free := NULL;
    SELECT s.free_bytes,
           format('%s of %s used', pg_size_pretty(s.total_bytes - s.free_bytes), pg_size_pretty(s.total_bytes))
      INTO v_free, v_told
      FROM mailqueue.fresh_space() AS s WHERE s.place = 'limit';
    RETURN QUERY SELECT 'size limit',
        CASE WHEN v_free <= 0 THEN 'alarm'
             WHEN v_free < mailqueue.system_number('database_size_limit') / 10 THEN 'warning' ELSE 'ok' END,
        coalesce(v_told,
                 CASE mailqueue.system_number('database_size_limit')
                      WHEN 0 THEN 'none is set' ELSE 'no worker compares the database with it' END),
        CASE WHEN v_free < mailqueue.system_number('database_size_limit') / 10
                  THEN v_freed || ', or raise database_size_limit' END;
    SELECT string_agg(r.message, '; ' ORDER BY r.since), min(r.since),
           bool_or(r.reason NOT IN ('free_space', 'size_limit'))
      INTO v_told, v_since, v_by_person
      FROM mailqueue.refusals AS r WHERE r.valid_until > clock_timestamp() AND r.project_id IS NULL;
    RETURN QUERY SELECT 'acceptance', CASE WHEN v_told IS NULL THEN 'ok' ELSE 'alarm' END,
        coalesce('no mail is accepted since ' || mailqueue.shown(v_since) || ': ' || v_told, 'mail is accepted'),
        CASE WHEN v_by_person THEN 'when it is over, delete the row from mailqueue.refusals'
             WHEN v_told IS NOT NULL THEN v_freed END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_space() IS 'Rows of view health: disk space, and whether mail is accepted.';
