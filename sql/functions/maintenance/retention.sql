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

-- FROM and WHERE of a statement about rows o of a kind that are older than their retention by some days. p_sample: of
-- how many percent of the pages.
CREATE OR REPLACE FUNCTION mailqueue.past_retention(k mailqueue.retained_kinds, p_days integer,
    p_sample double precision DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT format('FROM mailqueue.%I AS o', k.table_name)
        || CASE WHEN p_sample IS NOT NULL THEN format(' TABLESAMPLE SYSTEM (%s)', p_sample) ELSE '' END
        || CASE WHEN k.is_global THEN ''
                ELSE format(' JOIN mailqueue.retention AS r ON r.project_id = o.project_id AND r.kind = %L', k.kind) END
        || format(' WHERE %s < %s - %s',
                  CASE WHEN k.else_column IS NULL THEN format('o.%I', k.time_column)
                       ELSE format('coalesce(o.%I, o.%I)', k.time_column, k.else_column) END,
                  CASE WHEN t.is_date THEN '(clock_timestamp() AT TIME ZONE ''UTC'')::date'
                       ELSE 'clock_timestamp()' END,
                  format(CASE WHEN t.is_date THEN '(%s + %s)' ELSE 'make_interval(days => %s + %s)' END,
                         CASE WHEN k.is_global
                              THEN format('(SELECT r.keep_days FROM mailqueue.retention_rules AS r '
                                          'WHERE r.project_id IS NULL AND r.kind = %L)', k.kind)
                              ELSE 'r.keep_days' END,
                         p_days))
        || CASE WHEN k.ended_column IS NOT NULL THEN format(' AND o.%I IS NOT NULL', k.ended_column) ELSE '' END
        || CASE WHEN k.kept_while IS NOT NULL THEN format(' AND NOT (%s)', k.kept_while) ELSE '' END
      FROM (SELECT a.atttypid = 'date'::regtype AS is_date FROM pg_catalog.pg_attribute AS a
             WHERE a.attrelid = format('mailqueue.%I', k.table_name)::regclass AND a.attname = k.time_column) AS t
$$;
COMMENT ON FUNCTION mailqueue.past_retention(mailqueue.retained_kinds, integer, double precision) IS
    'FROM and WHERE of the rows of a kind that are kept longer than their retention and some days.';

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
    EXECUTE format('DELETE FROM mailqueue.%I AS d WHERE d.ctid = ANY (ARRAY(SELECT o.ctid %s LIMIT $1))', k.table_name,
                   mailqueue.past_retention(k, 0))
      USING p_most;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END $$;
COMMENT ON FUNCTION mailqueue.sweep_retained(text, integer) IS
    'Delete a batch of rows of a kind whose retention is over; returns the number deleted.';

-- For doctor. Of a large table some pages are read: where its sweep has not run for long, many have old rows.
CREATE OR REPLACE FUNCTION mailqueue.kinds_past_retention(p_days integer, p_pages integer)
RETURNS TABLE (kind text, table_name text, oldest timestamptz)
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    k mailqueue.retained_kinds;
    v_pages bigint;
BEGIN
    FOR k IN SELECT r.* FROM mailqueue.retained_kinds AS r WHERE NOT r.is_archived ORDER BY r.kind LOOP
        v_pages := pg_relation_size(format('mailqueue.%I', k.table_name)::regclass)
                   / current_setting('block_size')::integer;
        EXECUTE format('SELECT min(%s)::timestamptz %s',
                       CASE WHEN k.else_column IS NULL THEN format('o.%I', k.time_column)
                            ELSE format('coalesce(o.%I, o.%I)', k.time_column, k.else_column) END,
                       mailqueue.past_retention(k, p_days,
                                                CASE WHEN v_pages > p_pages THEN 100.0 * p_pages / v_pages END))
           INTO oldest;
        IF oldest IS NOT NULL THEN
            kind := k.kind; table_name := k.table_name;
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.kinds_past_retention(integer, integer) IS
    'Kinds of records with rows that are older than their retention by some days, and the oldest row seen; the '
    'archive''s kinds left out.';
