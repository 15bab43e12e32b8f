-- What a timed event waits for, or what became of it, as text.

CREATE OR REPLACE FUNCTION mailqueue.why_timed_event(p_id uuid) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.timed_events;
    v_beat_at timestamptz;
    v_state text;
    v_words text;
BEGIN
    SELECT * INTO t FROM mailqueue.timed_events AS o
     WHERE o.id = p_id AND o.project_id = coalesce(mailqueue.tenant(), o.project_id)
       AND o.is_test = coalesce(mailqueue.mode(), o.is_test);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT w.beat_at INTO v_beat_at FROM mailqueue.workers AS w WHERE w.id = t.worker_id;
    v_state := CASE WHEN t.status = 'assigned' AND clock_timestamp() - v_beat_at > interval '30 s' THEN 'silent'
                    WHEN t.status <> 'pending' THEN t.status
                    WHEN mailqueue.refusal_words(t.id) IS NOT NULL THEN 'refused'
                    WHEN t.run_at <= clock_timestamp() AND NOT mailqueue.is_attended('timed-events') THEN 'no_worker'
                    ELSE 'pending' END;
    v_words := CASE v_state
        WHEN 'completed'
             THEN format('completed at %s: %s', mailqueue.shown(t.finished_at),
                         CASE WHEN t.webhook_id IS NOT NULL THEN 'its webhook accepted the call'
                              ELSE coalesce('its mail is ' || t.email_id, t.last_error, 'its mail was accepted') END)
        WHEN 'failed'
             THEN format('failed at %s after %s attempts: %s', mailqueue.shown(t.finished_at), t.attempts,
                         coalesce(t.last_error, 'no reason recorded'))
        WHEN 'cancelled'
             THEN format('cancelled at %s: %s', mailqueue.shown(t.finished_at),
                         coalesce(t.last_error, 'no reason recorded'))
        WHEN 'delivering' THEN format('due since %s: the call of its webhook is delivery %s, which has not ended',
                                      mailqueue.shown(t.due_at), t.delivery_id)
        WHEN 'assigned' THEN format('worker %s fires it since %s', t.worker_id, mailqueue.shown(t.assigned_at))
        WHEN 'silent' THEN format('worker %s has it and is silent since %s: it goes back when the worker is rescued',
                                  t.worker_id, mailqueue.shown(v_beat_at))
        WHEN 'refused' THEN format('not claimed: %s', mailqueue.refusal_words(t.id))
        WHEN 'no_worker' THEN format('due since %s, and no worker is running for this queue',
                                     mailqueue.shown(t.due_at))
        ELSE CASE
            WHEN t.run_at <= clock_timestamp() THEN format('due since %s, and waits for a worker',
                                                           mailqueue.shown(t.due_at))
            WHEN t.attempts > 0 OR t.due_at <= clock_timestamp()
                 THEN format('due since %s, next attempt at %s', mailqueue.shown(t.due_at), mailqueue.shown(t.run_at))
            ELSE format('not due before %s (%s in %s)', mailqueue.shown(t.due_at),
                        to_char(t.local_at, 'YYYY-MM-DD HH24:MI'), t.time_zone) END END;
    IF t.finished_at IS NULL THEN
        v_words := v_words || CASE WHEN t.crashes > 0 THEN '; it is handled alone, in a process of its own' ELSE '' END
                           || CASE WHEN v_state <> 'refused' THEN coalesce(': ' || t.last_error, '') ELSE '' END;
    END IF;
    RETURN format('timed event %s, %s', t.kind, v_words)
        || mailqueue.next_step('timed_event', v_state, t.id, t.project_id, NULL, t.delivery_id::text);
END $$;
COMMENT ON FUNCTION mailqueue.why_timed_event(uuid) IS
    'When and why a timed event waits, or what became of it; NULL if there is none of that id.';
