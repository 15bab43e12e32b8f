-- The next step of an enrollment, in the transaction that settles its row: the mail, the record of the step and when
-- the next one is due are committed together, or none of them.

CREATE OR REPLACE FUNCTION mailqueue.renew_step_zone(e mailqueue.sequence_enrollments, p_step jsonb, p_zone text)
RETURNS timestamptz
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_due timestamptz := e.due_at;
BEGIN
    IF (p_zone, mailqueue.time_zone_release()) IS DISTINCT FROM (e.time_zone, e.zone_release) THEN
        v_due := mailqueue.step_due_at(p_step, e.waiting_from, p_zone, e.has_waited);
        UPDATE mailqueue.sequence_enrollments AS o
           SET due_at = v_due, time_zone = p_zone, zone_release = mailqueue.time_zone_release()
         WHERE o.id = e.id;
    END IF;
    RETURN v_due;
END $$;
COMMENT ON FUNCTION mailqueue.renew_step_zone(mailqueue.sequence_enrollments, jsonb, text) IS
    'When the next step of an enrollment is due, computed anew where the zone of its contact or the rules of zones '
    'have changed.';

CREATE OR REPLACE FUNCTION mailqueue.paused_until(p_project uuid, p_key text, p_category text, p_now timestamptz)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT max(u.expires_at) FROM mailqueue.suppressions AS u
     WHERE u.project_id = p_project AND u.address = p_key AND u.expires_at > p_now AND u.reason = 'paused'
       AND u.category = ANY (mailqueue.stopping_categories(p_project, p_category))
$$;
COMMENT ON FUNCTION mailqueue.paused_until(uuid, text, text, timestamptz) IS
    'Until when a person has paused a category of mail; NULL if it is not paused.';

-- Writes the enrollment but its state, which settle_sequence_enrollments() writes. outcome: again (at run_at), held,
-- left, completed, or defer. Where a step is done, its record and its mail are left to the caller: done, and message,
-- as enqueue_batch() takes it, unless the step was skipped. What the step raises, it raises.
CREATE OR REPLACE FUNCTION mailqueue.advance_to_mail(p_id uuid, p_now timestamptz, OUT id uuid, OUT outcome text,
    OUT run_at timestamptz, OUT reason text, OUT done mailqueue.enrollment_steps, OUT message jsonb)
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
    v_step jsonb; v_zone text; v_due timestamptz;
    d record;
BEGIN
    advance_to_mail.id := p_id;
    SELECT * INTO e FROM mailqueue.sequence_enrollments AS o WHERE o.id = p_id;
    -- The transaction that removes or erases the contact locks it, and then sees the mail made here.
    SELECT * INTO c FROM mailqueue.contacts AS o WHERE o.id = e.contact_id FOR KEY SHARE SKIP LOCKED;
    IF c.id IS NULL THEN
        outcome := 'defer'; reason := 'the contact is being changed or removed';
        RETURN;
    END IF;
    SELECT * INTO e FROM mailqueue.sequence_enrollments AS o WHERE o.id = p_id FOR NO KEY UPDATE;
    SELECT * INTO s FROM mailqueue.sequences AS o WHERE o.id = e.sequence_id;
    SELECT * INTO v FROM mailqueue.sequence_versions AS o WHERE o.sequence_id = e.sequence_id AND o.version = e.version;
    advance_to_mail.reason := mailqueue.enrollment_exit(e, s, c);
    IF advance_to_mail.reason IS NOT NULL THEN
        UPDATE mailqueue.sequence_enrollments AS o SET left_reason = advance_to_mail.reason WHERE o.id = p_id;
        outcome := 'left';
        RETURN;
    END IF;
    v_step := mailqueue.step_named(v.steps, e.step);
    v_zone := mailqueue.contact_zone(e.project_id, e.contact_id);
    v_due := mailqueue.renew_step_zone(e, v_step, v_zone);
    IF s.paused_at IS NOT NULL THEN
        outcome := 'held'; reason := 'sequence ' || s.name || ' is paused';
        RETURN;
    ELSIF v.goal IS NOT NULL AND mailqueue.has_happened(e, v.goal) THEN
        UPDATE mailqueue.sequence_enrollments AS o SET left_reason = 'goal' WHERE o.id = p_id;
        outcome := 'left'; reason := 'goal';
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
        run_at := mailqueue.paused_until(e.project_id, c.email_key, s.category, v_now);
        IF run_at IS NOT NULL THEN
            outcome := 'again'; reason := 'the contact has paused ' || s.category;
            RETURN;
        END IF;
    END IF;
    SELECT * INTO d FROM mailqueue.do_step(e, s, v, c, v_step, v_zone, v_now);
    done := d.done; message := d.message;
    SELECT * INTO e FROM mailqueue.sequence_enrollments AS o WHERE o.id = p_id;
    IF e.step IS NULL THEN
        outcome := 'completed';
    ELSIF e.steps_done >= c_max_steps THEN
        UPDATE mailqueue.sequence_enrollments AS o SET left_reason = 'limit' WHERE o.id = p_id;
        outcome := 'left'; reason := 'limit';
    ELSE
        outcome := 'again';
        run_at := e.due_at;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.advance_to_mail(uuid, timestamptz) IS
    'Do the step of an enrollment that is due, but its mail, or end it: what becomes of its row, and the mail to make.';

