-- What monitoring reads of the database, from the boards of administrators: one function, so that any exporter of SQL
-- results can show it too. Labels are words that the installation has few of: no address, id, project or account.

-- What ends or is found missing only when it is needed: archived WAL, keys, records of DNS, canaries,
-- traces.
CREATE OR REPLACE FUNCTION mailqueue.gauges_of_upkeep()
RETURNS TABLE (name text, labels text[], value double precision)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 'mailqueue_wal_archive_age_seconds', '{}'::text[],
           extract(epoch FROM clock_timestamp() - coalesce(a.last_archived_time, a.stats_reset))::float8
      FROM pg_stat_archiver AS a WHERE current_setting('archive_mode') <> 'off'
    UNION ALL
    SELECT 'mailqueue_expiring_keys', ARRAY['api'], count(*)::float8
      FROM mailqueue.api_keys AS k
     WHERE k.revoked_at IS NULL AND k.rotated_at IS NULL
       AND k.expires_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '14 days'
    UNION ALL
    SELECT 'mailqueue_expiring_keys', ARRAY['administrator'], count(*)::float8
      FROM mailqueue.administrators AS a
     WHERE a.revoked_at IS NULL
       AND a.expires_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '14 days'
    UNION ALL
    SELECT 'mailqueue_failing_domains', '{}'::text[], count(*)::float8
      FROM mailqueue.checked_domains() AS d
     CROSS JOIN LATERAL (SELECT c.is_good FROM mailqueue.domain_checks AS c
                          WHERE c.project_id = d.project_id AND c.domain = d.domain
                            AND c.checked_at > clock_timestamp() - interval '35 days'
                          ORDER BY c.checked_at DESC LIMIT 1) AS last
     WHERE NOT last.is_good
    UNION ALL
    SELECT 'mailqueue_domain_records', ARRAY[r.record, s.state], count(f.state)::float8
      FROM unnest('{dkim,spf,dmarc}'::text[]) AS r (record)
     CROSS JOIN unnest('{pass,warn,fail,unknown}'::text[]) AS s (state)
      LEFT JOIN (SELECT e.record, e.state FROM mailqueue.domain_rechecks AS d
                  CROSS JOIN LATERAL (VALUES ('dkim', d.dkim), ('spf', d.spf), ('dmarc', d.dmarc)) AS e (record, state)
                ) AS f ON f.record = r.record AND f.state = s.state
     GROUP BY r.record, s.state
    UNION ALL
    SELECT c.name, c.labels, c.value FROM mailqueue.gauges_of_canaries() AS c
    UNION ALL
    SELECT t.name, t.labels, t.value FROM mailqueue.gauges_of_traces() AS t
$$;
COMMENT ON FUNCTION mailqueue.gauges_of_upkeep() IS
    'Those of mailqueue.gauges() that warn before something ends: archived WAL, keys, DNS, canaries, traces.';

-- As provider_board() shows them, without what it says of failures; headroom of all limits is computed in one call, not
-- in one for each account, which would be most of the cost of a scrape.
CREATE OR REPLACE FUNCTION mailqueue.account_states()
RETURNS TABLE (provider text, status text, circuit text, headroom integer)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT a.provider,
           CASE WHEN a.status = 'active' AND r.why = 'daily_limit' THEN 'paused_limit_reached'
                WHEN a.status = 'active' AND r.stage IS NOT NULL THEN 'warming_up' ELSE a.status END,
           CASE WHEN m.circuit_opened_at IS NULL THEN 'closed'
                WHEN m.blocked_reason IN ('unreachable', 'circuit', 'limited') AND m.blocked_until > clock_timestamp()
                     THEN 'open'
                ELSE 'half_open' END,
           CASE WHEN r.daily_limit IS NOT NULL THEN greatest(0, r.daily_limit - r.sent - r.reserved) END
      FROM mailqueue.headroom(ARRAY(SELECT x.id FROM mailqueue.limits AS x WHERE x.sender_account_id IS NOT NULL),
                              clock_timestamp()) AS r
      JOIN mailqueue.limits AS m ON m.id = r.limit_id
      JOIN mailqueue.sender_accounts AS a ON a.id = m.sender_account_id
$$;
COMMENT ON FUNCTION mailqueue.account_states() IS
    'State, circuit and what is left of today of each sender account, for mailqueue.gauges().';

