-- Retention rules: how long each kind of record is kept. Each change writes an audit row.

-- p_project NULL: the rule for projects without one of their own.
CREATE OR REPLACE FUNCTION mailqueue.change_retention(p_project text, p_kind text, p_hot integer, p_warm integer,
    p_keep integer, p_by text)
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
      FROM mailqueue.retention_rules AS r WHERE r.project_id IS NOT DISTINCT FROM v_project AND r.kind = p_kind
       FOR UPDATE;
    INSERT INTO mailqueue.retention_rules (project_id, kind, hot_days, warm_days, keep_days)
    VALUES (v_project, p_kind, p_hot, p_warm, p_keep)
    ON CONFLICT ON CONSTRAINT retention_rules_project_id_kind_key
        DO UPDATE SET hot_days = excluded.hot_days, warm_days = excluded.warm_days, keep_days = excluded.keep_days;
    PERFORM mailqueue.record_operation(v_project, 'retention.changed', p_kind,
        jsonb_build_object('hot_days', p_hot, 'warm_days', p_warm, 'keep_days', p_keep), p_by);
EXCEPTION
    WHEN check_violation THEN
        PERFORM mailqueue.refuse('days', format(
            '%s takes hot days from 1, then warm days (where it has an archive), then keep days, each no less than the '
            'one before',
            to_json(p_kind)));
END $$;
COMMENT ON FUNCTION mailqueue.change_retention(text, text, integer, integer, integer, text) IS
    'Set how many days a kind of record is kept, for one project or (NULL) for all without a rule of their own; '
    'returns the previous rule.';

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
    'Remove a project''s own rule, so that the general one applies; false if it had none.';

CREATE OR REPLACE FUNCTION mailqueue.check_retention_rule() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.retained_kinds;
BEGIN
    SELECT * INTO k FROM mailqueue.retained_kinds AS r WHERE r.kind = NEW.kind;
    IF k.kind IS NULL OR (NEW.project_id IS NOT NULL AND k.is_global)
       -- Only records that are stored by month can be archived; others are deleted at the end of their hot days.
       OR NOT (k.is_archived OR (NEW.keep_days IS NOT DISTINCT FROM NEW.hot_days AND NEW.warm_days IS NULL)) THEN
        RAISE EXCEPTION 'there is no such rule for %', to_json(NEW.kind) USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.check_retention_rule() IS
    'Raise an error for a rule that its kind of record cannot have.';

CREATE OR REPLACE TRIGGER retention_rules_check BEFORE INSERT OR UPDATE ON mailqueue.retention_rules
    FOR EACH ROW EXECUTE FUNCTION mailqueue.check_retention_rule();

-- For the owner. The time column of a table with many rows has an index.
CREATE OR REPLACE FUNCTION mailqueue.sweep_retained(p_kind text, p_most integer) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.retained_kinds;
    v_rows bigint;
BEGIN
    SELECT * INTO STRICT k FROM mailqueue.retained_kinds AS r WHERE r.kind = p_kind AND r.is_swept;
    EXECUTE format('DELETE FROM mailqueue.%1$I AS d WHERE d.ctid = ANY (ARRAY(SELECT o.ctid FROM mailqueue.%1$I AS o '
                   '%2$s LIMIT $2))', k.table_name,
                   CASE WHEN k.is_global
                        THEN format('WHERE o.%I < clock_timestamp() - make_interval(days => (
                                         SELECT r.keep_days FROM mailqueue.retention_rules AS r
                                          WHERE r.project_id IS NULL AND r.kind = $1))', k.time_column)
                        ELSE format('JOIN mailqueue.retention AS r ON r.project_id = o.project_id AND r.kind = $1
                                     WHERE o.%I < clock_timestamp() - make_interval(days => r.keep_days)',
                                    k.time_column) END
                   || CASE WHEN k.ended_column IS NOT NULL THEN format(' AND o.%I IS NOT NULL', k.ended_column)
                           ELSE '' END)
      USING p_kind, p_most;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_retained(text, integer) IS
    'Delete a batch of rows of a kind whose retention is over; returns the number deleted.';
