-- Checks of the queues besides mail, from their registry: whether they are worked on. And rows that stop workers, mail
-- among them.

INSERT INTO mailqueue.system_settings (name, value, kind, meaning) VALUES
    ('queue_late_warning', '15 min', 'interval',
     'health warns when a row of a queue besides mail has been due for longer'),
    ('queue_late_alarm', '2 h', 'interval',
     'health alarms when a row of a queue besides mail has been due for longer')
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, meaning = excluded.meaning
   WHERE (system_settings.kind, system_settings.meaning) <> (excluded.kind, excluded.meaning);

CREATE OR REPLACE FUNCTION mailqueue.health_of_queues() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := clock_timestamp();
    v_idle text[]; v_idle_names text[]; v_late text[]; v_wait interval; v_stopping text[]; v_id uuid; v_ids uuid[];
    v_alone text[]; v_count integer; v_again boolean; v_is_again boolean := false;
    t record;
BEGIN
    FOR t IN SELECT s.*, mailqueue.is_attended(s.queue) AS is_running FROM mailqueue.queue_signs(v_now) AS s LOOP
        -- Rows of keys that are blocked stay due; the queue has a check of its own for late ones.
        IF NOT t.is_running AND t.oldest_due < v_now - interval '1 min' THEN
            v_idle := v_idle || format('%s for %s', t.queue, mailqueue.span_words(v_now - t.oldest_due));
            v_idle_names := v_idle_names || t.queue;
            v_wait := greatest(v_wait, v_now - t.oldest_due);
        ELSIF t.is_running AND NOT t.has_circuit
              AND t.oldest_due < v_now - mailqueue.system_interval('queue_late_warning') THEN
            v_late := v_late || format('%s for %s', t.queue, mailqueue.span_words(v_now - t.oldest_due));
            v_wait := greatest(v_wait, v_now - t.oldest_due);
        END IF;
        IF t.stopping IS NOT NULL THEN
            v_stopping := v_stopping || format('%s of %s', cardinality(t.stopping), t.queue);
            v_id := coalesce(v_id, t.stopping[1]);
        END IF;
        IF t.alone > 0 THEN
            v_alone := v_alone || format('%s of %s', t.alone, t.queue);
            v_is_again := v_is_again OR t.is_alone_again;
        END IF;
    END LOOP;
    SELECT count(*), bool_or(s.crashes > 1) INTO v_count, v_again
      FROM (SELECT q.crashes FROM mailqueue.email_queue AS q
             WHERE q.status = 'pending' AND q.crashes > 0 LIMIT 1000) AS s;
    IF v_count > 0 THEN
        v_alone := v_alone || CASE v_count WHEN 1 THEN '1 email' ELSE format('%s emails', v_count) END;
        v_is_again := v_is_again OR v_again;
    END IF;
    v_ids := mailqueue.emails_that_stopped_workers(v_now - interval '1 day');
    IF v_ids <> '{}' THEN
        v_stopping := v_stopping || CASE cardinality(v_ids) WHEN 1 THEN '1 email'
                                                            ELSE format('%s emails', cardinality(v_ids)) END;
        v_id := coalesce(v_id, v_ids[1]);
    END IF;
    RETURN QUERY SELECT 'work queues',
        CASE WHEN v_idle IS NULL AND v_late IS NULL THEN 'ok'
             WHEN v_wait > mailqueue.system_interval('queue_late_alarm') THEN 'alarm' ELSE 'warning' END,
        coalesce(nullif(concat_ws('; ', 'work waits for a queue that no worker runs: ' || mailqueue.some_words(v_idle),
                                  'work is late: ' || mailqueue.some_words(v_late)), ''),
                 'no work waits for a worker'),
        CASE WHEN v_idle IS NOT NULL
                  THEN 'start a worker: mailqueue worker ' || array_to_string(v_idle_names, ' ')
                       || ' (mailqueue up runs all queues)'
             WHEN v_late IS NOT NULL
                  THEN 'see mailqueue queue list NAME for what it waits for; if workers are busy, start more' END;
    RETURN QUERY SELECT 'rows that stop workers',
        CASE WHEN v_stopping IS NULL AND NOT v_is_again THEN 'ok' ELSE 'warning' END,
        concat_ws('; ', coalesce('failed in the last day because they stopped their worker: '
                                 || mailqueue.some_words(v_stopping), 'none failed in the last day'),
                  'handled alone since their worker stopped: ' || mailqueue.some_words(v_alone)),
        CASE WHEN v_stopping IS NOT NULL
                  THEN format('see mailqueue why %s and the log; when the cause is mended, mailqueue %s', v_id,
                              CASE WHEN v_id = ANY (v_ids) THEN 'email requeue ID' ELSE 'queue requeue ID' END)
             WHEN v_is_again
                  THEN 'the log names them (worker.died); each fails once it has stopped three workers alone' END;
END $$;

-- Their deaths are in the audit log, which is read from its end; history has no index for reasons.
CREATE OR REPLACE FUNCTION mailqueue.emails_that_stopped_workers(p_since timestamptz) RETURNS uuid[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
RETURN ARRAY(SELECT substring(e.subject FROM 7)::uuid
               FROM (SELECT a.* FROM mailqueue.audit_events AS a ORDER BY a.id DESC LIMIT 10000) AS e
              WHERE e.action = 'email.stopped_worker' AND e.occurred_at > p_since
                AND EXISTS (SELECT FROM mailqueue.email_history AS h
                             WHERE h.status = 'failed'
                               AND h.id = CASE e.action WHEN 'email.stopped_worker'
                                                        THEN substring(e.subject FROM 7)::uuid END)
              ORDER BY e.id DESC LIMIT 1000);
COMMENT ON FUNCTION mailqueue.emails_that_stopped_workers(timestamptz) IS
    'Failed mail that has stopped its worker three times while alone, newest first; at most 1,000.';
COMMENT ON FUNCTION mailqueue.health_of_queues() IS
    'Rows of view health: queues that no worker runs or that are late, and rows that stop workers.';
