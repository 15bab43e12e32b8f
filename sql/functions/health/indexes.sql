-- Indexes that PostgreSQL keeps and does not use: what a CREATE INDEX CONCURRENTLY leaves that did not end.

CREATE OR REPLACE FUNCTION mailqueue.health_of_indexes() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
    WITH invalid AS (
        SELECT c.relname AS name, c.relname ~ '_cc(new|old)[0-9]*$' AS is_copy
          FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
         WHERE NOT i.indisvalid AND c.relkind = 'i' AND c.relnamespace = 'mailqueue'::regnamespace
           -- One that is being built is not valid yet.
           AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index AS p
                            WHERE p.index_relid = c.oid OR p.relid = i.indrelid)
    ), told AS (
        SELECT array_agg(v.name::text ORDER BY v.name) AS names,
               (array_agg(format(CASE WHEN v.is_copy THEN 'DROP INDEX CONCURRENTLY mailqueue.%I'
                                      ELSE 'REINDEX INDEX CONCURRENTLY mailqueue.%I' END, v.name)
                          ORDER BY v.name))[1] AS fix
          FROM invalid AS v
    )
    SELECT 'indexes', CASE WHEN t.names IS NULL THEN 'ok' ELSE 'warning' END,
           coalesce('not valid, as building them did not end: ' || mailqueue.some_words(t.names),
                    'every index is valid'),
           'mailqueue psql, and there ' || t.fix
      FROM told AS t
$$;
COMMENT ON FUNCTION mailqueue.health_of_indexes() IS 'Rows of view health: indexes that are not valid.';
