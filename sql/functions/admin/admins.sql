-- Administration of the installation, over all projects: administrators, settings and flags, revoking keys.

INSERT INTO mailqueue.system_settings (name, value, kind, meaning) VALUES
    ('accept_mail', 'on', 'flag', 'off: no new mail is accepted; queued mail is still sent'),
    ('test_keys', 'on', 'flag', 'off: no new test keys are issued; existing ones stay valid'),
    ('own_servers', 'on', 'flag', 'off: no mail may name a custom SMTP server (smtp_override)'),
    ('max_attachment_bytes', '25 MB', 'bytes',
     'maximum total size of the files of one mail, whatever its project allows'),
    ('attachment_types', '*', 'list', 'content types of files, if their project allows them too; *: any'),
    ('project_daily_limit', '0', 'count', 'recipients a day of a new project without a limit of its own; 0: none'),
    ('project_rate_per_second', '0', 'count',
     'recipients a second of a new project without a rate of its own; 0: none')
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, meaning = excluded.meaning
   WHERE (system_settings.kind, system_settings.meaning) <> (excluded.kind, excluded.meaning);

-- A second check behind that of the API: a transaction that acts for one project changes nothing of another.
CREATE OR REPLACE FUNCTION mailqueue.check_administers() RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF mailqueue.tenant() IS NOT NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'this transaction acts for one project only';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_administers() IS 'Raise an error in a transaction that acts for one project.';

CREATE OR REPLACE FUNCTION mailqueue.is_on(p_flag text) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce((SELECT s.value = 'on' FROM mailqueue.system_settings AS s
                      WHERE s.name = p_flag AND s.kind = 'flag'),
                    true)
$$;
COMMENT ON FUNCTION mailqueue.is_on(text) IS 'Whether a flag of system_settings is on.';

-- Limits for all files of one mail: what the project allows, within the limits of the installation.
CREATE OR REPLACE FUNCTION mailqueue.attachments_of_project(p_project uuid, OUT types text[], OUT most integer)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE s.value WHEN '*' THEN p.attachment_types
                        ELSE ARRAY(SELECT t FROM unnest(p.attachment_types) AS t
                                    WHERE t = ANY (string_to_array(lower(s.value), ', '))) END,
           least(p.attachment_bytes, mailqueue.system_number('max_attachment_bytes'))::integer
      FROM mailqueue.projects AS p, mailqueue.system_settings AS s
     WHERE p.id = p_project AND s.name = 'attachment_types'
$$;
COMMENT ON FUNCTION mailqueue.attachments_of_project(uuid) IS
    'Content types and total bytes allowed for the files of one mail of a project.';

