-- Outboxes of a project: added, changed, removed. Each change writes an audit row.

CREATE OR REPLACE FUNCTION mailqueue.check_outbox(p_project uuid, p_name text, p_transport text, p_target text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(p_name, '') !~ '^[a-z0-9][a-z0-9_-]{0,62}$' THEN
        PERFORM mailqueue.refuse('name', format('%s is not a name: lower-case letters, digits, - and _',
                                                coalesce(to_json(left(p_name, 100))::text, 'null')));
    ELSIF coalesce(p_transport, '') NOT IN ('webhook', 'rabbitmq') THEN
        PERFORM mailqueue.refuse('transport', format('webhook or rabbitmq, got %s',
                                                     coalesce(to_json(left(p_transport, 100))::text, 'null')));
    ELSIF p_transport = 'rabbitmq' THEN
        IF coalesce(p_target, '') !~ '^(masstransit(:[!-~]{1,150})?|cloudevents(-binary)?:[!-~]{1,150})$' THEN
            PERFORM mailqueue.refuse('target',
                                     format('masstransit, masstransit:EXCHANGE, cloudevents:EXCHANGE or '
                                            'cloudevents-binary:EXCHANGE, got %s',
                                            coalesce(to_json(left(p_target, 200))::text, 'null')));
        END IF;
    ELSIF NOT EXISTS (SELECT FROM mailqueue.webhooks AS w
                       WHERE w.id::text = p_target AND w.project_id = p_project AND w.removed_at IS NULL) THEN
        PERFORM mailqueue.refuse('target', format('the project has no webhook %s',
                                                  coalesce(to_json(left(p_target, 100))::text, 'null')));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_outbox(uuid, text, text, text) IS
    'Raise 22023 naming the field unless an outbox may be like this.';

CREATE OR REPLACE FUNCTION mailqueue.add_outbox(p_project uuid, p_name text, p_transport text, p_target text, p_by text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 50;                           -- outboxes of a project
    v_id uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_outbox(p_project, p_name, p_transport, p_target);
    PERFORM FROM mailqueue.projects AS p WHERE p.id = p_project FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM mailqueue.outbox_state AS s WHERE s.project_id = p_project) >= c_most THEN
        PERFORM mailqueue.refuse('name', format('a project has at most %s outboxes', c_most));
    END IF;
    INSERT INTO mailqueue.outbox_state (outbox_id, lock_id, row_version, created, project_id, name, transport, target)
    VALUES (v_id, v_id, uuid_send(v_id), clock_timestamp(), p_project, p_name, p_transport, p_target)
    ON CONFLICT ON CONSTRAINT outbox_state_project_id_name_key DO NOTHING;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    EXECUTE format('CREATE SEQUENCE mailqueue.%I CYCLE', mailqueue.outbox_sequence(v_id));
    PERFORM mailqueue.record_operation(p_project, 'outbox.added', p_name,
                                       jsonb_build_object('transport', p_transport, 'target', p_target), p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_outbox(uuid, text, text, text, text) IS
    'Add an outbox to a project and return its id; NULL if it has one of that name.';

CREATE OR REPLACE FUNCTION mailqueue.change_outbox(p_project uuid, p_name text, p_transport text, p_target text,
    p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT s.transport, s.target INTO v_old FROM mailqueue.outbox_state AS s
     WHERE s.project_id = p_project AND s.name = p_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.check_outbox(p_project, p_name, p_transport, p_target);
    -- Failures of the old target do not delay the new one.
    UPDATE mailqueue.outbox_state AS s
       SET transport = p_transport, target = p_target,
           run_at = CASE WHEN s.status = 'pending' THEN clock_timestamp() ELSE s.run_at END
     WHERE s.project_id = p_project AND s.name = p_name;
    PERFORM mailqueue.record_operation(p_project, 'outbox.changed', p_name, jsonb_build_object(
        'from', to_jsonb(v_old), 'to', jsonb_build_object('transport', p_transport, 'target', p_target)), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_outbox(uuid, text, text, text, text) IS
    'Publish the messages of an outbox elsewhere; false if the project has none of that name.';

-- The sequence is dropped first, so that no open transaction keeps a message without an outbox: it waits a second for
-- those that wrote to the outbox.
CREATE OR REPLACE FUNCTION mailqueue.remove_outbox(p_project uuid, p_name text, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET lock_timeout = '1s'
AS $$
DECLARE
    v_id uuid;
    v_left bigint;
    v_has_events boolean;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT s.outbox_id, s.events IS NOT NULL INTO v_id, v_has_events FROM mailqueue.outbox_state AS s
     WHERE s.project_id = p_project AND s.name = p_name FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    ELSIF v_has_events THEN
        RAISE EXCEPTION USING ERRCODE = 'object_in_use', MESSAGE =
            format('outbox %s publishes events of mail, whose transactions must not wait: let it publish none first',
                   p_name);
    END IF;
    EXECUTE format('DROP SEQUENCE mailqueue.%I', mailqueue.outbox_sequence(v_id));
    SELECT count(*) INTO v_left FROM mailqueue.outbox_message AS m WHERE m.outbox_id = v_id AND m.status = 'pending';
    DELETE FROM mailqueue.outbox_message AS m WHERE m.outbox_id = v_id;
    DELETE FROM mailqueue.outbox_state AS s WHERE s.outbox_id = v_id;
    PERFORM mailqueue.record_operation(p_project, 'outbox.removed', p_name, jsonb_build_object('unpublished', v_left),
                                       p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_outbox(uuid, text, text) IS
    'Remove an outbox with its messages, published or not; false if the project has none of that name. Raises 55P03 '
    'while a transaction that wrote to it is open, 55006 while it publishes events.';

CREATE OR REPLACE FUNCTION mailqueue.skip_outbox_message(p_project uuid, p_name text, p_message uuid, p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT s.outbox_id INTO v_id FROM mailqueue.outbox_state AS s WHERE s.project_id = p_project AND s.name = p_name;
    UPDATE mailqueue.outbox_message AS m SET status = 'skipped', sent_time = clock_timestamp()
     WHERE m.outbox_id = v_id AND m.message_id = p_message AND m.status = 'pending';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- The next message does not wait for the pause after the failures of this one.
    UPDATE mailqueue.outbox_state AS s SET run_at = clock_timestamp()
     WHERE s.outbox_id = v_id AND s.status = 'pending';
    PERFORM mailqueue.record_operation(p_project, 'outbox.skipped', p_name,
                                       jsonb_build_object('message_id', p_message), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.skip_outbox_message(uuid, text, uuid, text) IS
    'Leave a message out of what its outbox publishes; false if it is not there or was published.';
