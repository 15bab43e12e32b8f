-- Reading of the audit log by pages, newest first. Ids rise with time, so a time is found by bisecting the ids, without
-- an index on times, and a search looks at a bounded number of rows.

CREATE OR REPLACE FUNCTION mailqueue.audit_id_at(p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_low bigint;
    v_high bigint;
    v_middle bigint;
    v_found record;
BEGIN
    SELECT min(e.id), max(e.id) + 1 INTO v_low, v_high FROM mailqueue.audit_events AS e;
    WHILE v_low < v_high LOOP
        v_middle := v_low + (v_high - v_low) / 2;
        SELECT e.id, e.occurred_at INTO v_found
          FROM mailqueue.audit_events AS e WHERE e.id >= v_middle ORDER BY e.id LIMIT 1;
        IF v_found.occurred_at >= p_at THEN
            v_high := v_middle;
        ELSE
            v_low := v_found.id + 1;
        END IF;
    END LOOP;
    RETURN coalesce(v_low, 0);
END $$;
COMMENT ON FUNCTION mailqueue.audit_id_at(timestamptz) IS
    'Id from which on audit rows are of that time or later, as far as ids rise with time.';

-- The minute allows for transactions that took an id and a time at about the same time, in another order.
CREATE OR REPLACE FUNCTION mailqueue.audit_span(p_before bigint, p_since timestamptz, p_until timestamptz,
    OUT first bigint, OUT last bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN p_since IS NULL THEN 0 ELSE mailqueue.audit_id_at(p_since - interval '1 min') END,
           least(coalesce(p_before, 9223372036854775807) - 1,
                 CASE WHEN p_until IS NOT NULL THEN mailqueue.audit_id_at(p_until + interval '1 min') END)
$$;
COMMENT ON FUNCTION mailqueue.audit_span(bigint, timestamptz, timestamptz) IS
    'First and last id of audit rows of a time, before the row with an id.';

CREATE OR REPLACE FUNCTION mailqueue.audit_page(p_project uuid, p_action text, p_before bigint, p_most integer,
    p_actor text DEFAULT NULL, p_subject text DEFAULT NULL, p_since timestamptz DEFAULT NULL,
    p_until timestamptz DEFAULT NULL, p_looked integer DEFAULT NULL)
RETURNS TABLE (id bigint, occurred_at timestamptz, project text, actor text, action text, subject text, detail jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_span record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO v_span FROM mailqueue.audit_span(p_before, p_since, p_until);
    RETURN QUERY
        SELECT e.id, e.occurred_at, p.name, e.actor, e.action, e.subject, e.detail
          FROM (SELECT l.*
                  FROM mailqueue.audit_events AS l
                 WHERE (p_project IS NULL OR l.project_id = p_project)
                   AND (mailqueue.tenant() IS NULL OR mailqueue.tenant() = l.project_id)
                   AND l.id BETWEEN v_span.first AND v_span.last
                 ORDER BY l.id DESC LIMIT p_looked) AS e
          LEFT JOIN mailqueue.projects AS p ON p.id = e.project_id
         WHERE (p_action IS NULL OR p_action IN (e.action, split_part(e.action, '.', 1), split_part(e.action, '.', 2)))
           AND (p_actor IS NULL OR strpos(lower(e.actor), lower(p_actor)) > 0)
           AND (p_subject IS NULL OR strpos(lower(e.subject), lower(p_subject)) > 0)
           AND (p_since IS NULL OR e.occurred_at >= p_since)
           AND (p_until IS NULL OR e.occurred_at < p_until)
         ORDER BY e.id DESC LIMIT p_most;
END $$;
COMMENT ON FUNCTION mailqueue.audit_page(uuid, text, bigint, integer, text, text, timestamptz, timestamptz, integer) IS
    'Audit rows of a project, or of all projects and the installation (NULL), newest first. p_action is a whole '
    'action, or the word before or after its point; p_actor and p_subject are parts of theirs. p_looked is the number '
    'of rows that are looked at; NULL for all.';

CREATE OR REPLACE FUNCTION mailqueue.audit_looked_until(p_project uuid, p_before bigint, p_since timestamptz,
    p_until timestamptz, p_looked integer)
RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
DECLARE
    v_span record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO v_span FROM mailqueue.audit_span(p_before, p_since, p_until);
    RETURN (SELECT e.id
              FROM mailqueue.audit_events AS e
             WHERE (p_project IS NULL OR e.project_id = p_project)
               AND (mailqueue.tenant() IS NULL OR mailqueue.tenant() = e.project_id)
               AND e.id BETWEEN v_span.first AND v_span.last
             ORDER BY e.id DESC OFFSET p_looked - 1 LIMIT 1);
END $$;
COMMENT ON FUNCTION mailqueue.audit_looked_until(uuid, bigint, timestamptz, timestamptz, integer) IS
    'Id of the last audit row that audit_page() looks at; NULL where it looks at all.';

CREATE OR REPLACE FUNCTION mailqueue.audit_event(p_project uuid, p_id bigint)
RETURNS TABLE (id bigint, occurred_at timestamptz, project text, actor text, action text, subject text, detail jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        SELECT e.id, e.occurred_at, p.name, e.actor, e.action, e.subject, e.detail
          FROM mailqueue.audit_events AS e LEFT JOIN mailqueue.projects AS p ON p.id = e.project_id
         WHERE e.id = p_id AND (p_project IS NULL OR e.project_id = p_project)
           AND (mailqueue.tenant() IS NULL OR mailqueue.tenant() = e.project_id);
END $$;
COMMENT ON FUNCTION mailqueue.audit_event(uuid, bigint) IS
    'An audit row of a project, or of any project or the installation (NULL).';
