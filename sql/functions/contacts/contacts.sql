-- Contacts: added, changed, removed. The address of a contact is unique in its project in every spelling.

CREATE OR REPLACE FUNCTION mailqueue.check_contact(c mailqueue.contacts) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_attributes CONSTANT integer := 100;
    c_max_attribute_kib CONSTANT integer := 16;
    v_field text;
    v_value text;
    v_most integer;
BEGIN
    FOR v_field, v_value, v_most IN
        VALUES ('first_name', c.first_name, 100), ('last_name', c.last_name, 100),
               ('consent_source', c.consent_source, 200), ('consent_wording', c.consent_wording, 2000)
    LOOP
        IF v_value = '' THEN
            PERFORM mailqueue.refuse(v_field, 'must not be empty');
        ELSIF v_field LIKE '%name' AND v_value ~ '[\u202a-\u202e\u2066-\u2069]' THEN
            PERFORM mailqueue.refuse(v_field, 'characters that change the direction of text are not allowed in names');
        END IF;
        PERFORM mailqueue.check_text(v_field, v_value, v_most);
    END LOOP;
    IF c.time_zone IS NOT NULL AND mailqueue.known_zone(c.time_zone) IS NULL THEN
        PERFORM mailqueue.refuse('time_zone', format('there is no time zone %s: a name such as Europe/Berlin is '
                                                     'needed', to_json(left(c.time_zone, 100))));
    END IF;
    IF c.language !~ '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$' THEN
        PERFORM mailqueue.refuse('language', format('%s is not a language such as en or pt-BR',
                                                    to_json(left(c.language, 100))));
    -- The day begins first in the zone of +14 hours.
    ELSIF NOT isfinite(c.date_of_birth) OR c.date_of_birth < '1850-01-01'
          OR c.date_of_birth >= mailqueue.utc_to_local(now(), coalesce(c.time_zone, 'Pacific/Kiritimati'))::date THEN
        PERFORM mailqueue.refuse('date_of_birth', format('a day in the past since 1850 is needed, got %s',
                                                         c.date_of_birth));
    ELSIF NOT isfinite(c.consented_at) OR c.consented_at > now() + interval '5 minutes' THEN
        PERFORM mailqueue.refuse('consented_at', format('must not be in the future, got %s', c.consented_at));
    ELSIF jsonb_typeof(c.attributes) <> 'object' THEN
        PERFORM mailqueue.refuse('attributes', format('an object of names and values is needed, got %s',
                                                      jsonb_typeof(c.attributes)));
    ELSIF mailqueue.json_fault(c.attributes, c_max_attribute_kib) IS NOT NULL THEN
        PERFORM mailqueue.refuse('attributes', mailqueue.json_fault(c.attributes, c_max_attribute_kib));
    ELSIF (SELECT count(*) > c_max_attributes FROM jsonb_object_keys(c.attributes)) THEN
        PERFORM mailqueue.refuse('attributes', format('at most %s attributes', c_max_attributes));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_contact(mailqueue.contacts) IS
    'Raise 22023 for a contact with an invalid field, naming it.';

-- Conditions of lists read this document, and callers see it.
CREATE OR REPLACE FUNCTION mailqueue.contact_document(c mailqueue.contacts) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT jsonb_build_object('email', c.email, 'first_name', c.first_name, 'last_name', c.last_name,
                              'time_zone', c.time_zone, 'date_of_birth', c.date_of_birth, 'language', c.language,
                              'attributes', c.attributes, 'consented_at', c.consented_at,
                              'consent_source', c.consent_source, 'consent_wording', c.consent_wording)
$$;
COMMENT ON FUNCTION mailqueue.contact_document(mailqueue.contacts) IS
    'The fields of a contact that can be set, as the conditions of lists see them.';

