-- Enrolling contacts, in the caller's transaction.
--
-- No caller waits for the worker that has the row of an enrollment: one that is started again is a new row. Two callers
-- that enroll one contact in one sequence wait for each other, as with one idempotency key.

CREATE OR REPLACE FUNCTION mailqueue.max_enrollments() RETURNS integer
LANGUAGE sql IMMUTABLE
AS $$ SELECT 1000000 $$;
COMMENT ON FUNCTION mailqueue.max_enrollments() IS 'Unfinished enrollments that a project may have.';

-- Counting a million takes 0.1 s: it is counted for one enrollment of a thousand, and for each where there are few.
CREATE OR REPLACE FUNCTION mailqueue.check_enrollment_room(p_project uuid) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_most integer := mailqueue.max_enrollments();
BEGIN
    IF (v_most <= 1000 OR random() < 0.001)
       AND EXISTS (SELECT FROM mailqueue.sequence_enrollments AS e
                    WHERE e.project_id = p_project AND e.finished_at IS NULL OFFSET v_most - 1) THEN
        PERFORM mailqueue.refuse('sequence', format('a project may have %s unfinished enrollments', v_most));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_enrollment_room(uuid) IS
    'Refuse an enrollment where the project has as many as it may have.';

CREATE OR REPLACE FUNCTION mailqueue.is_enrollment_active(e mailqueue.sequence_enrollments) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT e.status IN ('pending', 'assigned', 'held')
       AND NOT EXISTS (SELECT FROM mailqueue.enrollment_exits AS x WHERE x.enrollment_id = e.id)
       AND EXISTS (SELECT FROM mailqueue.sequences AS s WHERE s.id = e.sequence_id AND s.removed_at IS NULL)
$$;
COMMENT ON FUNCTION mailqueue.is_enrollment_active(mailqueue.sequence_enrollments) IS
    'Whether an enrollment goes on.';

