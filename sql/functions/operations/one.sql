-- Actions of the API on one mail, or on one batch, of a project.

-- No row if the project has no such mail; outcome NULL if its state does not allow the action.
CREATE OR REPLACE FUNCTION mailqueue.act_on_email(p_project uuid, p_id uuid, p_action text, p_reason text, p_by text)
RETURNS TABLE (outcome text, email_id uuid, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    email_id := p_id;
    SELECT e.status INTO state FROM (
        SELECT q.status, 0 AS place, NULL::timestamptz AS at FROM mailqueue.email_queue AS q
         WHERE q.id = p_id AND q.project_id = p_project AND coalesce(mailqueue.mode(), q.is_test) = q.is_test
        UNION ALL SELECT h.status, 1, h.finished_at FROM mailqueue.email_history AS h
                   WHERE h.id = p_id AND h.project_id = p_project
                     AND coalesce(mailqueue.mode(), h.is_test) = h.is_test) AS e
     ORDER BY e.place, e.at DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF p_action = 'cancel' THEN
        SELECT c.result INTO outcome FROM mailqueue.cancel_emails(p_project, ARRAY[p_id], p_reason) AS c;
    ELSIF p_action = 'hold' THEN
        SELECT h.result INTO outcome FROM mailqueue.hold_emails(p_project, ARRAY[p_id], p_reason) AS h;
    ELSIF p_action = 'release' THEN
        SELECT r.result INTO outcome FROM mailqueue.release_emails(p_project, ARRAY[p_id]) AS r;
    ELSIF p_action = 'resend' AND state IN ('sent', 'suppressed') THEN
        SELECT 'resent', r.new_id INTO outcome, email_id
          FROM mailqueue.resend_emails(p_project, ARRAY[p_id], p_reason) AS r;
    ELSIF p_action = 'resend' THEN
        SELECT r.result INTO outcome FROM mailqueue.requeue_emails(p_project, ARRAY[p_id]) AS r;
    ELSIF p_action IN ('was_sent', 'was_not_sent') THEN
        SELECT r.result INTO outcome
          FROM mailqueue.resolve_emails(p_project, ARRAY[p_id], p_action = 'was_sent', p_reason, p_by) AS r;
    END IF;
    IF outcome IS NULL AND p_action = 'resend' THEN
        state := coalesce((SELECT format('%s, and its recipients are suppressed (%s)', state, s.reason)
                             FROM mailqueue.still_suppressed(p_project, ARRAY[p_id]) AS s), state);
    END IF;
    IF outcome IS NOT NULL THEN
        PERFORM mailqueue.record_operation(p_project,
                    'emails.' || CASE WHEN p_action LIKE 'was%' THEN 'resolved' ELSE outcome END, 'project ' || p.name,
                    jsonb_strip_nulls(jsonb_build_object('ids', jsonb_build_array(p_id), 'emails', 1,
                        'reason', p_reason,
                        'was_sent', CASE WHEN p_action LIKE 'was%' THEN p_action = 'was_sent' END)), p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.act_on_email(uuid, uuid, text, text, text) IS
    'Cancel, hold, release, resend or resolve one mail of a project; mail that was not sent is queued again with its '
    'id.';

CREATE OR REPLACE FUNCTION mailqueue.finished_state(p_project uuid, p_id uuid) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT h.status FROM mailqueue.email_history AS h
     WHERE h.id = p_id AND h.project_id = p_project AND coalesce(mailqueue.mode(), h.is_test) = h.is_test
     ORDER BY h.finished_at DESC LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.finished_state(uuid, uuid) IS
    'The status of finished mail of a project, of the mode of this transaction; NULL if there is none.';

-- No row if the project has no such mail; outcome NULL if its state does not allow it. p_sender NULL: any account.
-- Routing rules choose among accounts when mail is accepted, and not here.
CREATE OR REPLACE FUNCTION mailqueue.move_email(p_project uuid, p_id uuid, p_sender text, p_reason text, p_by text)
RETURNS TABLE (outcome text, email_id uuid, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q record;
    v_lane integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_text('reason', p_reason, 500);
    email_id := p_id;
    SELECT e.status, e.priority, e.run_at, e.is_test, e.is_ordered INTO q FROM mailqueue.email_queue AS e
     WHERE e.id = p_id AND e.project_id = p_project AND coalesce(mailqueue.mode(), e.is_test) = e.is_test
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        state := mailqueue.finished_state(p_project, p_id);
        IF state IS NOT NULL THEN
            RETURN NEXT;
        END IF;
        RETURN;
    END IF;
    state := q.status;
    IF q.is_test THEN
        state := q.status || ' and goes to the trap';
    ELSIF q.run_at >= '9000-01-01' AND q.is_ordered IS NOT TRUE THEN
        state := q.status || ' for a custom SMTP server';
    ELSIF q.status IN ('pending', 'held') THEN
        SELECT l.id INTO v_lane FROM mailqueue.lanes AS l
         WHERE l.project_id = p_project AND l.priority = q.priority AND l.route = coalesce(p_sender, '')
           AND l.home_route IS NULL AND l.rule_id IS NULL;
        IF v_lane IS NULL OR p_sender LIKE '(%' OR p_sender = '' THEN
            PERFORM mailqueue.refuse('sender',
                                     format('this project has no sender account %s', to_json(left(p_sender, 100))));
        END IF;
        UPDATE mailqueue.email_queue AS e SET lane_id = v_lane WHERE e.id = p_id;
        IF q.status = 'pending' THEN
            INSERT INTO mailqueue.lane_signals (lane_id, due_at) VALUES (v_lane, q.run_at);
            PERFORM mailqueue.wake_workers();
        END IF;
        outcome := 'moved';
        PERFORM mailqueue.record_operation(p_project, 'emails.moved', 'project ' || p.name,
                    jsonb_strip_nulls(jsonb_build_object('ids', jsonb_build_array(p_id), 'emails', 1,
                        'sender', p_sender, 'reason', p_reason)), p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.move_email(uuid, uuid, text, text, text) IS
    'Send one pending or held mail of a project by a named sender account, or by any for NULL.';

-- No row if the project has no such mail; outcome NULL if its state does not allow the change, which is then not made
-- in part. The row is locked first: a claim that has begun ends before the state is read.
CREATE OR REPLACE FUNCTION mailqueue.change_email(p_project uuid, p_id uuid, p_at timestamptz, p_priority text,
    p_by text)
RETURNS TABLE (outcome text, state text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    q record;
    v_priority smallint := mailqueue.priority_named(p_priority);
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_instant('run_at', p_at, true);
    IF p_priority IS NOT NULL AND v_priority IS NULL THEN
        PERFORM mailqueue.refuse('priority',
                                 format('critical, high, normal or low, got %s', to_json(left(p_priority, 100))));
    END IF;
    SELECT e.status, e.attempts, e.run_at, e.is_ordered INTO q FROM mailqueue.email_queue AS e
     WHERE e.id = p_id AND e.project_id = p_project AND coalesce(mailqueue.mode(), e.is_test) = e.is_test
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        state := mailqueue.finished_state(p_project, p_id);
        IF state IS NOT NULL THEN
            RETURN NEXT;
        END IF;
        RETURN;
    END IF;
    state := q.status;
    IF q.status IN ('pending', 'held') AND p_at IS NOT NULL AND q.attempts > 0 THEN
        state := q.status || ' and was attempted';
    ELSIF q.status IN ('pending', 'held') AND p_at IS NOT NULL AND q.run_at >= '9000-01-01' THEN
        state := q.status || CASE WHEN q.is_ordered THEN ' and waits for its turn' ELSE ' for a custom SMTP server' END;
    ELSIF q.status IN ('pending', 'held') THEN
        IF v_priority IS NOT NULL THEN
            PERFORM mailqueue.reprioritise_emails(p_project, ARRAY[p_id], v_priority);
        END IF;
        IF p_at IS NOT NULL THEN
            PERFORM mailqueue.reschedule_emails(p_project, ARRAY[p_id], p_at);
        END IF;
        outcome := 'changed';
        PERFORM mailqueue.record_operation(p_project, 'emails.changed', 'project ' || p.name,
                    jsonb_strip_nulls(jsonb_build_object('ids', jsonb_build_array(p_id), 'emails', 1, 'run_at', p_at,
                                                         'priority', p_priority)), p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.change_email(uuid, uuid, timestamptz, text, text) IS
    'Change time or priority of one pending or held mail of a project, both or neither; the time only before its first '
    'attempt.';

-- No row if the project has no such batch; results NULL if no mail of it is in a state that allows the action. Its
-- mails are locked in id order, and found by index whatever the planner's statistics.
CREATE OR REPLACE FUNCTION mailqueue.act_on_batch(p_project uuid, p_batch uuid, p_action text, p_reason text, p_by text)
RETURNS TABLE (results jsonb, counts jsonb)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_stopped integer := 0;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_text('reason', p_reason, 500);
    IF p_action = 'cancel' THEN
        v_stopped := mailqueue.stop_list_sends(p_project, p_batch, p_by);
    END IF;
    SELECT mailqueue.emails_of_batch(b) INTO v_ids FROM mailqueue.batches AS b
     WHERE b.id = p_batch AND b.project_id = p_project AND coalesce(mailqueue.mode(), b.is_test) = b.is_test;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_ids := ARRAY(SELECT k.id FROM (SELECT q.id FROM mailqueue.email_queue AS q
                                      WHERE q.id = ANY (v_ids) AND q.project_id = p_project AND NOT q.is_cancelled
                                      ORDER BY q.id FOR NO KEY UPDATE) AS k);
    SELECT jsonb_object_agg(r.result, r.emails) INTO results FROM (
        SELECT CASE a.result WHEN 'asked' THEN 'cancelling' ELSE a.result END AS result, count(*) AS emails FROM (
            SELECT c.result FROM mailqueue.cancel_emails(p_project, v_ids, p_reason) AS c WHERE p_action = 'cancel'
            UNION ALL
            SELECT h.result FROM mailqueue.hold_emails(p_project, v_ids, p_reason) AS h WHERE p_action = 'hold'
            UNION ALL
            SELECT s.result FROM mailqueue.release_emails(p_project, v_ids) AS s WHERE p_action = 'release') AS a
         GROUP BY 1) AS r;
    IF v_stopped > 0 THEN
        results := coalesce(results, '{}');
    END IF;
    SELECT b.counts INTO counts FROM mailqueue.batch_of(p_project, p_batch) AS b;
    IF results IS NOT NULL THEN
        PERFORM mailqueue.record_operation(p_project,
                    CASE p_action WHEN 'cancel' THEN 'emails.cancelled' WHEN 'hold' THEN 'emails.held'
                                  ELSE 'emails.released' END, 'project ' || p.name,
                    jsonb_build_object('batch', p_batch, 'reason', p_reason,
                                       'emails', (SELECT coalesce(sum(e.value::integer), 0)
                                                    FROM jsonb_each_text(results) AS e)),
                    p_by)
           FROM mailqueue.projects AS p WHERE p.id = p_project;
    END IF;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION mailqueue.act_on_batch(uuid, uuid, text, text, text) IS
    'Cancel, hold or release the mails of a batch whose state allows it; returns the number by result, and the number '
    'of its mails in each state.';
