-- Checks of incoming events: whether they are processed, and what they show.

CREATE OR REPLACE FUNCTION mailqueue.health_of_events() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_words text[]; v_paused text[];
    v_count bigint; v_oldest timestamptz;
    v_failed bigint; v_unmatched bigint;
    v_is_running boolean := mailqueue.has_worker('inbound');
BEGIN
    -- Only accounts with bounces or complaints within the window have rates.
    SELECT array_agg(format('%s/%s: %s', p.name, a.name, j.words)
                     ORDER BY p.name, a.name) FILTER (WHERE j.state = 'warning'),
           array_agg(format('%s/%s: %s', p.name, a.name, coalesce(a.status_reason, j.words)) ORDER BY p.name, a.name)
               FILTER (WHERE a.status = 'paused' AND a.status_reason LIKE 'too many %')
      INTO v_words, v_paused
      FROM mailqueue.sender_accounts AS a
      JOIN mailqueue.projects AS p ON p.id = a.project_id
     CROSS JOIN LATERAL mailqueue.rates_of_sender(a.id) AS r
     CROSS JOIN LATERAL mailqueue.rate_words(a.bounce_warn, a.bounce_pause, a.complaint_warn, a.complaint_pause,
                                             r.sent, r.hard_bounces, r.complaints, r.bounce_rate, r.complaint_rate) AS j
     WHERE a.status_reason LIKE 'too many %' OR EXISTS (
           SELECT FROM mailqueue.notices AS n
            WHERE n.sender_account_id = a.id AND n.project_id = a.project_id
              AND n.kind IN ('bounce_rate', 'complaint_rate')
              AND n.noticed_at > clock_timestamp() - mailqueue.system_interval('rates_window'));
    RETURN QUERY SELECT 'bounce and complaint rates',
        CASE WHEN v_paused IS NOT NULL THEN 'alarm' WHEN v_words IS NOT NULL THEN 'warning' ELSE 'ok' END,
        coalesce(mailqueue.some_words(v_paused || v_words), 'no account has too many'),
        CASE WHEN v_paused IS NOT NULL
                  THEN 'find out to whom it sent (view recipient_history), then mailqueue sender resume NAME: the '
                       'count starts again'
             WHEN v_words IS NOT NULL THEN 'look at the addresses it writes to: view sender_rates has the figures' END;

    SELECT count(*), min(n.noticed_at) INTO v_count, v_oldest FROM (
        SELECT o.noticed_at FROM mailqueue.notices AS o WHERE o.seen_at IS NULL AND o.kind = 'complaint'
         ORDER BY o.id DESC LIMIT 10000) AS n;
    RETURN QUERY SELECT 'complaints', CASE WHEN v_count > 0 THEN 'warning' ELSE 'ok' END,
        CASE WHEN v_count = 0 THEN 'none unseen'
             ELSE format('%s unseen, the first %s ago', v_count,
                         mailqueue.span_words(clock_timestamp() - v_oldest)) END,
        CASE WHEN v_count > 0 THEN 'see mailqueue event notices, then mark them with --seen' END;

    SELECT min(e.run_at) INTO v_oldest FROM mailqueue.inbound_events AS e WHERE e.status = 'pending'
        AND e.run_at < clock_timestamp() - CASE WHEN v_is_running THEN interval '5 min' ELSE interval '15 s' END;
    SELECT count(*) FILTER (WHERE e.status = 'failed'), count(*) FILTER (WHERE e.status = 'unmatched')
      INTO v_failed, v_unmatched
      FROM mailqueue.inbound_events AS e
     WHERE e.status IN ('failed', 'unmatched') AND e.finished_at > clock_timestamp() - interval '1 day';
    RETURN QUERY SELECT 'reports of providers',
        CASE WHEN v_oldest < clock_timestamp() - interval '1 h' THEN 'alarm'
             WHEN v_oldest IS NOT NULL OR v_failed > 0 THEN 'warning' ELSE 'ok' END,
        CASE WHEN v_oldest IS NOT NULL
                  THEN format('%s have waited for %s',
                              CASE WHEN v_is_running THEN 'some' ELSE 'no worker processes them, and some' END,
                              mailqueue.span_words(clock_timestamp() - v_oldest))
             WHEN v_failed > 0 THEN format('%s of the last day could not be processed', v_failed)
             WHEN v_unmatched > 0 THEN format('all are processed; %s of the last day match no mail', v_unmatched)
             ELSE 'all are processed' END,
        CASE WHEN v_oldest IS NOT NULL THEN 'start a worker: mailqueue worker inbound'
             WHEN v_failed > 0 THEN 'see mailqueue event received --status failed' END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_events() IS
    'Rows of view health: bounce and complaint rates, notices, and processing of incoming events.';
