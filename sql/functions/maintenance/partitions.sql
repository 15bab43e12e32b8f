-- Monthly partitions, created ahead, so that every insert finds one.

-- LIKE and ATTACH instead of PARTITION OF: inserts continue meanwhile. A table that was being detached is attached
-- again.
CREATE OR REPLACE FUNCTION mailqueue.make_partitions_of(p_month date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    t record;
    v_month date := date_trunc('month', p_month::timestamp)::date;
    v_name text;
    v_made integer := 0;
BEGIN
    PERFORM mailqueue.lock_row('partitions');
    FOR t IN SELECT * FROM (VALUES ('email_contents', 'created_on'), ('email_history', 'finished_at'),
                                   ('send_logs', 'sent_at'), ('email_events', 'occurred_at'),
                                   ('attachments', 'created_on')) AS v(name, key) LOOP
        v_name := format('%s_%s', t.name, to_char(v_month, 'YYYY_MM'));
        CONTINUE WHEN (SELECT c.relispartition FROM pg_class AS c
                        WHERE c.oid = to_regclass(format('mailqueue.%I', v_name)));
        IF to_regclass(format('mailqueue.%I', v_name)) IS NULL THEN
            EXECUTE format('CREATE TABLE mailqueue.%I (LIKE mailqueue.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS '
                           'INCLUDING STORAGE)', v_name, t.name);
            v_made := v_made + 1;
        END IF;
        EXECUTE format('ALTER TABLE mailqueue.%I ATTACH PARTITION mailqueue.%I FOR VALUES FROM (%L) TO (%L)', t.name,
            v_name,
            CASE WHEN t.key = 'created_on' THEN v_month::text ELSE v_month::text || ' 00:00:00+00' END,
            CASE WHEN t.key = 'created_on' THEN (v_month + interval '1 month')::date::text
                 ELSE (v_month + interval '1 month')::date::text || ' 00:00:00+00' END);
        EXECUTE format('COMMENT ON TABLE mailqueue.%I IS %L', v_name,
                       format('%s of %s', t.name, to_char(v_month, 'YYYY-MM')));
    END LOOP;
    RETURN v_made;
END $$;
COMMENT ON FUNCTION mailqueue.make_partitions_of(date) IS
    'Create the partitions of the month of a day; returns the number created.';

CREATE OR REPLACE FUNCTION mailqueue.ensure_partitions(p_months_ahead integer) RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce(sum(mailqueue.make_partitions_of(
               (date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => m))::date)), 0)::integer
      FROM generate_series(-1, p_months_ahead) AS m
$$;
COMMENT ON FUNCTION mailqueue.ensure_partitions(integer) IS
    'Create the partitions of last month up to that many months ahead; returns the number created.';
