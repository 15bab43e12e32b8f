-- The second line between tenants: whom a transaction acts for, and what functions with the owner's rights make of it.
--
-- The API says in every transaction whom it acts for (mailqueue.project: an id, or * for administrators). Policies on the tables
-- are in grants.sql; views and functions that run with the owner's rights ask here.

CREATE OR REPLACE FUNCTION mailqueue.tenant() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT nullif(nullif(current_setting('mailqueue.project', true), ''), '*')::uuid $$;
COMMENT ON FUNCTION mailqueue.tenant() IS 'The project this transaction acts for; NULL: none, or all of them.';

-- Not with the owner''s rights: it asks who asks.
CREATE OR REPLACE FUNCTION mailqueue.sees_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE coalesce(current_setting('mailqueue.project', true), '')
               WHEN '*' THEN true
               -- Nobody is named: that is nothing for the API, and usual for everybody else.
               WHEN '' THEN NOT pg_has_role(current_user, coalesce(to_regrole('mailqueue_api'), 0)::oid, 'USAGE')
                            OR pg_has_role(current_user, 'mailqueue_owner', 'USAGE')
               ELSE false
           END
$$;
COMMENT ON FUNCTION mailqueue.sees_all() IS 'Whether rows of every project are shown to whoever asks.';

CREATE OR REPLACE FUNCTION mailqueue.check_tenant(p_project uuid) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF mailqueue.tenant() IS NOT NULL AND mailqueue.tenant() IS DISTINCT FROM p_project THEN
        RAISE insufficient_privilege USING MESSAGE = 'this transaction acts for another project';
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_tenant(uuid) IS 'Refuse what concerns another project than this transaction acts for.';
