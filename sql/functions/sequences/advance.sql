-- The next step of an enrollment, in the transaction that settles its row: the mail, the record of the step and when
-- the next one is due are committed together, or none of them.

-- Writes the enrollment but its state, which settle_sequence_enrollments() writes. outcome: again (at run_at), held,
-- left, completed, retry or defer.
CREATE OR REPLACE FUNCTION mailqueue.advance_enrollment(p_id uuid, p_now timestamptz DEFAULT NULL, OUT id uuid,
    OUT outcome text, OUT run_at timestamptz, OUT reason text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    c_max_steps CONSTANT integer := 1000;                    -- of an enrollment, whose steps may be a loop
    c_late CONSTANT interval := '1 hour';                    -- after which a local time of day is over
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    e mailqueue.sequence_enrollments;
    s mailqueue.sequences;
    v mailqueue.sequence_versions;
    c mailqueue.contacts;
    v_step jsonb;
    v_zone text;
    v_due timestamptz;
BEGIN
    advance_enrollment.id := p_id;
    SELECT * INTO e FROM mailqueue.sequence_enrollments AS o WHERE o.id = p_id;
    -- The transaction that removes or erases the contact locks it, and then sees the mail made here.
    SELECT * INTO c FROM mailqueue.contacts AS o WHERE o.id = e.contact_id FOR KEY SHARE SKIP LOCKED;
    IF c.id IS NULL THEN
        outcome := 'defer';
        reason := 'the contact is being changed or removed';
        RETURN;
    END IF;
    SELECT * INTO e FROM mailqueue.sequence_enrollments AS o WHERE o.id = p_id FOR NO KEY UPDATE;
    SELECT * INTO s FROM mailqueue.sequences AS o WHERE o.id = e.sequence_id;
    SELECT * INTO v FROM mailqueue.sequence_versions AS o WHERE o.sequence_id = e.sequence_id AND o.version = e.version;
    advance_enrollment.reason := mailqueue.enrollment_exit(e, s, c);
    IF advance_enrollment.reason IS NOT NULL THEN
        UPDATE mailqueue.sequence_enrollments AS o SET left_reason = advance_enrollment.reason WHERE o.id = p_id;
        outcome := 'left';
        RETURN;
    END IF;
    v_step := mailqueue.step_named(v.steps, e.step);
    v_zone := mailqueue.contact_zone(e.project_id, e.contact_id);
    v_due := e.due_at;
    IF (v_zone, mailqueue.time_zone_release()) IS DISTINCT FROM (e.time_zone, e.zone_release) THEN
        v_due := mailqueue.step_due_at(v_step, e.waiting_from, v_zone, e.has_waited);
        UPDATE mailqueue.sequence_enrollments AS o
           SET due_at = v_due, time_zone = v_zone, zone_release = mailqueue.time_zone_release()
         WHERE o.id = p_id;
    END IF;
    IF s.paused_at IS NOT NULL THEN
        outcome := 'held';
        reason := 'sequence ' || s.name || ' is paused';
        RETURN;
    ELSIF v.goal IS NOT NULL AND mailqueue.has_happened(e, v.goal) THEN
        UPDATE mailqueue.sequence_enrollments AS o SET left_reason = 'goal' WHERE o.id = p_id;
        outcome := 'left';
        reason := 'goal';
        RETURN;
    END IF;
    -- After a pause, or while no worker ran, a step does not come at just any time of the day.
    IF v_due < v_now - c_late AND (v_step ->> 'at' IS NOT NULL OR v_step -> 'weekdays' IS NOT NULL) THEN
        v_due := mailqueue.step_due_at(v_step, v_now, v_zone, true);
        UPDATE mailqueue.sequence_enrollments AS o SET due_at = v_due, waiting_from = v_now, has_waited = true
         WHERE o.id = p_id;
    END IF;
    IF v_due > v_now THEN
        outcome := 'again';
        run_at := v_due;
        RETURN;
    END IF;
    IF NOT e.is_test THEN
        SELECT max(u.expires_at) INTO run_at FROM mailqueue.suppressions AS u
         WHERE u.project_id = e.project_id AND u.address = c.email_key AND u.expires_at > v_now AND u.reason = 'paused'
           AND u.category = ANY (mailqueue.stopping_categories(e.project_id, s.category));
        IF run_at IS NOT NULL THEN
            outcome := 'again';
            reason := 'the contact has paused ' || s.category;
            RETURN;
        END IF;
    END IF;
    BEGIN
        PERFORM mailqueue.do_step(e, s, v, c, v_step, v_zone, v_now);
    EXCEPTION
        WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
            outcome := 'retry';
            reason := left(format('step %s: %s', e.step, SQLERRM), 1000);
            RETURN;
        WHEN insufficient_resources OR object_not_in_prerequisite_state OR SQLSTATE 'MQ001' OR SQLSTATE 'MQ002' THEN
            outcome := 'defer';
            reason := left(format('step %s: %s', e.step, SQLERRM), 1000);
            RETURN;
    END;
    SELECT * INTO e FROM mailqueue.sequence_enrollments AS o WHERE o.id = p_id;
    IF e.step IS NULL THEN
        outcome := 'completed';
    ELSIF e.steps_done >= c_max_steps THEN
        UPDATE mailqueue.sequence_enrollments AS o SET left_reason = 'limit' WHERE o.id = p_id;
        outcome := 'left';
        reason := 'limit';
    ELSE
        outcome := 'again';
        run_at := e.due_at;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.advance_enrollment(uuid, timestamptz) IS
    'Do the step of an enrollment that is due, or end it: what becomes of its row.';

CREATE OR REPLACE FUNCTION mailqueue.enrollment_exit(e mailqueue.sequence_enrollments, s mailqueue.sequences,
    c mailqueue.contacts) RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_reason text;
BEGIN
    SELECT x.reason INTO v_reason FROM mailqueue.enrollment_exits AS x WHERE x.enrollment_id = e.id
     ORDER BY x.enrollment_id, x.id LIMIT 1;
    IF v_reason IS NOT NULL THEN
        RETURN v_reason;
    ELSIF s.removed_at IS NOT NULL THEN
        RETURN 'sequence_removed';
    ELSIF c.email_key = 'erased@erased.invalid' THEN
        RETURN 'erased';
    ELSIF NOT e.is_test THEN
        v_reason := mailqueue.suppressed(e.project_id, c.email, s.category);
        IF v_reason <> 'paused' THEN
            RETURN mailqueue.exit_of_suppression(v_reason);
        END IF;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.enrollment_exit(mailqueue.sequence_enrollments, mailqueue.sequences,
                                              mailqueue.contacts) IS
    'Why an enrollment ends before its next step, its goal apart; NULL if it goes on.';

CREATE OR REPLACE FUNCTION mailqueue.do_step(e mailqueue.sequence_enrollments, s mailqueue.sequences,
    v mailqueue.sequence_versions, c mailqueue.contacts, p_step jsonb, p_zone text, p_now timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_condition jsonb := p_step -> 'condition';
    v_is_skipped boolean;
    v_email uuid;
    v_next text;
    v_due timestamptz := e.due_at;
BEGIN
    v_is_skipped := v_condition IS NOT NULL
                    AND mailqueue.has_happened(e, v_condition)
                        <> coalesce((v_condition ->> 'happened')::boolean, true);
    IF NOT v_is_skipped THEN
        v_email := mailqueue.enqueue(
            (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = e.project_id), c.email,
            options => jsonb_build_object(
                'template', p_step ->> 'template', 'language', c.language, 'category', s.category,
                'campaign_id', s.name, 'is_test', e.is_test,
                'variables', e.variables || jsonb_build_object('contact', jsonb_build_object(
                    'email', c.email, 'first_name', c.first_name, 'last_name', c.last_name, 'language', c.language,
                    'attributes', c.attributes)),
                'custom_data', jsonb_build_object('sequence', s.name, 'sequence_version', v.version,
                                                  'sequence_step', e.step, 'enrollment_id', e.id)));
    END IF;
    v_next := mailqueue.step_after(v.steps, e.step, v_is_skipped);
    IF v_next IS NOT NULL THEN
        v_due := mailqueue.step_due_at(mailqueue.step_named(v.steps, v_next), p_now, p_zone);
    END IF;
    INSERT INTO mailqueue.enrollment_steps (enrollment_id, number, project_id, is_test, sequence_id, version, step,
                                            result, email_id, done_at)
    VALUES (e.id, e.steps_done + 1, e.project_id, e.is_test, e.sequence_id, e.version, e.step,
            CASE WHEN v_is_skipped THEN 'skipped' ELSE 'sent' END, v_email, p_now);
    UPDATE mailqueue.sequence_enrollments AS o
       SET email = c.email, step = v_next, steps_done = o.steps_done + 1, waiting_from = p_now,
           has_waited = false, due_at = v_due
     WHERE o.id = e.id;
END $$;
COMMENT ON FUNCTION mailqueue.do_step(mailqueue.sequence_enrollments, mailqueue.sequences, mailqueue.sequence_versions,
                                      mailqueue.contacts, jsonb, text, timestamptz) IS
    'Enqueue the mail of a step or skip it, record it, and name the next step and when it is due.';

CREATE OR REPLACE FUNCTION mailqueue.advance_enrollments(p_ids uuid[])
RETURNS TABLE (id uuid, outcome text, run_at timestamptz, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_id uuid;
BEGIN
    FOR v_id IN SELECT i.id FROM unnest(p_ids) AS i(id)
                  JOIN mailqueue.sequence_enrollments AS e ON e.id = i.id ORDER BY i.id LOOP
        RETURN QUERY SELECT a.* FROM mailqueue.advance_enrollment(v_id) AS a;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.advance_enrollments(uuid[]) IS
    'Do what is due of claimed enrollments: what becomes of each row; none for those that were removed.';
