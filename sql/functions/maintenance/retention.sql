-- How long everything is kept, changed by hand; who did it stands in the audit.

-- p_project NULL: what holds where a project has no rule of its own.
CREATE OR REPLACE FUNCTION mailqueue.change_retention(p_project text, p_kind text, p_hot integer, p_warm integer, p_keep integer, p_by text)
RETURNS TABLE (project text, kind text, hot_days integer, warm_days integer, keep_days integer, is_own boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_project uuid := CASE WHEN p_project IS NOT NULL THEN mailqueue.project_named(p_project) END;
BEGIN
    PERFORM mailqueue.check_administers();
    RETURN QUERY SELECT coalesce(p_project, 'all'), r.kind, r.hot_days, r.warm_days, r.keep_days, true
      FROM mailqueue.retention_rules AS r WHERE r.project_id IS NOT DISTINCT FROM v_project AND r.kind = p_kind FOR UPDATE;
    INSERT INTO mailqueue.retention_rules (project_id, kind, hot_days, warm_days, keep_days)
    VALUES (v_project, p_kind, p_hot, p_warm, p_keep)
    ON CONFLICT ON CONSTRAINT retention_rules_project_id_kind_key
        DO UPDATE SET hot_days = excluded.hot_days, warm_days = excluded.warm_days, keep_days = excluded.keep_days;
    PERFORM mailqueue.record_operation(v_project, 'retention.changed', p_kind,
        jsonb_build_object('hot_days', p_hot, 'warm_days', p_warm, 'keep_days', p_keep), p_by);
EXCEPTION
    WHEN check_violation THEN
        PERFORM mailqueue.refuse('days', format(
            '%s takes hot days from 1, then warm days (where it has an archive), then keep days, each no less than the one before', to_json(p_kind)));
END $$;
COMMENT ON FUNCTION mailqueue.change_retention(text, text, integer, integer, integer, text) IS
    'Set how many days a kind of record is kept, for one project or (NULL) for all without a rule of their own; gives the rule before.';

CREATE OR REPLACE FUNCTION mailqueue.reset_retention(p_project text, p_kind text, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_project uuid := CASE WHEN p_project IS NOT NULL THEN mailqueue.project_named(p_project) END;
BEGIN
    PERFORM mailqueue.check_administers();
    DELETE FROM mailqueue.retention_rules AS r WHERE r.project_id = v_project AND r.kind = p_kind;
    IF FOUND THEN
        PERFORM mailqueue.record_operation(v_project, 'retention.reset', p_kind, '{}', p_by);
    END IF;
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.reset_retention(text, text, text) IS
    'Let what holds for all projects hold for this one; false where it had no rule of its own.';