CREATE OR REPLACE FUNCTION mailqueue.gauges() RETURNS TABLE (name text, labels text[], value double precision)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    WITH lanes AS MATERIALIZED (
        SELECT * FROM mailqueue.queue_board()
    ), queues AS MATERIALIZED (
        SELECT * FROM mailqueue.queue_counts()
    ), accounts AS MATERIALIZED (
        SELECT * FROM mailqueue.account_states()
    )
    SELECT 'mailqueue_emails', ARRAY[p.word, s.status],
           coalesce(sum(CASE s.status WHEN 'due' THEN l.due WHEN 'scheduled' THEN l.pending - l.due
                                      WHEN 'assigned' THEN l.assigned ELSE l.held END), 0)::float8
      FROM unnest('{critical,high,normal,low}'::text[]) WITH ORDINALITY AS p (word, place)
     CROSS JOIN unnest('{due,scheduled,assigned,held}'::text[]) AS s (status)
      LEFT JOIN lanes AS l ON l.priority = p.place - 1
     GROUP BY p.word, s.status
    UNION ALL
    SELECT 'mailqueue_oldest_email_seconds', ARRAY[p.word],
           coalesce(extract(epoch FROM clock_timestamp() - min(l.oldest_due_at)), 0)::float8
      FROM unnest('{critical,high,normal,low}'::text[]) WITH ORDINALITY AS p (word, place)
      LEFT JOIN lanes AS l ON l.priority = p.place - 1
     GROUP BY p.word
    UNION ALL
    SELECT 'mailqueue_blocked_lanes', ARRAY[l.blocked_reason], count(*)::float8
      FROM lanes AS l WHERE l.blocked_reason IS NOT NULL GROUP BY l.blocked_reason
    UNION ALL
    SELECT 'mailqueue_rows', ARRAY[q.queue, s.status], s.rows::float8
      FROM queues AS q
     CROSS JOIN LATERAL (VALUES ('due', q.due), ('scheduled', q.scheduled), ('assigned', q.assigned),
                                ('alone', q.suspects), ('failed', q.failed)) AS s (status, rows)
    UNION ALL
    SELECT 'mailqueue_oldest_row_seconds', ARRAY[q.queue],
           coalesce(extract(epoch FROM clock_timestamp() - q.oldest_due), 0)::float8 FROM queues AS q
    UNION ALL
    SELECT 'mailqueue_workers', ARRAY[n.queue], count(w.id)::float8
      FROM (SELECT 'send' AS queue UNION ALL SELECT t.queue FROM mailqueue.queue_tables() AS t) AS n
      LEFT JOIN mailqueue.workers AS w
        ON w.stopped_at IS NULL AND w.lost_at IS NULL AND w.beat_at > clock_timestamp() - interval '30 s'
       AND (n.queue = ANY (w.queues) OR w.kind = n.queue)
     GROUP BY n.queue
    UNION ALL
    SELECT 'mailqueue_sender_accounts', ARRAY[a.provider, a.status], count(*)::float8
      FROM accounts AS a GROUP BY a.provider, a.status
    UNION ALL
    SELECT 'mailqueue_open_circuits', ARRAY[a.provider], count(*) FILTER (WHERE a.circuit <> 'closed')::float8
      FROM accounts AS a GROUP BY a.provider
    UNION ALL
    SELECT 'mailqueue_exhausted_accounts', ARRAY[a.provider], count(*) FILTER (WHERE a.headroom = 0)::float8
      FROM accounts AS a GROUP BY a.provider
    UNION ALL
    SELECT 'mailqueue_headroom_emails', ARRAY[a.provider], coalesce(sum(a.headroom), 0)::float8
      FROM accounts AS a WHERE a.headroom IS NOT NULL GROUP BY a.provider
    UNION ALL
    SELECT 'mailqueue_inbox_connections', ARRAY[s.state], count(l.mailbox_id)::float8
      FROM unnest('{connecting,listening,waiting,unsupported}'::text[]) AS s (state)
      LEFT JOIN mailqueue.inbox_listeners AS l
        ON l.state = s.state AND (l.lease_until > clock_timestamp() OR s.state IN ('waiting', 'unsupported'))
     GROUP BY s.state
    UNION ALL
    SELECT 'mailqueue_check_state', ARRAY[h.name], CASE h.state WHEN 'ok' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END
      FROM mailqueue.health_board() AS h
    UNION ALL
    SELECT 'mailqueue_maintenance_age_seconds', ARRAY[b.task],
           coalesce(extract(epoch FROM clock_timestamp() - b.last_run_at), 'infinity')::float8
      FROM mailqueue.task_board() AS b
    UNION ALL
    SELECT 'mailqueue_maintenance_late', ARRAY[b.task], b.is_late::integer FROM mailqueue.task_board() AS b
    UNION ALL
    SELECT 'mailqueue_free_space_bytes', ARRAY[b.host, b.place], b.free_bytes FROM mailqueue.space_board() AS b
    UNION ALL
    SELECT 'mailqueue_database_bytes', '{}', b.database_bytes FROM mailqueue.disk_board() AS b
    UNION ALL
    SELECT 'mailqueue_recent_attempts', ARRAY[p.provider, r.result], coalesce(sum(r.attempts), 0)::float8
      FROM (SELECT DISTINCT a.provider FROM accounts AS a) AS p
      LEFT JOIN mailqueue.account_board(clock_timestamp() - interval '5 min') AS b ON b.provider = p.provider
     CROSS JOIN LATERAL (VALUES ('sent', b.sent), ('deferred', b.deferred), ('bounced', b.bounced),
                                ('failed', b.failed)) AS r (result, attempts)
     GROUP BY p.provider, r.result
    UNION ALL
    SELECT 'mailqueue_response_seconds', ARRAY[b.provider], max(b.p95_ms) / 1000.0
      FROM mailqueue.account_board(clock_timestamp() - interval '5 min') AS b WHERE b.p95_ms IS NOT NULL
     GROUP BY b.provider
    UNION ALL
    SELECT u.name, u.labels, u.value FROM mailqueue.gauges_of_upkeep() AS u
$$;
COMMENT ON FUNCTION mailqueue.gauges() IS
    'Figures for monitoring: name of the metric, the values of its labels, and the figure; of the whole installation.';
