-- Timed events as callers write them: put, changed, cancelled.

CREATE OR REPLACE FUNCTION mailqueue.check_timed_event(t mailqueue.timed_events, p_time_field text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_max_payload CONSTANT integer := 64;                    -- KiB, as the variables of mail
    c_max_years CONSTANT integer := 100;
BEGIN
    IF coalesce(t.kind, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,49}$' THEN
        PERFORM mailqueue.refuse('kind', format('%s is not a kind: 1 to 50 letters, digits, ., - and _',
                                                coalesce(to_json(left(t.kind, 100))::text, 'null')));
    ELSIF t.due_at NOT BETWEEN clock_timestamp() - interval '5 min'
                           AND clock_timestamp() + make_interval(years => c_max_years) THEN
        PERFORM mailqueue.refuse(p_time_field, format('a time from now to %s years ahead is needed, got %s',
                                                      c_max_years, t.due_at));
    ELSIF jsonb_typeof(t.payload) IS DISTINCT FROM 'object' THEN
        PERFORM mailqueue.refuse('payload', format('an object is needed, got %s',
                                                   coalesce(jsonb_typeof(t.payload), 'null')));
    ELSIF mailqueue.json_fault(t.payload, c_max_payload) IS NOT NULL THEN
        PERFORM mailqueue.refuse('payload', mailqueue.json_fault(t.payload, c_max_payload));
    ELSIF t.payload ?| '{event,contact}' THEN
        PERFORM mailqueue.refuse('payload', '"event" and "contact" are the event and its contact: use other names');
    ELSIF num_nonnulls(t.template, t.webhook_id) <> 1 THEN
        PERFORM mailqueue.refuse(CASE WHEN t.template IS NULL THEN 'template' ELSE 'webhook_id' END,
                                 'either a template or a webhook is needed');
    ELSIF t.webhook_id IS NOT NULL AND t.recipient IS NOT NULL THEN
        PERFORM mailqueue.refuse('recipient', 'a webhook has no recipient');
    ELSIF t.template IS NOT NULL AND num_nonnulls(t.recipient, t.contact_id) = 0 THEN
        PERFORM mailqueue.refuse('recipient', 'a recipient or a contact is needed');
    END IF;
    PERFORM mailqueue.check_timed_delivery(t.project_id, t.template, t.webhook_id);
    IF t.recipient IS NOT NULL THEN
        PERFORM mailqueue.check_text('recipient', t.recipient, 600);
        PERFORM mailqueue.check_address('recipient', (mailqueue.split_mailbox(t.recipient)).address);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_timed_event(mailqueue.timed_events, text) IS
    'Raise 22023 for a timed event with an invalid field, naming it; p_time_field: the one that its time is from.';

CREATE OR REPLACE FUNCTION mailqueue.check_timed_delivery(p_project uuid, p_template text, p_webhook uuid)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_template IS NOT NULL THEN
        PERFORM mailqueue.check_text('template', p_template, 120);
        IF NOT EXISTS (SELECT FROM mailqueue.templates AS m
                        WHERE (m.project_id = p_project OR m.project_id IS NULL)
                          AND m.slug = split_part(p_template, '@', 1) AND m.deleted_at IS NULL) THEN
            PERFORM mailqueue.refuse('template', format('there is no template %s', to_json(left(p_template, 100))));
        END IF;
    ELSIF NOT EXISTS (SELECT FROM mailqueue.webhooks AS w
                       WHERE w.id = p_webhook AND w.project_id = p_project AND w.removed_at IS NULL) THEN
        PERFORM mailqueue.refuse('webhook_id', format('there is no webhook %s', p_webhook));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_timed_delivery(uuid, text, uuid) IS
    'Raise 22023 unless the project has the template or the webhook.';

-- The zone: that which is given, else that of the contact, else that of the project.
CREATE OR REPLACE FUNCTION mailqueue.with_target(t mailqueue.timed_events, p_at timestamptz, p_local_at timestamp,
    p_time_zone text)
RETURNS mailqueue.timed_events
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF num_nonnulls(p_at, p_local_at) <> 1 THEN
        PERFORM mailqueue.refuse('at', 'either at or local_at is needed');
    ELSIF NOT isfinite(p_at) OR NOT isfinite(p_local_at) THEN
        PERFORM mailqueue.refuse(CASE WHEN p_at IS NULL THEN 'local_at' ELSE 'at' END, 'must be finite');
    ELSIF p_at IS NOT NULL AND p_time_zone IS NOT NULL THEN
        PERFORM mailqueue.refuse('time_zone', 'at is an instant: give local_at with a time zone');
    ELSIF p_time_zone IS NOT NULL AND mailqueue.known_zone(p_time_zone) IS NULL THEN
        PERFORM mailqueue.refuse('time_zone', format('there is no time zone %s', to_json(left(p_time_zone, 100))));
    END IF;
    t.zone_release := mailqueue.time_zone_release();
    t.follows_contact := p_at IS NULL AND p_time_zone IS NULL AND t.contact_id IS NOT NULL;
    IF p_at IS NOT NULL THEN
        t.time_zone := 'UTC';
        t.local_at := p_at AT TIME ZONE 'UTC';
        t.due_at := p_at;
        RETURN t;
    END IF;
    t.time_zone := coalesce(
        mailqueue.known_zone(p_time_zone),
        (SELECT mailqueue.known_zone(c.time_zone) FROM mailqueue.contacts AS c WHERE c.id = t.contact_id),
        (SELECT mailqueue.known_zone(p.time_zone) FROM mailqueue.projects AS p WHERE p.id = t.project_id), 'UTC');
    t.local_at := p_local_at;
    BEGIN
        t.due_at := mailqueue.local_to_utc(p_local_at, t.time_zone);
    EXCEPTION WHEN data_exception THEN
        PERFORM mailqueue.refuse('local_at', SQLERRM);
    END;
    RETURN t;
END $$;
COMMENT ON FUNCTION mailqueue.with_target(mailqueue.timed_events, timestamptz, timestamp, text) IS
    'An event with the time at which it is due: an instant, or a wall clock in a zone.';

CREATE OR REPLACE FUNCTION mailqueue.add_timed_event(p_project uuid, p_kind text, p_at timestamptz,
    p_local_at timestamp, p_time_zone text, p_contact uuid, p_payload jsonb, p_template text, p_recipient text,
    p_webhook uuid, p_key text, p_is_test boolean, p_by text, OUT id uuid, OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET TimeZone = 'UTC'
AS $$
#variable_conflict use_column
DECLARE
    t mailqueue.timed_events;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(p_is_test);
    PERFORM mailqueue.check_producer(p_project);
    t.project_id := p_project;
    t.is_test := coalesce(p_is_test, false);
    t.kind := p_kind;
    t.payload := coalesce(p_payload, '{}');
    t.template := p_template;
    t.recipient := p_recipient;
    t.webhook_id := p_webhook;
    IF p_contact IS NOT NULL THEN
        -- Locked: a contact that is removed at the same time removes this event with it.
        PERFORM FROM mailqueue.contacts AS c
          WHERE c.id = p_contact AND c.project_id = p_project AND c.is_test = t.is_test
            AND c.email_key <> 'erased@erased.invalid' FOR KEY SHARE;
        IF NOT FOUND THEN
            PERFORM mailqueue.refuse('contact_id', format('there is no contact %s', p_contact));
        END IF;
        t.contact_id := p_contact;
    END IF;
    t := mailqueue.with_target(t, p_at, p_local_at, p_time_zone);
    PERFORM mailqueue.check_text('idempotency_key', p_key, 255);
    IF p_key = '' OR p_key LIKE 'birthday:%' THEN
        PERFORM mailqueue.refuse('idempotency_key', 'must not be empty, nor begin with birthday:');
    END IF;
    PERFORM mailqueue.check_timed_event(t, CASE WHEN p_at IS NULL THEN 'local_at' ELSE 'at' END);
    t.id := mailqueue.uuidv7();
    t.idempotency_key := coalesce(p_key, CASE WHEN t.contact_id IS NOT NULL
        THEN format('event:%s:%s:%s', t.kind, t.contact_id, to_char(t.local_at, 'YYYY-MM-DD')) ELSE t.id::text END);
    INSERT INTO mailqueue.timed_events AS e (id, project_id, is_test, contact_id, kind, local_at, time_zone,
        follows_contact, zone_release, due_at, run_at, idempotency_key, payload, template, recipient, webhook_id,
        created_by)
    VALUES (t.id, t.project_id, t.is_test, t.contact_id, t.kind, t.local_at, t.time_zone, t.follows_contact,
            t.zone_release, t.due_at, t.due_at, t.idempotency_key, t.payload, t.template, t.recipient, t.webhook_id,
            p_by)
    ON CONFLICT ON CONSTRAINT timed_events_idempotency_key_key DO NOTHING;
    is_new := FOUND;
    id := t.id;
    IF is_new THEN
        PERFORM mailqueue.check_event_room(p_project);
    ELSE
        SELECT e.id INTO id FROM mailqueue.timed_events AS e
         WHERE e.project_id = t.project_id AND e.is_test = t.is_test AND e.idempotency_key = t.idempotency_key;
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.add_timed_event(uuid, text, timestamptz, timestamp, text, uuid, jsonb, text, text, uuid,
    text, boolean, text) IS
    'Add a timed event, or find the one with its idempotency key, which stays as it is.';

CREATE OR REPLACE FUNCTION mailqueue.put_timed_event(kind text, at timestamptz DEFAULT NULL,
    local_at timestamp DEFAULT NULL, time_zone text DEFAULT NULL, contact_id uuid DEFAULT NULL,
    payload jsonb DEFAULT '{}', template text DEFAULT NULL, recipient text DEFAULT NULL,
    webhook_id uuid DEFAULT NULL, idempotency_key text DEFAULT NULL, project text DEFAULT 'default',
    is_test boolean DEFAULT false)
RETURNS uuid
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT n.id FROM mailqueue.add_timed_event(mailqueue.project_taking(put_timed_event.project), put_timed_event.kind,
        put_timed_event.at, put_timed_event.local_at, put_timed_event.time_zone, put_timed_event.contact_id,
        put_timed_event.payload, put_timed_event.template, put_timed_event.recipient, put_timed_event.webhook_id,
        put_timed_event.idempotency_key, put_timed_event.is_test, session_user) AS n
$$;
COMMENT ON FUNCTION mailqueue.put_timed_event(text, timestamptz, timestamp, text, uuid, jsonb, text, text, uuid, text,
    text, boolean) IS
    'Add mail or a webhook call that is due at a time, in the caller''s transaction, and return its id; or the id of '
    'the event that has its idempotency key. Invalid input raises 22023 naming the field.';

-- Of an event that a worker has, or that has ended, nothing can be changed: the version that a caller read is old then.
CREATE OR REPLACE FUNCTION mailqueue.lock_timed_event(p_project uuid, p_id uuid, p_version integer)
RETURNS mailqueue.timed_events
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.timed_events;
BEGIN
    SELECT * INTO t FROM mailqueue.timed_events AS e
     WHERE e.id = p_id AND e.project_id = p_project AND coalesce(mailqueue.mode(), e.is_test) = e.is_test
       FOR NO KEY UPDATE;
    IF t.id IS NOT NULL AND t.version <> p_version THEN
        RAISE EXCEPTION 'timed event % has version %, not %: read it again', p_id, t.version, p_version
              USING ERRCODE = 'MQ003', COLUMN = 'version';
    ELSIF t.id IS NOT NULL AND t.status <> 'pending' THEN
        RAISE EXCEPTION 'timed event % is %', p_id, t.status USING ERRCODE = 'MQ003', COLUMN = 'status';
    END IF;
    RETURN t;
END $$;
COMMENT ON FUNCTION mailqueue.lock_timed_event(uuid, uuid, integer) IS
    'Lock a pending event; raises MQ003 if it has another version than the caller read, or is not pending.';

-- p_given has some of at, local_at, time_zone and payload.
CREATE OR REPLACE FUNCTION mailqueue.change_timed_event(p_project uuid, p_id uuid, p_version integer, p_given jsonb)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET TimeZone = 'UTC'
AS $$
DECLARE
    t mailqueue.timed_events;
    v_field text := 'change';
    v_at timestamptz;
    v_local timestamp;
    v_version integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF jsonb_typeof(p_given) IS DISTINCT FROM 'object' OR p_given = '{}' THEN
        PERFORM mailqueue.refuse('change', 'an object with at, local_at, time_zone or payload is needed');
    END IF;
    SELECT k INTO v_field FROM jsonb_object_keys(p_given) AS k
     WHERE k NOT IN ('at', 'local_at', 'time_zone', 'payload') LIMIT 1;
    IF FOUND THEN
        PERFORM mailqueue.refuse(left(v_field, 100), 'cannot be changed');
    ELSIF p_version IS NULL THEN
        PERFORM mailqueue.refuse('version', 'the version that was read is needed');
    END IF;
    t := mailqueue.lock_timed_event(p_project, p_id, p_version);
    IF t.id IS NULL THEN
        RETURN NULL;
    ELSIF t.is_birthday THEN
        PERFORM mailqueue.refuse('id', 'a birthday follows the date of birth of its contact: change that');
    END IF;
    BEGIN
        v_field := 'at';
        v_at := p_given ->> 'at';
        v_field := 'local_at';
        v_local := p_given ->> 'local_at';
    EXCEPTION WHEN data_exception THEN
        PERFORM mailqueue.refuse(v_field, format('%s is not a time', to_json(left(p_given ->> v_field, 100))));
    END;
    IF p_given ?| '{at,local_at,time_zone}' THEN
        t := mailqueue.with_target(t, v_at, CASE WHEN v_at IS NULL THEN coalesce(v_local, t.local_at) ELSE v_local END,
            CASE WHEN v_at IS NOT NULL OR p_given ? 'time_zone' THEN p_given ->> 'time_zone'
                 WHEN NOT t.follows_contact THEN t.time_zone END);
    END IF;
    t.payload := coalesce(p_given -> 'payload', t.payload);
    PERFORM mailqueue.check_timed_event(t, CASE WHEN v_at IS NULL THEN 'local_at' ELSE 'at' END);
    UPDATE mailqueue.timed_events AS e
       SET local_at = t.local_at, time_zone = t.time_zone, follows_contact = t.follows_contact,
           zone_release = t.zone_release, due_at = t.due_at,
           run_at = CASE WHEN e.due_at = t.due_at THEN e.run_at ELSE t.due_at END, payload = t.payload
     WHERE e.id = t.id RETURNING e.version INTO v_version;
    RETURN v_version;
END $$;
COMMENT ON FUNCTION mailqueue.change_timed_event(uuid, uuid, integer, jsonb) IS
    'Change the time or the payload of a pending event: its new version; NULL if there is none. Raises MQ003 if the '
    'caller read another version.';

CREATE OR REPLACE FUNCTION mailqueue.cancel_timed_event(p_project uuid, p_id uuid, p_version integer, p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t mailqueue.timed_events;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    t := mailqueue.lock_timed_event(p_project, p_id, p_version);
    IF t.id IS NULL THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.timed_events AS e
       SET status = 'cancelled', finished_at = clock_timestamp(), last_error = left('cancelled by ' || p_by, 200)
     WHERE e.id = t.id;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.cancel_timed_event(uuid, uuid, integer, text) IS
    'Cancel a pending event; false if there is none. p_version NULL: whatever its version. Raises MQ003 as '
    'change_timed_event() does.';