-- A condition that fails on a contact, such as by a division by zero, does not select it.
CREATE OR REPLACE FUNCTION mailqueue.is_contact_selected(p_document jsonb, p_condition text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT p_condition IS NULL
           OR coalesce(jsonb_path_query_first(p_document, p_condition::jsonpath, '{}', true), 'null')
              NOT IN ('null', 'false')
$$;
COMMENT ON FUNCTION mailqueue.is_contact_selected(jsonb, text) IS
    'Whether the fields of a contact satisfy the condition of a list.';

CREATE OR REPLACE FUNCTION mailqueue.is_date(p_text text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM p_text::date;
    RETURN true;
EXCEPTION WHEN data_exception THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION mailqueue.is_date(text) IS 'Whether PostgreSQL reads a text as a date; NULL is one.';

-- p_given has fields of contact_document(); those that are absent stay as they are, null removes one. Attributes are
-- merged by name, and one that is null is removed.
CREATE OR REPLACE FUNCTION mailqueue.put_contact(p_project uuid, p_id uuid, p_given jsonb, p_must_be_new boolean)
RETURNS SETOF mailqueue.contacts
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET TimeZone = 'UTC' SET DateStyle = 'ISO, YMD'
AS $$
DECLARE
    v_old mailqueue.contacts;
    v_new mailqueue.contacts;
    v_key text;
    v_name text;
    v_is_test boolean := coalesce(mailqueue.mode(), false);
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF jsonb_typeof(p_given) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('contact', 'an object of fields is needed');
    END IF;
    SELECT k INTO v_name FROM jsonb_object_keys(p_given) AS k WHERE NOT mailqueue.contact_document(v_old) ? k LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(left(v_name, 100), 'a contact has no such field');
    END IF;
    SELECT g.key INTO v_name FROM jsonb_each(p_given) AS g
     WHERE g.key <> 'attributes' AND jsonb_typeof(g.value) NOT IN ('string', 'null') LIMIT 1;
    IF v_name IS NOT NULL THEN
        PERFORM mailqueue.refuse(v_name, 'a string is needed');
    ELSIF jsonb_typeof(p_given -> 'attributes') NOT IN ('object', 'null') THEN
        PERFORM mailqueue.refuse('attributes', format('an object of names and values is needed, got %s',
                                                      jsonb_typeof(p_given -> 'attributes')));
    END IF;
    IF p_id IS NULL OR p_given ? 'email' THEN
        v_name := btrim(p_given ->> 'email');
        PERFORM mailqueue.check_address('email', v_name);
        v_name := mailqueue.wire_address('email', v_name);
        v_key := mailqueue.address_key(v_name);
        IF v_key = 'erased@erased.invalid' THEN
            PERFORM mailqueue.refuse('email', 'stands for persons that were erased');
        END IF;
        p_given := p_given || jsonb_build_object('email', v_name);
        -- Two writers of one address: the second sees the row of the first.
        PERFORM mailqueue.lock_key('contact ' || p_project || v_is_test || v_key);
    END IF;
    SELECT * INTO v_old FROM mailqueue.contacts AS c
     WHERE c.project_id = p_project AND CASE WHEN p_id IS NULL THEN c.email_key = v_key ELSE c.id = p_id END
       AND c.is_test = v_is_test AND c.email_key <> 'erased@erased.invalid'
       FOR UPDATE;
    IF v_old.id IS NULL AND p_id IS NOT NULL OR v_old.id IS NOT NULL AND p_must_be_new THEN
        RETURN;
    END IF;
    -- PostgreSQL reads more as dates and times, such as tomorrow.
    IF p_given ->> 'date_of_birth' !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
       OR NOT mailqueue.is_date(p_given ->> 'date_of_birth') THEN
        PERFORM mailqueue.refuse('date_of_birth', format('%s is not a date such as 1990-05-31',
                                                         to_json(left(p_given ->> 'date_of_birth', 100))));
    ELSIF p_given ->> 'consented_at' IS NOT NULL THEN
        BEGIN
            p_given := p_given
                || jsonb_build_object('consented_at', mailqueue.read_instant(p_given ->> 'consented_at'));
        EXCEPTION WHEN data_exception THEN
            PERFORM mailqueue.refuse('consented_at', format('%s is not a time such as 2026-05-31T08:00:00Z',
                                                            to_json(left(p_given ->> 'consented_at', 100))));
        END;
    END IF;
    v_new := jsonb_populate_record(v_old, p_given - 'attributes');
    v_new.attributes := CASE
        WHEN jsonb_typeof(p_given -> 'attributes') = 'null' THEN '{}'
        -- Only the names that are given: nulls deeper inside are values.
        ELSE coalesce((SELECT jsonb_object_agg(a.key, a.value)
                         FROM jsonb_each(coalesce(v_old.attributes, '{}') || coalesce(p_given -> 'attributes', '{}'))
                           AS a
                        WHERE a.value <> 'null'), '{}') END;
    v_new.email_key := coalesce(v_key, v_old.email_key);
    IF num_nonnulls(v_new.consent_source, v_new.consent_wording) > 0 THEN
        v_new.consented_at := coalesce(v_new.consented_at, now());
    END IF;
    PERFORM mailqueue.check_contact(v_new);
    IF v_old.id IS NULL THEN
        PERFORM mailqueue.check_contact_room(p_project);
        INSERT INTO mailqueue.contacts (project_id, email, email_key, first_name, last_name, time_zone, date_of_birth,
            language, attributes, consented_at, consent_source, consent_wording, is_test)
        VALUES (p_project, v_new.email, v_new.email_key, v_new.first_name, v_new.last_name, v_new.time_zone,
            v_new.date_of_birth, v_new.language, v_new.attributes, v_new.consented_at, v_new.consent_source,
            v_new.consent_wording, v_is_test)
        RETURNING * INTO v_new;
    ELSIF mailqueue.contact_document(v_old) <> mailqueue.contact_document(v_new) THEN
        IF v_new.email_key <> v_old.email_key
           AND EXISTS (SELECT FROM mailqueue.contacts AS c
                        WHERE c.project_id = p_project AND c.is_test = v_is_test
                          AND c.email_key = v_new.email_key) THEN
            PERFORM mailqueue.refuse('email', 'another contact has this address');
        END IF;
        UPDATE mailqueue.contacts AS c
           SET email = v_new.email, email_key = v_new.email_key, first_name = v_new.first_name,
               last_name = v_new.last_name, time_zone = v_new.time_zone, date_of_birth = v_new.date_of_birth,
               language = v_new.language, attributes = v_new.attributes, consented_at = v_new.consented_at,
               consent_source = v_new.consent_source, consent_wording = v_new.consent_wording
         WHERE c.id = v_old.id RETURNING * INTO v_new;
    END IF;
    RETURN NEXT v_new;
END $$;
COMMENT ON FUNCTION mailqueue.put_contact(uuid, uuid, jsonb, boolean) IS
    'Change the contact of an id, or add that of an address or change it; no row if there is none of the id, or it '
    'must be new and exists.';

CREATE OR REPLACE FUNCTION mailqueue.contacts_changed() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.contacts_changed() IS
    'BEFORE UPDATE of a contact that changes it, whatever statement does: the time of the change.';

CREATE OR REPLACE TRIGGER contacts_changed BEFORE UPDATE ON mailqueue.contacts
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION mailqueue.contacts_changed();

-- Splitting a mailbox costs as much as finding 25 of them that have another address. The address stands behind the last
-- bracket, or has one itself; in ASCII it is its key apart from capitals. Inlined: no SET clause.
CREATE OR REPLACE FUNCTION mailqueue.may_be_mailbox_of(p_mailbox text, p_key text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT strpos(p_key, '<') > 0
           OR octet_length(split_part(p_mailbox, '<', -1)) > length(split_part(p_mailbox, '<', -1))
           OR strpos(lower(split_part(p_mailbox, '<', -1) COLLATE "C"), p_key) > 0
$$;
COMMENT ON FUNCTION mailqueue.may_be_mailbox_of(text, text) IS
    'Whether a mailbox can have the address of a key: false means that it has another one.';

-- Everything that is still to happen to a contact ends here, in the transaction that removes or erases it. A table with
-- such rows is a statement of this function: it deletes them, or moves them to a state in which nothing happens any
-- more. The contact is locked before: a worker that makes mail for it locks it FOR KEY SHARE until the mail is
-- committed, so that the statements below see that mail.
--
-- The queue has no index of recipients: it is read once. Mail that has other recipients too goes to all of them.
CREATE OR REPLACE FUNCTION mailqueue.end_pending_of_contact(p_project uuid, p_contact uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_key text;
    v_is_test boolean;
    v_ids uuid[];
    v_cancelled integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT c.email_key, c.is_test INTO v_key, v_is_test FROM mailqueue.contacts AS c
     WHERE c.project_id = p_project AND c.id = p_contact AND coalesce(mailqueue.mode(), c.is_test) = c.is_test
       FOR UPDATE;
    IF v_key IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE mailqueue.list_send_contacts AS t SET outcome = 'withdrawn'
     WHERE t.contact_id = p_contact AND t.outcome IS NULL;
    DELETE FROM mailqueue.sequence_enrollments AS e WHERE e.contact_id = p_contact AND e.finished_at IS NULL;
    DELETE FROM mailqueue.timed_events AS t WHERE t.contact_id = p_contact AND t.finished_at IS NULL;
    -- Events that name the address have no contact that a worker locks: it undoes what it made where its claim is gone.
    UPDATE mailqueue.timed_events AS t
       SET status = 'cancelled', finished_at = clock_timestamp(), last_error = 'the contact was removed',
           claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL
     WHERE t.id = ANY (ARRAY(
            SELECT e.id FROM mailqueue.timed_events AS e
             WHERE e.project_id = p_project AND e.recipient IS NOT NULL AND e.finished_at IS NULL
               AND e.is_test = v_is_test
               AND CASE WHEN mailqueue.may_be_mailbox_of(e.recipient, v_key)
                        THEN mailqueue.address_key((mailqueue.split_mailbox(e.recipient)).address) = v_key END
             ORDER BY e.id FOR UPDATE));
    -- Runs take contacts from lists part by part, but have the addresses that their schedules name.
    INSERT INTO mailqueue.schedule_recipients (run_id, email_key, project_id, status, reason)
    SELECT r.id, v_key, p_project, 'rejected', 'the contact was removed' FROM mailqueue.schedule_runs AS r
     WHERE r.project_id = p_project AND r.is_test = v_is_test AND r.status IN ('pending', 'assigned')
       AND EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(r.recipients) WHEN 'array' THEN r.recipients
                                                         ELSE '[]' END) AS x
                    WHERE mailqueue.address_key(x.value ->> 'email') = v_key)
     ORDER BY r.id
    ON CONFLICT DO NOTHING;
    v_ids := ARRAY(SELECT q.id FROM mailqueue.email_queue AS q
                    WHERE q.project_id = p_project AND mailqueue.address_key(q.recipient_email) = v_key
                      AND q.is_test = v_is_test
                      AND NOT EXISTS (SELECT FROM mailqueue.email_recipients AS r
                                       WHERE r.email_id = q.id AND mailqueue.address_key(r.address) <> v_key)
                    ORDER BY q.id);
    SELECT count(*) INTO v_cancelled
      FROM mailqueue.cancel_emails(p_project, v_ids, 'the contact was removed');
    RETURN v_cancelled;
END $$;
COMMENT ON FUNCTION mailqueue.end_pending_of_contact(uuid, uuid) IS
    'End all that is pending for a contact: unfinished mail to it alone is cancelled, and nothing more is made for it '
    'by lists, sequences, timed events, or runs of schedules that are still being made. '
    'The number of mails that were cancelled; NULL if there is no such contact.';

CREATE OR REPLACE FUNCTION mailqueue.remove_contact(p_project uuid, p_id uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_cancelled integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    v_cancelled := mailqueue.end_pending_of_contact(p_project, p_id);
    IF v_cancelled IS NOT NULL THEN
        DELETE FROM mailqueue.contacts AS c WHERE c.project_id = p_project AND c.id = p_id;
    END IF;
    RETURN v_cancelled;
END $$;
COMMENT ON FUNCTION mailqueue.remove_contact(uuid, uuid) IS
    'Remove a contact from the project and its lists, and cancel unfinished mail to it alone: the number of mails; '
    'NULL if there is no such contact.';
