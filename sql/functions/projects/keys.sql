-- API keys: found by their hash, created, changed, rotated, revoked. Every change writes an audit row.

INSERT INTO mailqueue.system_settings (name, value, kind, meaning) VALUES
    ('requests_per_key', '100', 'count', 'requests a key may make in 10 s unless it has a rate of its own; 0: no limit')
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, meaning = excluded.meaning
   WHERE (system_settings.kind, system_settings.meaning) <> (excluded.kind, excluded.meaning);

-- The last use is updated once a minute, or when the address changes, without waiting for locks.
CREATE OR REPLACE FUNCTION mailqueue.find_api_key(p_hash bytea, p_from inet)
RETURNS TABLE (id uuid, project_id uuid, project text, is_test boolean, trap_sender text, name text, scopes text[],
               requests_per_second double precision, project_requests_per_second double precision)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    k record;
BEGIN
    SELECT o.*, p.name AS project, p.requests_per_second AS project_requests INTO k
      FROM mailqueue.api_keys AS o JOIN mailqueue.projects AS p ON p.id = o.project_id
     WHERE o.key_hash = p_hash AND o.revoked_at IS NULL
       AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
       AND p.deleted_at IS NULL;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF k.last_used_at IS NULL OR k.last_used_at < clock_timestamp() - interval '1 min'
       OR (p_from IS DISTINCT FROM k.last_used_from AND k.last_used_at < clock_timestamp() - interval '5 s') THEN
        UPDATE mailqueue.api_keys AS o
           SET last_used_at = clock_timestamp(), last_used_from = coalesce(p_from, o.last_used_from)
         WHERE o.id = (SELECT u.id FROM mailqueue.api_keys AS u WHERE u.id = k.id FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    RETURN QUERY SELECT k.id, k.project_id, k.project, k.is_test,
        CASE WHEN k.is_test THEN (SELECT a.name FROM mailqueue.sender_accounts AS a
                                   WHERE a.project_id = k.project_id AND a.provider = 'trap' ORDER BY a.priority, a.id
                                   LIMIT 1) END,
        k.name, k.scopes,
        coalesce(k.requests_per_second,
                 nullif(mailqueue.system_number('requests_per_key'), 0) / 10.0)::double precision,
        k.project_requests::double precision;
END $$;
COMMENT ON FUNCTION mailqueue.find_api_key(bytea, inet) IS
    'Project and rights of the valid key with that hash; no row if there is none.';

-- Processes cache keys for a moment; before a request changes anything, the key must still be valid.
CREATE OR REPLACE FUNCTION mailqueue.keys_in_force(p_ids uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(array_agg(k.id), '{}')
      FROM mailqueue.api_keys AS k JOIN mailqueue.projects AS p ON p.id = k.project_id
     WHERE k.id = ANY (p_ids) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
       AND p.deleted_at IS NULL
$$;
COMMENT ON FUNCTION mailqueue.keys_in_force(uuid[]) IS 'Those of these keys that are valid now.';

-- The argument of a statement that accepts for keys: it is evaluated before anything is written, and saves a statement.
CREATE OR REPLACE FUNCTION mailqueue.project_of_keys(p_project text, p_keys uuid[]) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF cardinality(mailqueue.keys_in_force(p_keys)) < cardinality(p_keys) THEN
        RAISE EXCEPTION 'this API key is not valid' USING ERRCODE = 'MQ004';
    END IF;
    RETURN p_project;
END $$;
COMMENT ON FUNCTION mailqueue.project_of_keys(text, uuid[]) IS
    'The name of the project; raises MQ004 unless each of these different keys is valid now. p_keys NULL: no check.';

CREATE OR REPLACE FUNCTION mailqueue.key_words(k mailqueue.api_keys) RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object('id', k.id, 'hint', k.hint, 'is_test', k.is_test, 'scopes', k.scopes,
                                                'expires_at', k.expires_at, 'requests_per_second',
                                                k.requests_per_second))
$$;
COMMENT ON FUNCTION mailqueue.key_words(mailqueue.api_keys) IS 'A key as the audit shows it.';

-- A transaction that adds a key waits for others that do, so that together they add no more.
CREATE OR REPLACE FUNCTION mailqueue.check_room_for_key(p_project uuid, p_field text, p_hint text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_keys CONSTANT integer := 1000;                         -- of a project that are valid, rotated ones included
BEGIN
    PERFORM FROM mailqueue.projects AS p WHERE p.id = p_project FOR NO KEY UPDATE;
    IF (SELECT count(*) >= c_keys FROM mailqueue.api_keys AS o
         WHERE o.project_id = p_project AND o.revoked_at IS NULL
           AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())) THEN
        PERFORM mailqueue.refuse(p_field, format('the project has %s valid keys, the most it may have: %s', c_keys,
                                                 p_hint));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_room_for_key(uuid, text, text) IS
    'Raise 22023 naming a field if a project has as many valid keys as it may have.';

CREATE OR REPLACE FUNCTION mailqueue.issue_api_key(p_project uuid, p_name text, p_hash bytea, p_hint text,
    p_is_test boolean, p_scopes text[],
                                                   p_expires_at timestamptz, p_requests_per_second integer) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.api_keys;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(p_is_test);
    PERFORM mailqueue.check_instant('expires_at', p_expires_at, true);
    PERFORM mailqueue.check_room_for_key(p_project, 'name', 'revoke one');
    INSERT INTO mailqueue.api_keys AS o (project_id, name, key_hash, hint, is_test, scopes, expires_at,
                                         requests_per_second)
    VALUES (p_project, p_name, p_hash, p_hint, p_is_test, p_scopes, p_expires_at, p_requests_per_second) RETURNING o.*
      INTO k;
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    VALUES (p_project, 'api_key.created', 'api key ' || k.name, mailqueue.key_words(k));
    RETURN k.id;
END $$;
COMMENT ON FUNCTION mailqueue.issue_api_key(uuid, text, bytea, text, boolean, text[], timestamptz, integer) IS
    'Create an API key of a project; only its hash is stored.';

CREATE OR REPLACE FUNCTION mailqueue.change_api_key(p_project uuid, p_id uuid, p_changes jsonb) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.api_keys;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.api_keys AS o
       SET name = coalesce(p_changes ->> 'name', o.name),
           requests_per_second = CASE WHEN p_changes ? 'requests_per_second'
                                           THEN (p_changes ->> 'requests_per_second')::integer
                                      ELSE o.requests_per_second END
     WHERE o.project_id = p_project AND o.id = p_id AND o.revoked_at IS NULL
       AND (mailqueue.mode() IS NOT TRUE OR o.is_test)
    RETURNING o.* INTO k;
    IF k.id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    VALUES (p_project, 'api_key.changed', 'api key ' || k.name, p_changes || jsonb_build_object('id', k.id));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.change_api_key(uuid, uuid, jsonb) IS
    'Change name or rate of a valid key; false if the project has none with that id.';

-- The old key remains valid for a grace period, so that its users can switch to the new one.
CREATE OR REPLACE FUNCTION mailqueue.rotate_api_key(p_project uuid, p_id uuid, p_hash bytea, p_hint text,
    p_grace interval, p_expires_at timestamptz)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.api_keys;
    n mailqueue.api_keys;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF p_grace > interval '0' THEN                           -- both keys are valid then
        PERFORM mailqueue.check_room_for_key(p_project, 'grace', 'rotate without a grace period, or revoke one');
    END IF;
    UPDATE mailqueue.api_keys AS o
       SET rotated_at = clock_timestamp(), expires_at = least(o.expires_at, clock_timestamp() + p_grace)
     WHERE o.project_id = p_project AND o.id = p_id AND o.revoked_at IS NULL AND o.rotated_at IS NULL
       AND (mailqueue.mode() IS NOT TRUE OR o.is_test)
       AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())
    RETURNING o.* INTO k;
    IF k.id IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO mailqueue.api_keys AS o (project_id, name, key_hash, hint, is_test, scopes, expires_at,
                                         requests_per_second)
    VALUES (p_project, k.name, p_hash, p_hint, k.is_test, k.scopes, least(p_expires_at, now() + interval '10 years'),
            k.requests_per_second)
    RETURNING o.* INTO n;
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    VALUES (p_project, 'api_key.rotated', 'api key ' || k.name,
            mailqueue.key_words(n) || jsonb_build_object('old', k.id, 'old_until', k.expires_at));
    RETURN n.id;
END $$;
COMMENT ON FUNCTION mailqueue.rotate_api_key(uuid, uuid, bytea, text, interval, timestamptz) IS
    'Replace a valid key by a new one; the old one expires after the grace period. NULL if the project has no such '
    'key, or it was rotated before.';

CREATE OR REPLACE FUNCTION mailqueue.revoke_api_key(p_project uuid, p_id uuid, p_reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.api_keys;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    UPDATE mailqueue.api_keys AS o
       SET revoked_at = clock_timestamp(), revoked_reason = p_reason,
           revoked_by = coalesce(nullif(current_setting('mailqueue.actor', true), ''), session_user)
     WHERE o.project_id = p_project AND o.id = p_id AND o.revoked_at IS NULL
       AND (mailqueue.mode() IS NOT TRUE OR o.is_test)
    RETURNING o.* INTO k;
    IF k.id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.audit_events (project_id, action, subject, detail)
    VALUES (p_project, 'api_key.revoked', 'api key ' || k.name,
            jsonb_strip_nulls(jsonb_build_object('id', k.id, 'hint', k.hint, 'reason', p_reason)));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.revoke_api_key(uuid, uuid, text) IS
    'Revoke a key immediately; false if the project has no valid key with that id.';
