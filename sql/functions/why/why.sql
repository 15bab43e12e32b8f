-- Why a mail was not sent, or what became of it, as text.

CREATE OR REPLACE FUNCTION mailqueue.why(email_id uuid) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q record;
    h record;
    r record;
    l record;
    s record;
    v_held_by text;                                        -- by what: quiet hours or frequency cap
    v_before bigint;                                         -- mails of its lane that are sent first
    v_kept text := '';                                       -- in doubt: one account may have accepted it
BEGIN
    SELECT * INTO h FROM mailqueue.email_history AS e WHERE e.id = why.email_id ORDER BY e.finished_at DESC LIMIT 1;
    IF FOUND THEN
        PERFORM mailqueue.check_tenant(h.project_id);
        RETURN CASE h.status
            WHEN 'sent' THEN format('sent at %s%s', mailqueue.shown(h.finished_at), ', ' || h.reason)
            ELSE format('%s at %s: %s', h.status, mailqueue.shown(h.finished_at),
                        coalesce(h.reason, 'no reason recorded')) END
            || CASE WHEN h.status = 'failed' THEN mailqueue.attempt_words(h.id, h.attempts) ELSE '' END
            || coalesce('; '
                        || CASE h.status
                                WHEN 'suppressed'
                                     THEN mailqueue.suppression_words(h.project_id, h.recipient_email, h.reason)
                                ELSE mailqueue.event_words(h.id, h.reason) END, '')
            || mailqueue.next_step('history', h.status, h.id, h.project_id, NULL, h.recipient_email);
    END IF;
    SELECT * INTO q FROM mailqueue.email_queue AS e WHERE e.id = why.email_id;
    IF NOT FOUND THEN
        v_kept := coalesce(mailqueue.why_schedule(why.email_id), mailqueue.why_enrollment(why.email_id),
                           mailqueue.why_timed_event(why.email_id));
        v_kept := coalesce(coalesce(mailqueue.why_worked_row(why.email_id) || '; ', '') || v_kept,
                           mailqueue.why_row(why.email_id), mailqueue.why_event(why.email_id),
                           mailqueue.why_dead_letter(why.email_id));
        IF v_kept IS NOT NULL THEN
            RETURN v_kept;
        END IF;
        RETURN 'there is no such email' || coalesce(' here: ' || mailqueue.archive_words(why.email_id), '');
    END IF;
    PERFORM mailqueue.check_tenant(q.project_id);
    IF q.status = 'held' THEN
        RETURN format('held until a person decides: %s', coalesce(q.last_error, 'no reason recorded'))
            || mailqueue.next_step('queue', CASE WHEN q.unknowns > 0 OR q.last_error LIKE 'restored: %'
                                                      THEN 'in_doubt' ELSE 'held' END, q.id, q.project_id);
    ELSIF q.status = 'pending' AND mailqueue.platform_pause_words() IS NOT NULL
          AND (q.run_at <= clock_timestamp()
               OR EXISTS (SELECT FROM mailqueue.custom_smtp_servers AS x
                           WHERE x.email_id = q.id AND x.run_at <= clock_timestamp())) THEN
        RETURN mailqueue.platform_pause_words()
            || mailqueue.next_step('installation', 'paused', q.id, q.project_id);
    ELSIF mailqueue.refusal_words(q.id) IS NOT NULL THEN
        RETURN 'not sent: ' || mailqueue.refusal_words(q.id)
            || mailqueue.next_step('queue', 'refused', q.id, q.project_id);
    ELSIF q.status = 'pending' AND q.crashes > 0 THEN
        RETURN format('sent alone at %s or later, because its worker stopped while handling it: %s',
                      mailqueue.shown(q.run_at),
                      coalesce(regexp_replace(q.last_error, '^its worker stopped while handling it: ', ''),
                               'no reason'))
            || mailqueue.next_step('queue', 'suspect', q.id, q.project_id);
    ELSIF q.status = 'assigned' THEN
        SELECT w.*, clock_timestamp() - w.beat_at > interval '30 s' AS is_silent INTO s FROM mailqueue.workers AS w
         WHERE w.id = q.worker_id;
        RETURN CASE WHEN s.is_silent
                         THEN format('worker %s has it and is silent since %s: it goes back when the worker is rescued',
                                     q.worker_id, mailqueue.shown(s.beat_at))
                    ELSE format('being sent by worker %s since %s', q.worker_id, mailqueue.shown(q.assigned_at)) END
            || mailqueue.next_step('queue', CASE WHEN s.is_silent THEN 'silent' ELSE 'assigned' END, q.id,
                                   q.project_id);
    ELSIF EXISTS (SELECT FROM mailqueue.custom_smtp_servers AS x WHERE x.email_id = q.id) THEN
        SELECT x.* INTO r FROM mailqueue.lanes AS k
         CROSS JOIN LATERAL mailqueue.headroom(ARRAY[k.project_limit], clock_timestamp()) AS x
         WHERE k.id = q.lane_id AND k.priority = 3
           AND EXISTS (SELECT FROM mailqueue.custom_smtp_servers AS i
                        WHERE i.email_id = q.id AND i.run_at <= x.low_opens_at);
        IF r.low_opens_at IS NOT NULL THEN
            RETURN mailqueue.window_words(q.project_id, r.low_opens_at)
                || mailqueue.next_step('project', 'outside_window', q.id, q.project_id);
        END IF;
        RETURN (SELECT CASE WHEN x.run_at > clock_timestamp()
                                 THEN format('waits until %s for the server it was given',
                                             mailqueue.shown(x.run_at))
                            ELSE 'due, and waits for a worker to send it by the server it was given' END
                       || coalesce(': ' || q.last_error, '')
                  FROM mailqueue.custom_smtp_servers AS x WHERE x.email_id = q.id)
            || mailqueue.next_step('queue', CASE WHEN mailqueue.has_worker('custom-smtp') THEN 'own_server'
                                                 ELSE 'no_own_worker' END, q.id, q.project_id);
    END IF;
    IF q.is_ordered AND q.run_at >= '9000-01-01' THEN
        SELECT o.email_id AS id, o.blocked_by, e.status INTO r
          FROM mailqueue.email_order AS m
          JOIN mailqueue.email_order AS o ON o.project_id = m.project_id AND o.order_key = m.order_key
          LEFT JOIN mailqueue.email_queue AS e ON e.id = o.email_id
         WHERE m.email_id = q.id ORDER BY o.sequence_number LIMIT 1;
        IF r.id = q.id THEN
            RETURN 'first in its order, and waits for transactions that may still insert an earlier one'
                || mailqueue.next_step('order', 'first', q.id, q.project_id);
        END IF;
        RETURN format('waits in order behind email %s, which is %s%s', r.id, coalesce(r.blocked_by, r.status, 'ending'),
                      CASE WHEN r.blocked_by IS NOT NULL THEN ' and blocks the others' ELSE '' END)
            || mailqueue.next_step('order', CASE WHEN r.blocked_by IS NOT NULL THEN 'blocked' ELSE 'behind' END, q.id,
                                   q.project_id, NULL, r.id::text);
    END IF;
    IF q.unknowns > 0 THEN
        v_kept := (SELECT format('handed over to sender account %s without an answer%s; ', a.name,
                          CASE WHEN p.resend_elsewhere THEN '' ELSE ', it stays with it' END)
                     FROM mailqueue.sender_accounts AS a JOIN mailqueue.projects AS p ON p.id = a.project_id
                    WHERE a.id = q.assigned_to);
        v_kept := coalesce(v_kept, '');
    END IF;
    IF q.run_at > clock_timestamp() THEN
        v_held_by := substring(q.last_error FROM '^(quiet hours|frequency cap), ');
        RETURN v_kept
            || CASE WHEN q.attempts > 0 AND v_held_by IS NULL
                         THEN format('tried %s, next attempt at %s: %s',
                                     CASE q.attempts WHEN 1 THEN 'once' ELSE q.attempts || ' times' END,
                                     mailqueue.shown(q.run_at), q.last_error)
                    WHEN v_held_by <> '' THEN format('held back until %s: %s', mailqueue.shown(q.run_at), q.last_error)
                    ELSE format('not due before %s', mailqueue.shown(q.run_at)) END
            || mailqueue.next_step('queue', CASE WHEN q.attempts > 0 THEN 'retry'
                                                 ELSE coalesce(v_held_by, 'not_due') END, q.id, q.project_id);
    END IF;
    IF mailqueue.sending_refusal() IS NOT NULL THEN
        RETURN 'no mail is sent: ' || mailqueue.sending_refusal()
            || mailqueue.next_step('installation', 'restored', q.id, q.project_id);
    END IF;
    SELECT * INTO r FROM mailqueue.pause_of(q.id);
    IF r.kind IS NOT NULL THEN
        RETURN mailqueue.pause_words(r.kind, r.value, r.until, r.reason)
            || mailqueue.next_step('pause', r.kind, q.id, q.project_id, NULL, r.value);
    END IF;
    SELECT * INTO r FROM mailqueue.headroom('{0}', clock_timestamp()) AS x;
    IF r.why IS NOT NULL THEN
        RETURN format('the whole installation waits until %s: %s', mailqueue.shown(r.until),
                      mailqueue.limit_words(r.why, r.daily_limit))
            || mailqueue.next_step('installation', r.why, q.id, q.project_id);
    END IF;
    SELECT * INTO l FROM mailqueue.lanes AS x WHERE x.id = q.lane_id;
    SELECT * INTO r FROM mailqueue.headroom(ARRAY[l.domain_limit], clock_timestamp()) AS x;
    IF r.why IS NOT NULL THEN
        RETURN format('mail to %s waits until %s: %s', l.pause_value, mailqueue.shown(r.until),
                      mailqueue.limit_words(r.why, r.daily_limit))
            || mailqueue.next_step('domain', r.why, q.id, q.project_id, NULL, l.pause_value);
    END IF;
    IF cardinality(l.account_limits) = 0 THEN
        RETURN 'the project has no sender account' || mailqueue.next_step('project', 'no_sender', q.id, q.project_id);
    END IF;
    SELECT * INTO r FROM mailqueue.headroom(ARRAY[l.project_limit], clock_timestamp()) AS x;
    IF r.why IS NOT NULL THEN
        RETURN format('the project waits until %s: %s%s', mailqueue.shown(r.until),
            mailqueue.limit_words(r.why, r.daily_limit),
            (SELECT ': ' || p.status_reason FROM mailqueue.projects AS p
              WHERE p.id = q.project_id AND p.status = r.why))
            || mailqueue.next_step('project', r.why, q.id, q.project_id);
    END IF;
    IF l.priority = 3 AND r.low_opens_at IS NOT NULL THEN
        RETURN v_kept || mailqueue.window_words(q.project_id, r.low_opens_at)
            || mailqueue.next_step('project', 'outside_window', q.id, q.project_id);
    END IF;
    -- Every candidate must be blocked; the first to be available again is named.
    IF NOT EXISTS (SELECT FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS x WHERE x.why IS NULL) THEN
        SELECT x.*, a.name,
               CASE WHEN a.status = x.why THEN ': ' || a.status_reason WHEN x.why IN ('unreachable', 'limited') THEN (
                   SELECT ': ' || f.detail FROM mailqueue.sender_failures AS f WHERE f.sender_account_id = a.id
                    ORDER BY f.id DESC LIMIT 1) END AS told
          INTO r FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS x
          JOIN mailqueue.sender_accounts AS a ON a.id = x.sender_account_id ORDER BY x.until, a.priority LIMIT 1;
        RETURN v_kept
            || coalesce((SELECT format('by the routing rule at position %s ', x.position)
                           FROM mailqueue.routing_rules AS x WHERE x.id = l.rule_id),
                        '')
            || format('sender account %s waits until %s: %s%s', r.name, mailqueue.shown(r.until),
                      mailqueue.limit_words(r.why, r.daily_limit), r.told)
            || mailqueue.next_step('account', CASE WHEN r.why = 'daily_limit' AND r.stage IS NOT NULL THEN 'warm_up'
                                                   ELSE r.why END, q.id, q.project_id, r.name);
    ELSIF q.recipients > (SELECT max(least(x.headroom, x.batch_size))
                            FROM mailqueue.headroom(l.account_limits, clock_timestamp()) AS x) THEN
        RETURN format('it has %s recipients, more than any of its sender accounts may send to now', q.recipients)
            || mailqueue.next_step('account', 'recipients', q.id, q.project_id, (
                   SELECT a.name FROM mailqueue.limits AS m JOIN mailqueue.sender_accounts AS a
                                        ON a.id = m.sender_account_id WHERE m.id = l.account_limits[1]));
    ELSIF NOT EXISTS (SELECT FROM mailqueue.workers AS w
                       WHERE w.kind = 'send' AND w.stopped_at IS NULL AND w.lost_at IS NULL AND w.drained_at IS NULL
                       AND w.beat_at > clock_timestamp() - interval '30 s') THEN
        RETURN 'no worker is running' || mailqueue.next_step('queue', 'no_worker', q.id, q.project_id);
    END IF;
    v_before := (SELECT count(*)
                   FROM (SELECT FROM mailqueue.email_queue AS o WHERE o.lane_id = q.lane_id AND o.status = 'pending'
                          AND o.run_at < q.run_at LIMIT 100000) AS before)
        + (SELECT count(*) FILTER (WHERE same.id < q.id)
             FROM (SELECT o.id FROM mailqueue.email_queue AS o WHERE o.lane_id = q.lane_id AND o.status = 'pending'
                      AND o.run_at = q.run_at LIMIT 100000) AS same);
    RETURN v_kept
        || format('due since %s and ', mailqueue.shown(q.run_at))
        || CASE v_before WHEN 0 THEN 'next in its lane'
                         ELSE format('waiting for its turn behind %s mails of its lane', v_before) END
        || coalesce('; ' || mailqueue.pace_words(q.lane_id), '')
        || CASE v_before WHEN 0 THEN '' ELSE mailqueue.next_step('queue', 'pending', q.id, q.project_id) END;
END $$;
COMMENT ON FUNCTION mailqueue.why(uuid) IS
    'The first reason why a mail was not sent, or a row of another queue is not done, as text; or its outcome; and the '
    'command to type next.';
