-- Checks of webhooks: whether events are delivered in time.

INSERT INTO mailqueue.system_settings (name, value, kind, meaning) VALUES
    ('webhook_late_warning', '5 min', 'interval',
     'health warns when an event for a reachable webhook has been due for longer'),
    ('webhook_late_alarm', '1 h', 'interval',
     'health alarms when an event for a reachable webhook has been due for longer'),
    ('webhook_give_up', '5 days', 'interval',
     'a webhook that has failed for as long, and not answered well once, is disabled')
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, meaning = excluded.meaning
   WHERE (system_settings.kind, system_settings.meaning) <> (excluded.kind, excluded.meaning);

CREATE OR REPLACE FUNCTION mailqueue.health_of_webhooks() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_off text[]; v_failing text[]; v_late text[]; v_wait interval;
    v_is_running boolean := mailqueue.has_worker('webhooks');
BEGIN
    SELECT array_agg(format('%s of %s (%s)', w.url, p.name,
                            CASE w.disabled_reason WHEN 'gone' THEN 'answered 410' ELSE 'kept failing' END)
                     ORDER BY w.disabled_at DESC)
               FILTER (WHERE w.disabled_reason IN ('gone', 'failing') AND w.disabled_at > v_now - interval '30 days'),
           array_agg(mailqueue.key_words(k, format('%s of %s', w.url, p.name)) ORDER BY k.failing_since)
               FILTER (WHERE w.is_enabled AND k.opened_at < v_now - interval '15 min')
      INTO v_off, v_failing FROM mailqueue.webhooks AS w JOIN mailqueue.projects AS p ON p.id = w.project_id
      LEFT JOIN mailqueue.queue_keys AS k ON k.queue = 'webhooks' AND k.key = w.id::text
     WHERE w.removed_at IS NULL AND p.deleted_at IS NULL AND (NOT w.is_enabled OR k.opened_at IS NOT NULL);
    RETURN QUERY SELECT 'webhooks', CASE WHEN v_off IS NULL AND v_failing IS NULL THEN 'ok' ELSE 'warning' END,
        coalesce(concat_ws('; ', 'disabled: ' || mailqueue.some_words(v_off),
                           mailqueue.some_words(v_failing)),
                 ''),
        CASE WHEN v_off IS NOT NULL
                  THEN 'mend the endpoint, then mailqueue webhook change ID --enable and mailqueue webhook retry ID; '
                       'or mailqueue webhook remove ID'
             WHEN v_failing IS NOT NULL THEN 'see mailqueue webhook deliveries ID for what it answers' END
      WHERE v_off IS NOT NULL OR v_failing IS NOT NULL
    UNION ALL
    SELECT 'webhooks', 'ok', 'none was disabled, and none keeps failing', NULL
     WHERE v_off IS NULL AND v_failing IS NULL;

    SELECT array_agg(format('%s since %s', r.url, mailqueue.shown(r.run_at)) ORDER BY r.run_at), v_now - min(r.run_at)
      INTO v_late, v_wait
      FROM (SELECT w.url, d.run_at FROM mailqueue.ready_webhooks(v_now) AS y JOIN mailqueue.webhooks AS w ON w.id = y.id
             CROSS JOIN LATERAL (SELECT o.run_at FROM mailqueue.webhook_deliveries AS o
                                  WHERE o.webhook_id = w.id AND o.status = 'pending'
                                  ORDER BY o.run_at, o.id LIMIT 1) AS d
             WHERE NOT y.is_probe) AS r
     WHERE r.run_at < v_now
           - CASE WHEN v_is_running THEN mailqueue.system_interval('webhook_late_warning') ELSE interval '15 s' END;
    RETURN QUERY SELECT 'webhook backlog',
        CASE WHEN v_late IS NULL THEN 'ok' WHEN v_wait > mailqueue.system_interval('webhook_late_alarm') THEN 'alarm'
             ELSE 'warning' END,
        coalesce(CASE WHEN v_is_running THEN '' ELSE 'no worker delivers, and ' END || 'events wait for '
                 || mailqueue.some_words(v_late),
                 'no event waits for an endpoint that answers'),
        CASE WHEN v_late IS NOT NULL AND NOT v_is_running THEN 'start a worker: mailqueue worker webhooks'
             WHEN v_late IS NOT NULL
                  THEN 'see that mailqueue worker webhooks runs (mailqueue up brings one), and whether the endpoint is '
                       'quick enough' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_webhooks() IS
    'Rows of view health: webhooks that were disabled or keep failing, and late events.';
