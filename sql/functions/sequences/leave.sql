-- Ends of enrollments before their last step.
--
-- An end is a row of its own, appended: neither the worker that has the enrollment nor the caller that ends it waits.
-- Workers read these rows before each step.

CREATE OR REPLACE FUNCTION mailqueue.end_enrollments(p_ids uuid[], p_reason text, p_by text,
    p_now timestamptz DEFAULT NULL)
RETURNS uuid[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_ids uuid[];
BEGIN
    WITH ended AS (
        INSERT INTO mailqueue.enrollment_exits (enrollment_id, project_id, is_test, reason, created_by, created_at)
        SELECT e.id, e.project_id, e.is_test, p_reason, left(p_by, 200), coalesce(p_now, clock_timestamp())
          FROM mailqueue.sequence_enrollments AS e
         WHERE e.id = ANY (p_ids) AND mailqueue.is_enrollment_active(e)
           AND e.project_id = coalesce(mailqueue.tenant(), e.project_id)
           AND e.is_test = coalesce(mailqueue.mode(), e.is_test)
         ORDER BY e.id
        RETURNING enrollment_id, project_id
    ), signalled AS (
        INSERT INTO mailqueue.enrollment_signals (enrollment_id, project_id)
        SELECT o.enrollment_id, o.project_id FROM ended AS o
        RETURNING enrollment_id
    )
    SELECT coalesce(array_agg(o.enrollment_id ORDER BY o.enrollment_id), '{}') INTO v_ids FROM signalled AS o;
    RETURN v_ids;
END $$;
COMMENT ON FUNCTION mailqueue.end_enrollments(uuid[], text, text, timestamptz) IS
    'End those of the enrollments that go on, for a reason; returns their ids.';

CREATE OR REPLACE FUNCTION mailqueue.end_enrollments_of(p_project uuid, p_sequence text, p_email text,
    p_is_test boolean, p_reason text, p_by text)
RETURNS uuid[]
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_contact uuid := mailqueue.contact_at(p_project, p_email, p_is_test);
BEGIN
    RETURN mailqueue.end_enrollments(ARRAY(
               SELECT e.id FROM mailqueue.sequence_enrollments AS e
                 JOIN mailqueue.sequences AS s ON s.id = e.sequence_id
                WHERE e.contact_id = v_contact AND e.is_test = p_is_test AND e.finished_at IS NULL
                  AND s.name = coalesce(p_sequence, s.name)), p_reason, p_by);
END $$;
COMMENT ON FUNCTION mailqueue.end_enrollments_of(uuid, text, text, boolean, text, text) IS
    'End what the contact of an address has in a sequence, or in all (NULL); returns the ids of the enrollments.';

CREATE OR REPLACE FUNCTION mailqueue.exit_of_suppression(p_reason text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE p_reason WHEN 'unsubscribed' THEN 'unsubscribed' WHEN 'complaint' THEN 'complained'
                         WHEN 'hard_bounce' THEN 'bounced' WHEN 'soft_bounce_threshold' THEN 'bounced'
                         ELSE 'suppressed' END
$$;
COMMENT ON FUNCTION mailqueue.exit_of_suppression(text) IS
    'Why an enrollment ends whose contact is suppressed for a reason.';

-- A pause of a category ends nothing: the next step waits for its end.
CREATE OR REPLACE FUNCTION mailqueue.suppressions_end_enrollments() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    r record;
BEGIN
    IF NOT EXISTS (SELECT FROM mailqueue.sequence_enrollments AS e WHERE e.finished_at IS NULL) THEN
        RETURN NULL;
    END IF;
    FOR r IN
        SELECT mailqueue.exit_of_suppression(n.reason) AS reason, array_agg(e.id) AS ids
          FROM changed AS n
          JOIN mailqueue.contacts AS c ON c.project_id = n.project_id AND c.email_key = n.address
           AND c.email_key <> 'erased@erased.invalid'
          JOIN mailqueue.sequence_enrollments AS e ON e.contact_id = c.id AND NOT e.is_test AND e.finished_at IS NULL
          JOIN mailqueue.sequences AS s ON s.id = e.sequence_id
         WHERE n.reason <> 'paused' AND n.expires_at > now()
           AND n.category = ANY (mailqueue.stopping_categories(n.project_id, s.category))
         GROUP BY 1
    LOOP
        PERFORM mailqueue.end_enrollments(r.ids, r.reason, 'suppression');
    END LOOP;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.suppressions_end_enrollments() IS
    'AFTER INSERT or UPDATE of suppressions: end the enrollments of their addresses.';

CREATE OR REPLACE TRIGGER suppressions_added_to_enrollments AFTER INSERT ON mailqueue.suppressions
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION mailqueue.suppressions_end_enrollments();
CREATE OR REPLACE TRIGGER suppressions_changed_for_enrollments AFTER UPDATE ON mailqueue.suppressions
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION mailqueue.suppressions_end_enrollments();

-- A contact that moves to another time zone gets what waits for a local time by its new one.
CREATE OR REPLACE FUNCTION mailqueue.contacts_signal_enrollments() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    IF NEW.email_key = 'erased@erased.invalid' THEN
        PERFORM mailqueue.end_enrollments(ARRAY(SELECT e.id FROM mailqueue.sequence_enrollments AS e
                                                 WHERE e.contact_id = NEW.id AND e.finished_at IS NULL),
                                          'erased', 'erasure');
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.enrollment_signals (enrollment_id, project_id)
    SELECT e.id, e.project_id FROM mailqueue.sequence_enrollments AS e
     WHERE e.contact_id = NEW.id AND e.finished_at IS NULL;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.contacts_signal_enrollments() IS
    'AFTER UPDATE of time zone or address of a contact: a worker looks at its enrollments again; those of an erased '
    'person end.';

CREATE OR REPLACE TRIGGER contacts_enrollments AFTER UPDATE OF time_zone, email_key ON mailqueue.contacts
    FOR EACH ROW WHEN (OLD.time_zone IS DISTINCT FROM NEW.time_zone OR OLD.email_key <> NEW.email_key)
    EXECUTE FUNCTION mailqueue.contacts_signal_enrollments();
