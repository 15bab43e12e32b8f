-- Isolation of tenants, and of test and live mail, inside the database: which project a transaction acts for, and the
-- checks and policies that depend on it.
--
-- In every transaction the API sets the project it acts for (mailqueue.project: an id, or * for administrators) and the
-- mode of the key (mailqueue.mode: test or live). Policies by project are in grants/, those by mode below; views and
-- functions with their owner's rights use these functions.

CREATE OR REPLACE FUNCTION mailqueue.tenant() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT nullif(nullif(current_setting('mailqueue.project', true), ''), '*')::uuid $$;
COMMENT ON FUNCTION mailqueue.tenant() IS 'The project that this transaction acts for; NULL: none, or all of them.';

-- Inlined into its callers, so that it costs no call.
CREATE OR REPLACE FUNCTION mailqueue.mode() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE pg_catalog.current_setting('mailqueue.mode', true) WHEN 'test' THEN true WHEN 'live' THEN false END
$$;
COMMENT ON FUNCTION mailqueue.mode() IS
    'Whether this transaction acts for a test key; false: for a live key, NULL: for neither, like workers and '
    'administrators.';

CREATE OR REPLACE FUNCTION mailqueue.is_test_email(p_id uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce((SELECT q.is_test FROM mailqueue.email_queue AS q WHERE q.id = p_id),
                    (SELECT h.is_test FROM mailqueue.email_history AS h WHERE h.id = p_id LIMIT 1), false)
$$;
COMMENT ON FUNCTION mailqueue.is_test_email(uuid) IS 'Whether a mail is test mail; false if it does not exist.';

CREATE OR REPLACE FUNCTION mailqueue.check_mode(p_is_test boolean) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF mailqueue.mode() AND NOT coalesce(p_is_test, false) THEN
        RAISE insufficient_privilege USING MESSAGE = 'this transaction acts for a test key';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_mode(boolean) IS
    'Raise an error for a live row in a transaction that acts for a test key.';

-- Without SECURITY DEFINER: it depends on the caller's role.
CREATE OR REPLACE FUNCTION mailqueue.sees_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE coalesce(current_setting('mailqueue.project', true), '')
               WHEN '*' THEN true
               -- No project is set: the API then sees nothing, other roles see all rows.
               WHEN '' THEN NOT pg_has_role(current_user, coalesce(to_regrole('mailqueue_api'), 0)::oid, 'USAGE')
                            OR pg_has_role(current_user, 'mailqueue_owner', 'USAGE')
               ELSE false
           END
$$;
COMMENT ON FUNCTION mailqueue.sees_all() IS 'Whether the caller sees rows of every project.';

CREATE OR REPLACE FUNCTION mailqueue.check_tenant(p_project uuid) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF mailqueue.tenant() IS NOT NULL AND mailqueue.tenant() IS DISTINCT FROM p_project THEN
        RAISE insufficient_privilege USING MESSAGE = 'this transaction acts for another project';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_tenant(uuid) IS
    'Raise an error for a row of another project than the transaction acts for.';

-- The API sees only rows of the project that a transaction acts for, whatever its statements: the isolation of tenants
-- inside the database.
--
-- Not on email_queue: services COPY into it, which policies do not allow. The API reads it through views and functions
-- only, which call tenant() themselves. Rows without a project belong to the platform: all may read its templates, and
-- nothing else of it.
DO $$
DECLARE
    t record;
    v_sees text;
BEGIN
    FOR t IN
        SELECT c.oid, c.relname, c.relrowsecurity, a.attname AS project
          FROM pg_catalog.pg_class AS c
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
                                           AND a.attname = CASE c.relname WHEN 'projects' THEN 'id'
                                                                          ELSE 'project_id' END
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND c.relname <> 'email_queue'
         ORDER BY c.relname
    LOOP
        IF NOT t.relrowsecurity THEN
            EXECUTE format('ALTER TABLE mailqueue.%I ENABLE ROW LEVEL SECURITY', t.relname);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS y WHERE y.polrelid = t.oid AND y.polname = 'everyone') THEN
            EXECUTE format('CREATE POLICY everyone ON mailqueue.%I USING (true) WITH CHECK (true)', t.relname);
        END IF;
        IF to_regrole('mailqueue_api') IS NOT NULL
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS y WHERE y.polrelid = t.oid AND y.polname = 'tenant') THEN
            v_sees := format('(SELECT mailqueue.sees_all()) OR %I = (SELECT mailqueue.tenant())', t.project);
            EXECUTE format('CREATE POLICY tenant ON mailqueue.%I AS RESTRICTIVE TO mailqueue_api USING (%s) WITH CHECK '
                           '(%s)',
                           t.relname,
                           v_sees || CASE WHEN t.relname LIKE 'template%' THEN ' OR project_id IS NULL' ELSE '' END,
                           v_sees);
        END IF;
    END LOOP;
END $$;

-- A test key sees and changes rows of test mode only: a second protection here as well. What belongs to a mail has the
-- mode of the mail. Live keys are restricted to live mail by statements and functions only; they manage keys of both
-- modes, and export everything that is stored about a person.
DO $$
DECLARE
    t record;
BEGIN
    IF to_regrole('mailqueue_api') IS NULL THEN
        RETURN;
    END IF;
    FOR t IN
        SELECT c.oid, c.relname, a.attname = 'is_test' AS has_mode
          FROM pg_catalog.pg_class AS c
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND NOT a.attisdropped
           AND a.attname = CASE WHEN c.relname IN ('email_recipients', 'send_logs') THEN 'email_id' ELSE 'is_test' END
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND c.relname <> 'email_queue'
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy AS y WHERE y.polrelid = c.oid AND y.polname = 'mode')
         ORDER BY c.relname
    LOOP
        EXECUTE format('CREATE POLICY mode ON mailqueue.%I AS RESTRICTIVE TO mailqueue_api USING ((SELECT '
                       'mailqueue.mode()) IS NOT TRUE OR %s)',
                       t.relname, CASE WHEN t.has_mode THEN 'is_test' ELSE 'mailqueue.is_test_email(email_id)' END);
    END LOOP;
END $$;
