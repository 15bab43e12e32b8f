-- Comments of columns, which the files of sql/comments hold.

-- Sets the comments of a table's or view's columns that differ: a comment that is set again would wait for VACUUM.
CREATE OR REPLACE FUNCTION mailqueue.describe_columns(p_relation text, p_comments text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT n.name, n.comment, a.attnum, col_description(c.oid, a.attnum) AS is_now
          FROM pg_class AS c
          CROSS JOIN LATERAL (SELECT p_comments[i][1] AS name, p_comments[i][2] AS comment
                                FROM generate_subscripts(p_comments, 1) AS i) AS n
          LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = n.name AND NOT a.attisdropped
         WHERE c.oid = format('mailqueue.%I', p_relation)::regclass
    LOOP
        IF r.attnum IS NULL THEN
            RAISE EXCEPTION '% has no column %', p_relation, r.name USING ERRCODE = 'undefined_column';
        END IF;
        IF r.is_now IS DISTINCT FROM r.comment THEN
            EXECUTE format('COMMENT ON COLUMN mailqueue.%I.%I IS %L', p_relation, r.name, r.comment);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.describe_columns(text, text[]) IS
    'Sets comments of columns, given as pairs of name and comment; used by migrations.';

-- Comments of columns that many tables have, and of columns of views, where they have none of their own: each upgrade
-- makes a view anew, which takes the comments of the columns that it shows.
CREATE OR REPLACE FUNCTION mailqueue.describe_shared_columns(p_comments text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT c.relname, a.attname, coalesce(s.comment, t.comment) AS comment
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          LEFT JOIN LATERAL (SELECT p_comments[i][2] AS comment FROM generate_subscripts(p_comments, 1) AS i
                              WHERE p_comments[i][1] = a.attname) AS s ON c.relkind = 'r'
          LEFT JOIN LATERAL (SELECT max(col_description(b.attrelid, b.attnum)) AS comment
                               FROM pg_rewrite AS w
                               JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid
                                    AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0
                               JOIN pg_attribute AS b ON b.attrelid = d.refobjid AND b.attnum = d.refobjsubid
                              WHERE w.ev_class = c.oid AND b.attname = a.attname) AS t ON c.relkind = 'v'
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'v') AND NOT c.relispartition
           AND col_description(c.oid, a.attnum) IS NULL AND coalesce(s.comment, t.comment) IS NOT NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN mailqueue.%I.%I IS %L', r.relname, r.attname, r.comment);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.describe_shared_columns(text[]) IS
    'Sets comments of columns that have none: of tables by the given pairs of name and comment, of views from the '
    'tables they show; used by migrations.';