-- The rate of the installation is stored in limits; it is shown as a setting here.
CREATE OR REPLACE FUNCTION mailqueue.settings_of_installation()
RETURNS TABLE (name text, value text, kind text, meaning text, changed_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.name, s.value, s.kind, s.meaning, s.changed_at FROM mailqueue.system_settings AS s
    UNION ALL
    SELECT 'max_send_rate', coalesce(trim_scale(m.rate_per_second)::text, '0'), 'rate',
           'recipients a second of all mail together, 0: as many as it can; workers that are started with '
           'MAILQUEUE_MAX_SEND_RATE set it anew', NULL::timestamptz
      FROM (SELECT) AS one LEFT JOIN mailqueue.limits AS m ON m.id = 0
    ORDER BY 1
$$;
COMMENT ON FUNCTION mailqueue.settings_of_installation() IS 'All settings and flags of the installation.';

CREATE OR REPLACE FUNCTION mailqueue.change_setting(p_name text, p_value text, p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.system_settings;
    v_value text := btrim(p_value);
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM set_config('mailqueue.actor', p_actor, true);
    IF p_name = 'max_send_rate' THEN
        IF coalesce(v_value, '') !~ '^[0-9]{1,7}([.][0-9]{1,3})?$' OR v_value::numeric > 1000000 THEN
            PERFORM mailqueue.refuse(p_name,
                                     format('0 to 1000000 is needed, got %s',
                                            coalesce(to_json(left(v_value, 100))::text, 'null')));
        END IF;
        RETURN mailqueue.set_max_send_rate(nullif(v_value::numeric, 0));
    END IF;
    SELECT * INTO s FROM mailqueue.system_settings AS o WHERE o.name = p_name FOR NO KEY UPDATE;
    IF s.name IS NULL THEN
        PERFORM mailqueue.refuse(left(p_name, 100), 'there is no such setting');
    END IF;
    IF s.kind = 'list' THEN
        v_value := lower(array_to_string(ARRAY(SELECT btrim(v) FROM string_to_table(v_value, ',') AS v), ', '));
    END IF;
    IF v_value = s.value THEN
        RETURN false;
    END IF;
    BEGIN
        IF v_value IS NULL OR length(v_value) > 2000 THEN
            RAISE check_violation;
        END IF;
        UPDATE mailqueue.system_settings AS o SET value = v_value WHERE o.name = p_name;
    EXCEPTION WHEN check_violation OR data_exception THEN
        PERFORM mailqueue.refuse(p_name,
                                 format('%s is needed, got %s',
                                        CASE s.kind WHEN 'interval' THEN 'a length of time such as 5 min'
                                                    WHEN 'count' THEN 'a whole number from 0'
                                                    WHEN 'bytes' THEN 'a size such as 5 GB' WHEN 'flag' THEN 'on or off'
                                                    ELSE 'a list such as application/pdf, image/png, or *' END,
                                        coalesce(to_json(left(v_value, 100))::text, 'null')));
    END;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_setting(text, text, text) IS
    'Change a setting or flag of the installation; false if it had that value.';

CREATE OR REPLACE FUNCTION mailqueue.add_administrator(p_name text, p_hash bytea, p_hint text, p_expires timestamptz,
    p_actor text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    PERFORM mailqueue.check_administers();
    IF coalesce(btrim(p_name), '') = '' THEN
        PERFORM mailqueue.refuse('name', 'a name is needed');
    END IF;
    PERFORM mailqueue.check_instant('expires_at', p_expires);
    PERFORM mailqueue.check_text('name', p_name, 100);
    INSERT INTO mailqueue.administrators (name, token_hash, hint, expires_at, created_by)
    VALUES (p_name, p_hash, p_hint, p_expires, p_actor) ON CONFLICT ON CONSTRAINT administrators_name_key DO NOTHING
    RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        PERFORM mailqueue.refuse('name',
                                 format('there is an administrator %s already, or was one: names are not used again',
                                        to_json(p_name)));
    END IF;
    INSERT INTO mailqueue.audit_events (actor, action, subject, detail)
    VALUES (p_actor, 'administrator.added', 'administrator ' || p_name,
            jsonb_build_object('hint', p_hint, 'expires_at', p_expires));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_administrator(text, bytea, text, timestamptz, text) IS
    'Add an administrator, who authenticates by a token; only the hash of the token is stored.';

CREATE OR REPLACE FUNCTION mailqueue.revoke_administrator(p_name text, p_actor text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_administers();
    UPDATE mailqueue.administrators AS a SET revoked_at = clock_timestamp()
     WHERE a.name = p_name AND a.revoked_at IS NULL;
    IF FOUND THEN
        INSERT INTO mailqueue.audit_events (actor, action, subject)
        VALUES (p_actor, 'administrator.revoked', 'administrator ' || p_name);
    END IF;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.revoke_administrator(text, text) IS
    'Revoke an administrator''s token immediately; false if there is no valid one.';

-- The last use is updated once a minute, without waiting for locks.
CREATE OR REPLACE FUNCTION mailqueue.find_administrator(p_hash bytea) RETURNS text
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT a.id, a.name, a.last_used_at FROM mailqueue.administrators AS a
         WHERE a.token_hash = p_hash AND a.revoked_at IS NULL
           AND (a.expires_at IS NULL OR a.expires_at > clock_timestamp())
    ), unnoted AS MATERIALIZED (
        SELECT a.id FROM mailqueue.administrators AS a JOIN found AS f ON f.id = a.id
         WHERE f.last_used_at IS NULL OR f.last_used_at < clock_timestamp() - interval '1 min'
           FOR NO KEY UPDATE OF a SKIP LOCKED
    ), noted AS (
        UPDATE mailqueue.administrators AS a SET last_used_at = clock_timestamp() FROM unnoted AS u WHERE a.id = u.id
    )
    SELECT f.name FROM found AS f
$$;
COMMENT ON FUNCTION mailqueue.find_administrator(bytea) IS
    'Name of the administrator with a valid token of that hash; NULL if there is none.';

-- p_prefix: the first characters of keys, as their hints show. p_hash: one key, for instance one that was leaked.
CREATE OR REPLACE FUNCTION mailqueue.revoke_keys(p_project text, p_prefix text, p_hash bytea, p_reason text,
    p_actor text DEFAULT session_user)
RETURNS TABLE (project text, name text, hint text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := CASE WHEN p_project IS NOT NULL THEN mailqueue.project_named(p_project) END;
BEGIN
    PERFORM mailqueue.check_administers();
    PERFORM mailqueue.check_text('reason', p_reason, 500);
    RETURN QUERY
        WITH gone AS (
            UPDATE mailqueue.api_keys AS k
               SET revoked_at = clock_timestamp(), revoked_reason = p_reason, revoked_by = p_actor
             WHERE k.revoked_at IS NULL AND (v_project IS NULL OR k.project_id = v_project)
               AND (p_prefix IS NULL OR starts_with(k.hint, p_prefix)) AND (p_hash IS NULL OR k.key_hash = p_hash)
            RETURNING k.project_id, k.id, k.name, k.hint
        ), told AS (
            INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
            SELECT g.project_id, p_actor, 'api_key.revoked', 'api key ' || g.name,
                   jsonb_strip_nulls(jsonb_build_object('id', g.id, 'hint', g.hint, 'reason', p_reason))
              FROM gone AS g
        )
        SELECT p.name, g.name, g.hint FROM gone AS g JOIN mailqueue.projects AS p ON p.id = g.project_id ORDER BY 1, 2;
END $$;
COMMENT ON FUNCTION mailqueue.revoke_keys(text, text, bytea, text, text) IS
    'Revoke keys of all projects immediately: all of them, or those of a project, with a prefix, or with a hash. '
    'Returns them.';
