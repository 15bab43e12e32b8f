-- Persons whose inboxes a project watches: added, paused, removed. Each change writes an audit row.

-- In one order everywhere: the person, then what the person has.
CREATE OR REPLACE FUNCTION mailqueue.lock_inbox_user(p_project uuid, p_user uuid) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_email text;
BEGIN
    SELECT u.email INTO v_email FROM mailqueue.inbox_users AS u
     WHERE u.id = p_user AND u.project_id = p_project FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM mailqueue.refuse('user_id', 'the project has no such inbox user');
    END IF;
    RETURN v_email;
END $$;
COMMENT ON FUNCTION mailqueue.lock_inbox_user(uuid, uuid) IS
    'Lock a person before what is added for the person, and return the address; refuse user_id where the project has '
    'no such person.';

CREATE OR REPLACE FUNCTION mailqueue.add_inbox_user(p_project uuid, p_email text, p_by text) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 10000;                        -- of a project
    v_id uuid := mailqueue.uuidv7();
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.check_address('email', p_email);
    PERFORM FROM mailqueue.projects AS p WHERE p.id = p_project FOR NO KEY UPDATE;
    IF (SELECT count(*) FROM mailqueue.inbox_users AS u WHERE u.project_id = p_project) >= c_most THEN
        PERFORM mailqueue.refuse('email', format('a project has at most %s inbox users', c_most));
    END IF;
    INSERT INTO mailqueue.inbox_users (id, project_id, email) VALUES (v_id, p_project, lower(p_email))
    ON CONFLICT ON CONSTRAINT inbox_users_project_id_email_key DO NOTHING;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.added', v_id::text, '{}', p_by);
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_inbox_user(uuid, text, text) IS
    'Add a person whose inboxes are watched, and return the id; NULL if the project has one with this address.';

CREATE OR REPLACE FUNCTION mailqueue.is_paused(u mailqueue.inbox_users) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT u.notifications_paused OR coalesce(u.paused_until > clock_timestamp(), false) $$;
COMMENT ON FUNCTION mailqueue.is_paused(mailqueue.inbox_users) IS
    'Whether a person is notified of nothing now, without an end or for an hour.';

-- While notifications are paused, inboxes are scanned on, so that nothing of that time is reported later.
CREATE OR REPLACE FUNCTION mailqueue.pause_inbox_user(p_project uuid, p_user uuid, p_is_paused boolean, p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old mailqueue.inbox_users;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT * INTO v_old FROM mailqueue.inbox_users AS u
     WHERE u.id = p_user AND u.project_id = p_project FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    ELSIF v_old.notifications_paused <> p_is_paused OR NOT p_is_paused AND mailqueue.is_paused(v_old) THEN
        UPDATE mailqueue.inbox_users AS u
           SET notifications_paused = p_is_paused, updated_at = clock_timestamp(),
               paused_until = CASE WHEN p_is_paused THEN u.paused_until END
         WHERE u.id = p_user;
        PERFORM mailqueue.record_operation(p_project, CASE WHEN p_is_paused THEN 'inbox_user.paused'
                                                           ELSE 'inbox_user.resumed' END, p_user::text, '{}', p_by);
    END IF;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.pause_inbox_user(uuid, uuid, boolean, text) IS
    'Pause or resume all notifications of a person, also before the end of an hour; false if the project has none with '
    'that id.';

CREATE OR REPLACE FUNCTION mailqueue.remove_inbox_user(p_project uuid, p_user uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    DELETE FROM mailqueue.inbox_users AS u WHERE u.id = p_user AND u.project_id = p_project;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.removed', p_user::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_inbox_user(uuid, uuid, text) IS
    'Remove a person with inboxes, channels, rules and notifications; false if the project has none with that id.';
