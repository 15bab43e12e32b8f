-- Links by which persons whose inboxes are watched set a password: an invitation of the project, or a reset that the
-- person asked for. A link works once; those that were made earlier work until one of them is used.

CREATE OR REPLACE FUNCTION mailqueue.project_of_inbox_pages(p_name text)
RETURNS TABLE (id uuid, name text, display_name text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT p.id, p.name, coalesce(p.display_name, p.name) FROM mailqueue.projects AS p
     WHERE p.name = p_name AND p.deleted_at IS NULL
$$;
COMMENT ON FUNCTION mailqueue.project_of_inbox_pages(text) IS
    'The project whose persons log in to pages below its name; no row if there is none.';

CREATE OR REPLACE FUNCTION mailqueue.add_inbox_link(p_project uuid, p_user uuid, p_kind text, p_token bytea,
    p_until timestamptz, p_most integer) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    -- The oldest give way.
    DELETE FROM mailqueue.inbox_links AS l
     WHERE l.token_hash IN (SELECT o.token_hash FROM mailqueue.inbox_links AS o
                             WHERE o.user_id = p_user AND o.kind = p_kind
                             ORDER BY o.created_at DESC, o.token_hash OFFSET p_most - 1);
    INSERT INTO mailqueue.inbox_links (token_hash, project_id, user_id, kind, expires_at, created_at)
    VALUES (p_token, p_project, p_user, p_kind, p_until, clock_timestamp());
$$;
COMMENT ON FUNCTION mailqueue.add_inbox_link(uuid, uuid, text, bytea, timestamptz, integer) IS
    'Add a link of a person, who has at most so many of its kind.';

CREATE OR REPLACE FUNCTION mailqueue.invite_inbox_user(p_project uuid, p_user uuid, p_token bytea, p_until timestamptz,
    p_by text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 5;                            -- of a person
    v_email text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    SELECT u.email INTO v_email FROM mailqueue.inbox_users AS u
     WHERE u.id = p_user AND u.project_id = p_project FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM mailqueue.add_inbox_link(p_project, p_user, 'invitation', p_token, p_until, c_most);
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.invited', p_user::text,
                                       jsonb_build_object('until', p_until), p_by);
    RETURN v_email;
END $$;
COMMENT ON FUNCTION mailqueue.invite_inbox_user(uuid, uuid, bytea, timestamptz, text) IS
    'Add a link by which a person sets a password, and return the address; NULL if the project has none with that id.';

-- Only for persons who have a password: who may log in at all is the project's decision.
CREATE OR REPLACE FUNCTION mailqueue.ask_inbox_reset(p_project uuid, p_email text, p_token bytea, p_until timestamptz)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most CONSTANT integer := 3;                            -- of a person, in force
    u mailqueue.inbox_users;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT o.* INTO u FROM mailqueue.inbox_users AS o JOIN mailqueue.inbox_logins AS l ON l.user_id = o.id
     WHERE o.project_id = p_project AND o.email = lower(btrim(p_email)) FOR NO KEY UPDATE OF o;
    IF NOT FOUND
       OR (SELECT count(*) FROM mailqueue.inbox_links AS l
            WHERE l.user_id = u.id AND l.kind = 'reset' AND l.expires_at > clock_timestamp()) >= c_most THEN
        RETURN NULL;
    END IF;
    PERFORM mailqueue.add_inbox_link(p_project, u.id, 'reset', p_token, p_until, c_most);
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.reset_asked', u.id::text, '{}', 'inbox user ' || u.id);
    RETURN u.email;
END $$;
COMMENT ON FUNCTION mailqueue.ask_inbox_reset(uuid, text, bytea, timestamptz) IS
    'Add a link by which the person with an address sets a new password, and return the address; NULL if no person who '
    'logs in has it, or three links are in force already.';

-- GCRA, as for attempts to log in. Counted is the address, by the hash of the project's key, and not the row of the
-- person, who may be removed and added again.
CREATE OR REPLACE FUNCTION mailqueue.take_login_mail(p_project uuid, p_email text, p_kind text,
    OUT refusal text, OUT wait interval)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    b record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    FOR b IN
        SELECT x.burst, x.seconds, x.receiver,
               sha256(convert_to(format('inbox %s to %s', p_kind, x.receiver), 'UTF8') || x.counted) AS key
          FROM (VALUES (3, 1200.0, 'one person', mailqueue.address_hash(p_project, p_email)),
                       (1000, 86.4, 'all persons of a project', uuid_send(p_project)))
               AS x(burst, seconds, receiver, counted)
    LOOP
        CONTINUE WHEN mailqueue.take_console_attempt(b.key, b.seconds, b.burst, 0) IS NOT NULL;
        SELECT a.next_at - make_interval(secs => b.seconds * (b.burst - 1)) - clock_timestamp() INTO wait
          FROM mailqueue.console_attempts AS a WHERE a.client_hash = b.key;
        refusal := format('%s mails of this kind may go to %s at once, and then one every %s seconds; the next one '
                          'may at %s', b.burst, b.receiver, trim_scale(b.seconds),
                          mailqueue.shown(clock_timestamp() + wait));
        RETURN;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.take_login_mail(uuid, text, text) IS
    'Count a mail with a link, of a kind, to a person; returns why none may be mailed now and for how long, NULL if it '
    'may.';

CREATE OR REPLACE FUNCTION mailqueue.find_inbox_link(p_project uuid, p_token bytea) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN (SELECT u.email FROM mailqueue.inbox_links AS l JOIN mailqueue.inbox_users AS u ON u.id = l.user_id
             WHERE l.token_hash = p_token AND l.project_id = p_project AND l.expires_at > clock_timestamp());
END $$;
COMMENT ON FUNCTION mailqueue.find_inbox_link(uuid, bytea) IS
    'Address of the person whose valid link has a token with this hash; NULL if there is none. The link stays.';

-- All links of the person end with it, all codes of phones, and all sessions.
CREATE OR REPLACE FUNCTION mailqueue.set_inbox_password(p_project uuid, p_token bytea, p_password_hash text)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_user uuid;
    v_email text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    -- In the order of all that change a person, so that two do not wait for each other.
    SELECT u.id, u.email INTO v_user, v_email FROM mailqueue.inbox_users AS u
     WHERE u.id = (SELECT l.user_id FROM mailqueue.inbox_links AS l
                    WHERE l.token_hash = p_token AND l.project_id = p_project)
       FOR NO KEY UPDATE;
    DELETE FROM mailqueue.inbox_links AS l
     WHERE l.token_hash = p_token AND l.user_id = v_user AND l.expires_at > clock_timestamp();
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM mailqueue.inbox_links AS l WHERE l.user_id = v_user;
    DELETE FROM mailqueue.phone_registrations AS r WHERE r.user_id = v_user;
    INSERT INTO mailqueue.inbox_logins AS l (user_id, project_id, password_hash)
    VALUES (v_user, p_project, p_password_hash)
    ON CONFLICT (user_id) DO UPDATE SET password_hash = excluded.password_hash, updated_at = clock_timestamp();
    UPDATE mailqueue.inbox_sessions AS s SET ended_at = clock_timestamp()
     WHERE s.user_id = v_user AND s.ended_at IS NULL;
    PERFORM mailqueue.record_operation(p_project, 'inbox_user.password_set', v_user::text, '{}',
                                       'inbox user ' || v_user);
    RETURN v_email;
END $$;
COMMENT ON FUNCTION mailqueue.set_inbox_password(uuid, bytea, text) IS
    'Set the password of a person by a valid link, and end all links and sessions of the person; returns the address, '
    'NULL if the link was used, or has ended.';
