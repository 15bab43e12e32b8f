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
