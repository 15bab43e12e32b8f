-- The check of API keys that nothing uses.

CREATE OR REPLACE FUNCTION mailqueue.health_of_unused_keys() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT 'unused keys', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('not used for half a year: '
                    || mailqueue.some_words(array_agg(format('%s of %s', k.name, k.project) ORDER BY k.name)),
                    'every API key was used within half a year'),
           CASE WHEN count(*) > 0
                THEN format('mailqueue key revoke %s --project %s',
                            mailqueue.shell_word((array_agg(k.name ORDER BY k.name))[1]),
                            mailqueue.shell_word((array_agg(k.project ORDER BY k.name))[1])) END
      FROM (SELECT a.name, p.name AS project FROM mailqueue.api_keys AS a
              JOIN mailqueue.projects AS p ON p.id = a.project_id AND p.deleted_at IS NULL
             WHERE a.revoked_at IS NULL
               AND coalesce(a.last_used_at, a.created_at) < clock_timestamp() - interval '180 days' LIMIT 100) AS k
$$;
COMMENT ON FUNCTION mailqueue.health_of_unused_keys() IS 'The check of unused API keys, for the view health.';
