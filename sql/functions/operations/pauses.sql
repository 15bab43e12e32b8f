-- Pausing in one project, for the API and the console, whose transactions act for it. plpgsql: the view is made later.

CREATE OR REPLACE FUNCTION mailqueue.pauses_of_project(p_project uuid)
RETURNS TABLE (project text, kind text, name text, reason text, until timestamptz, actor text, since timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        SELECT v.project, v.kind, v.name, v.reason, v.until, v.actor, v.since
          FROM mailqueue.paused AS v
         WHERE p_project IS NULL OR v.project = (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = p_project);
END $$;
COMMENT ON FUNCTION mailqueue.pauses_of_project(uuid) IS 'What is paused now in a project; NULL: in every project.';

CREATE OR REPLACE FUNCTION mailqueue.pause_in_project(p_project uuid, p_kind text, p_name text, p_until timestamptz,
    p_reason text, p_by text)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN (SELECT mailqueue.pause_sending(p_kind, p.name, CASE p_kind WHEN 'project' THEN p.name ELSE p_name END,
                                           p_until, p_reason, p_by)
              FROM mailqueue.projects AS p WHERE p.id = p_project);
END $$;
COMMENT ON FUNCTION mailqueue.pause_in_project(uuid, text, text, timestamptz, text, text) IS
    'Pause mail of a project as pause_sending() does.';

CREATE OR REPLACE FUNCTION mailqueue.resume_in_project(p_project uuid, p_kind text, p_name text, p_by text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN (SELECT mailqueue.resume_sending(p_kind, p.name, CASE p_kind WHEN 'project' THEN p.name ELSE p_name END,
                                            p_by)
              FROM mailqueue.projects AS p WHERE p.id = p_project);
END $$;
COMMENT ON FUNCTION mailqueue.resume_in_project(uuid, text, text, text) IS
    'End a pause in a project as resume_sending() does; false if there was none.';

CREATE OR REPLACE FUNCTION mailqueue.campaign_has_emails(p_project uuid, p_name text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN EXISTS (SELECT FROM mailqueue.email_history AS h WHERE h.campaign_id = p_name AND h.project_id = p_project)
        OR EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.campaign_id = p_name AND q.project_id = p_project);
END $$;
COMMENT ON FUNCTION mailqueue.campaign_has_emails(uuid, text) IS
    'Whether a mail of the project, queued or finished, has the campaign.';

CREATE OR REPLACE FUNCTION mailqueue.newest_campaigns(p_project uuid, p_limit integer) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    RETURN QUERY
        SELECT s.value FROM mailqueue.stats_values AS s
         WHERE s.project_id = p_project AND s.dimension = 'campaign'
         GROUP BY s.value ORDER BY max(s.day) DESC, s.value LIMIT p_limit;
END $$;
COMMENT ON FUNCTION mailqueue.newest_campaigns(uuid, integer) IS
    'Campaigns of a project that have counts, newest first.';