CREATE OR REPLACE FUNCTION mailqueue.advance_enrollment(p_id uuid, p_now timestamptz DEFAULT NULL, OUT id uuid,
    OUT outcome text, OUT run_at timestamptz, OUT reason text)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_step text := (SELECT e.step FROM mailqueue.sequence_enrollments AS e WHERE e.id = p_id);
    a record;
BEGIN
    advance_enrollment.id := p_id;
    BEGIN
        SELECT * INTO a FROM mailqueue.advance_to_mail(p_id, p_now);
        PERFORM mailqueue.record_steps(ARRAY[a.done], ARRAY[a.message]);
        advance_enrollment.outcome := a.outcome;
        advance_enrollment.run_at := a.run_at;
        advance_enrollment.reason := a.reason;
    EXCEPTION
        WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
            advance_enrollment.outcome := 'retry';
            advance_enrollment.reason := left(format('step %s: %s', v_step, SQLERRM), 1000);
        WHEN insufficient_resources OR object_not_in_prerequisite_state OR SQLSTATE 'MQ001' OR SQLSTATE 'MQ002' THEN
            advance_enrollment.outcome := 'defer';
            advance_enrollment.reason := left(format('step %s: %s', v_step, SQLERRM), 1000);
    END;
END $$;
COMMENT ON FUNCTION mailqueue.advance_enrollment(uuid, timestamptz) IS
    'Do the step of an enrollment that is due, or end it: what becomes of its row.';