CREATE OR REPLACE FUNCTION mailqueue.enroll_contact(p_project uuid, p_sequence text, p_contact uuid, p_variables jsonb,
    p_is_test boolean, p_source text, p_now timestamptz DEFAULT NULL, OUT enrollment_id uuid, OUT outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    c_max_variables CONSTANT integer := 16;                  -- KiB
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    s mailqueue.sequences;
    e mailqueue.sequence_enrollments;
    v_steps jsonb;
    v_zone text;
    v_due timestamptz;
    v_address text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(p_is_test);
    SELECT * INTO s FROM mailqueue.sequences AS o
     WHERE o.project_id = p_project AND o.name = p_sequence AND o.removed_at IS NULL;
    IF s.id IS NULL THEN
        PERFORM mailqueue.refuse('sequence', format('there is no sequence %s',
                                                    coalesce(to_json(left(p_sequence, 100))::text, 'null')));
    ELSIF s.published_version IS NULL THEN
        PERFORM mailqueue.refuse('sequence', format('%s has no published version', to_json(s.name)));
    ELSIF jsonb_typeof(coalesce(p_variables, '{}')) <> 'object' THEN
        PERFORM mailqueue.refuse('variables', format('an object of names and values is needed, got %s',
                                                     jsonb_typeof(p_variables)));
    ELSIF p_variables ? 'contact' THEN
        PERFORM mailqueue.refuse('variables', '"contact" stands for the contact');
    ELSIF mailqueue.json_fault(p_variables, c_max_variables) IS NOT NULL THEN
        PERFORM mailqueue.refuse('variables', mailqueue.json_fault(p_variables, c_max_variables));
    END IF;
    -- Locked: a contact that is removed at the same time takes this with it.
    SELECT c.email INTO v_address FROM mailqueue.contacts AS c
     WHERE c.id = p_contact AND c.project_id = p_project AND c.is_test = p_is_test
       AND c.email_key <> 'erased@erased.invalid' FOR KEY SHARE;
    IF v_address IS NULL THEN
        PERFORM mailqueue.refuse('contact_id', format('there is no contact %s', coalesce(p_contact::text, 'null')));
    END IF;
    v_steps := (SELECT v.steps FROM mailqueue.sequence_versions AS v
                 WHERE v.sequence_id = s.id AND v.version = s.published_version);
    v_zone := mailqueue.contact_zone(p_project, p_contact);
    v_due := mailqueue.step_due_at(v_steps -> 0, v_now, v_zone);
    LOOP
        SELECT * INTO e FROM mailqueue.sequence_enrollments AS o
         WHERE o.contact_id = p_contact AND o.sequence_id = s.id AND o.is_test = p_is_test
         ORDER BY o.number DESC LIMIT 1;
        enrollment_id := e.id;
        IF e.id IS NOT NULL AND mailqueue.is_enrollment_active(e) THEN
            outcome := 'already_enrolled';
        ELSIF e.id IS NOT NULL THEN
            outcome := 'enrolled_before';
        END IF;
        IF outcome = 'already_enrolled' AND s.reenroll <> 'restart'
           OR outcome = 'enrolled_before'
              AND (s.reenroll = 'never' OR s.reenroll = 'after_completion' AND e.status <> 'completed') THEN
            RETURN;
        ELSIF NOT p_is_test AND coalesce(mailqueue.suppressed(p_project, v_address, s.category), 'paused') <> 'paused'
        THEN
            outcome := 'suppressed';
            RETURN;
        END IF;
        PERFORM mailqueue.check_enrollment_room(p_project);
        enrollment_id := NULL;
        INSERT INTO mailqueue.sequence_enrollments (project_id, sequence_id, contact_id, email, is_test, number,
            version, step, waiting_from, due_at, run_at, time_zone, zone_release, variables, source, enrolled_at)
        VALUES (p_project, s.id, p_contact, v_address, p_is_test, coalesce(e.number, 0) + 1, s.published_version,
            v_steps -> 0 ->> 'name', v_now, v_due, v_due, v_zone, mailqueue.time_zone_release(),
            coalesce(p_variables, '{}'), left(p_source, 200), v_now)
        ON CONFLICT ON CONSTRAINT sequence_enrollments_number_key DO NOTHING
        RETURNING id INTO enrollment_id;
        IF enrollment_id IS NOT NULL THEN
            IF outcome = 'already_enrolled' THEN
                PERFORM mailqueue.end_enrollments(ARRAY[e.id], 'restarted', p_source, v_now);
                outcome := 'restarted';
            ELSE
                outcome := 'enrolled';
            END IF;
            RETURN;
        END IF;
        outcome := NULL;                                     -- enrolled by another at the same time: look again
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.enroll_contact(uuid, text, uuid, jsonb, boolean, text, timestamptz) IS
    'Enroll a contact: the enrollment and enrolled, restarted, already_enrolled, enrolled_before or suppressed.';

CREATE OR REPLACE FUNCTION mailqueue.contact_at(p_project uuid, p_email text, p_is_test boolean) RETURNS uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_address('email', btrim(p_email));
    RETURN (SELECT c.id FROM mailqueue.contacts AS c
             WHERE c.project_id = p_project AND c.is_test = p_is_test
               AND c.email_key = mailqueue.address_key(mailqueue.wire_address('email', btrim(p_email)))
               AND c.email_key <> 'erased@erased.invalid');
END $$;
COMMENT ON FUNCTION mailqueue.contact_at(uuid, text, boolean) IS
    'The contact of an address, in any spelling, among those of test keys or the live ones; NULL if there is none. '
    'Raises 22023 unless it is an address.';

CREATE OR REPLACE FUNCTION mailqueue.enroll_address(p_project uuid, p_sequence text, p_email text, p_variables jsonb,
    p_is_test boolean, p_source text, OUT enrollment_id uuid, OUT outcome text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_contact uuid;
    v_mode text := coalesce(current_setting('mailqueue.mode', true), '');
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(p_is_test);
    v_contact := mailqueue.contact_at(p_project, p_email, p_is_test);
    IF v_contact IS NULL THEN
        -- put_contact() adds contacts of the mode of the transaction, which workers have not.
        PERFORM set_config('mailqueue.mode', CASE WHEN p_is_test THEN 'test' ELSE 'live' END, true);
        SELECT c.id INTO v_contact
          FROM mailqueue.put_contact(p_project, NULL, jsonb_build_object('email', btrim(p_email)), false) AS c;
        PERFORM set_config('mailqueue.mode', v_mode, true);
    END IF;
    SELECT n.enrollment_id, n.outcome INTO enroll_address.enrollment_id, enroll_address.outcome
      FROM mailqueue.enroll_contact(p_project, p_sequence, v_contact, p_variables, p_is_test, p_source) AS n;
END $$;
COMMENT ON FUNCTION mailqueue.enroll_address(uuid, text, text, jsonb, boolean, text) IS
    'Enroll the contact of an address, which is added if there is none; see enroll_contact().';

CREATE OR REPLACE FUNCTION mailqueue.enroll(sequence text, email text, variables jsonb DEFAULT '{}',
    project text DEFAULT 'default', is_test boolean DEFAULT false)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_taking(enroll.project);
BEGIN
    PERFORM mailqueue.check_producer(v_project);
    RETURN (SELECT n.enrollment_id
              FROM mailqueue.enroll_address(v_project, enroll.sequence, enroll.email, enroll.variables,
                                            coalesce(enroll.is_test, false), 'sql') AS n);
END $$;
COMMENT ON FUNCTION mailqueue.enroll(text, text, jsonb, text, boolean) IS
    'Enroll the contact of an address in a sequence, in the caller''s transaction. Returns the new enrollment, or the '
    'one that the contact has or had where the sequence does not enroll it again; NULL if the address is suppressed.';

CREATE OR REPLACE FUNCTION mailqueue.unenroll(sequence text, email text, project text DEFAULT 'default',
    is_test boolean DEFAULT false)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := mailqueue.project_named(unenroll.project);
BEGIN
    PERFORM mailqueue.check_tenant(v_project);
    PERFORM mailqueue.check_mode(unenroll.is_test);
    PERFORM mailqueue.check_producer(v_project);
    RETURN cardinality(mailqueue.end_enrollments_of(v_project, unenroll.sequence, unenroll.email,
                                                    coalesce(unenroll.is_test, false), 'removed', session_user));
END $$;
COMMENT ON FUNCTION mailqueue.unenroll(text, text, text, boolean) IS
    'End what the contact of an address has in a sequence, or in all (NULL), in the caller''s transaction: no further '
    'step is done. Returns the number of enrollments.';