CREATE OR REPLACE FUNCTION mailqueue.record_steps(p_done mailqueue.enrollment_steps[], p_messages jsonb[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    g record;
    v_emails uuid[];
    v_refused text;
BEGIN
    FOR g IN
        SELECT p.name, array_agg(x.n ORDER BY x.n) AS places, jsonb_agg(p_messages[x.n] ORDER BY x.n) AS messages
          FROM generate_subscripts(p_done, 1) AS x(n)
          JOIN mailqueue.projects AS p ON p.id = p_done[x.n].project_id
         WHERE p_messages[x.n] IS NOT NULL
         GROUP BY p.id, p.name ORDER BY p.id
    LOOP
        SELECT array_agg(b.id ORDER BY b.index), min(b.reason) FILTER (WHERE b.status = 'rejected')
          INTO v_emails, v_refused
          FROM mailqueue.accept_batch(g.name, g.messages) AS b;
        IF v_refused IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = v_refused;
        END IF;
        FOR i IN 1 .. cardinality(g.places) LOOP
            p_done[g.places[i]].email_id := v_emails[i];
        END LOOP;
    END LOOP;
    INSERT INTO mailqueue.enrollment_steps SELECT d.* FROM unnest(p_done) AS d WHERE d.enrollment_id IS NOT NULL;
END $$;
COMMENT ON FUNCTION mailqueue.record_steps(mailqueue.enrollment_steps[], jsonb[]) IS
    'Write records of steps with their mail, which is enqueued by project; raises what one of them is refused for.';

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
    v mailqueue.sequence_versions, c mailqueue.contacts, p_step jsonb, p_zone text, p_now timestamptz,
    OUT done mailqueue.enrollment_steps, OUT message jsonb)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_condition jsonb := p_step -> 'condition';
    v_is_skipped boolean;
    v_next text;
    v_due timestamptz := e.due_at;
BEGIN
    v_is_skipped := v_condition IS NOT NULL
                    AND mailqueue.has_happened(e, v_condition)
                        <> coalesce((v_condition ->> 'happened')::boolean, true);
    IF NOT v_is_skipped THEN
        message := jsonb_build_object(
            'recipient', c.email,
            'template', p_step ->> 'template', 'language', c.language, 'category', s.category,
            'campaign_id', s.name, 'is_test', e.is_test,
            'variables', e.variables || jsonb_build_object('contact', jsonb_build_object(
                'email', c.email, 'first_name', c.first_name, 'last_name', c.last_name, 'language', c.language,
                'attributes', c.attributes)),
            'custom_data', jsonb_build_object('sequence', s.name, 'sequence_version', v.version,
                                              'sequence_step', e.step, 'enrollment_id', e.id));
    END IF;
    v_next := mailqueue.step_after(v.steps, e.step, v_is_skipped);
    IF v_next IS NOT NULL THEN
        v_due := mailqueue.step_due_at(mailqueue.step_named(v.steps, v_next), p_now, p_zone);
    END IF;
    done.enrollment_id := e.id; done.number := e.steps_done + 1; done.project_id := e.project_id;
    done.is_test := e.is_test; done.sequence_id := e.sequence_id; done.version := e.version; done.step := e.step;
    done.result := CASE WHEN v_is_skipped THEN 'skipped' ELSE 'sent' END; done.done_at := p_now;
    UPDATE mailqueue.sequence_enrollments AS o
       SET email = c.email, step = v_next, steps_done = o.steps_done + 1, waiting_from = p_now,
           has_waited = false, due_at = v_due
     WHERE o.id = e.id;
END $$;
COMMENT ON FUNCTION mailqueue.do_step(mailqueue.sequence_enrollments, mailqueue.sequences, mailqueue.sequence_versions,
                                      mailqueue.contacts, jsonb, text, timestamptz) IS
    'Do a step or skip it: name the next one and when it is due; returns its record, and its mail for enqueue_batch().';

-- All at once first, with the mail of a project in one statement. Only if one of them is refused they are done one by
-- one: a subtransaction for each, and a statement for each mail, cost more than the step itself.
CREATE OR REPLACE FUNCTION mailqueue.advance_enrollments(p_ids uuid[])
RETURNS TABLE (id uuid, outcome text, run_at timestamptz, reason text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[] := ARRAY(SELECT i.id FROM unnest(p_ids) AS i(id)
                            JOIN mailqueue.sequence_enrollments AS e ON e.id = i.id ORDER BY i.id);
    v_id uuid;
    a record;
    v_done mailqueue.enrollment_steps[] := '{}';
    v_messages jsonb[] := '{}';
    v_outcomes text[] := '{}'; v_times timestamptz[] := '{}'; v_reasons text[] := '{}';
BEGIN
    BEGIN
        FOREACH v_id IN ARRAY v_ids LOOP
            SELECT * INTO a FROM mailqueue.advance_to_mail(v_id, NULL);
            v_outcomes := array_append(v_outcomes, a.outcome);
            v_times := array_append(v_times, a.run_at);
            v_reasons := array_append(v_reasons, a.reason);
            IF (a.done).enrollment_id IS NOT NULL THEN
                v_done := array_append(v_done, a.done);
                v_messages := array_append(v_messages, a.message);
            END IF;
        END LOOP;
        PERFORM mailqueue.record_steps(v_done, v_messages);
        RETURN QUERY SELECT u.* FROM unnest(v_ids, v_outcomes, v_times, v_reasons) AS u;
        RETURN;
    EXCEPTION
        WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR insufficient_resources
             OR object_not_in_prerequisite_state OR SQLSTATE 'MQ001' OR SQLSTATE 'MQ002' THEN
            NULL;                                            -- one of them: found below
    END;
    FOREACH v_id IN ARRAY v_ids LOOP
        RETURN QUERY SELECT x.* FROM mailqueue.advance_enrollment(v_id) AS x;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.advance_enrollments(uuid[]) IS
    'Do what is due of claimed enrollments: what becomes of each row; none for those that were removed.';
