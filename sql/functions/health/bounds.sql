-- Projects near a bound, and projects that are refused because the installation is full.

CREATE OR REPLACE FUNCTION mailqueue.health_of_bounds() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_full text[]; v_near text[]; v_first text;
BEGIN
    SELECT array_agg(b.sentence ORDER BY b.project, b.bound) FILTER (WHERE b.used >= b.most),
           array_agg(b.sentence ORDER BY b.project, b.bound) FILTER (WHERE b.used < b.most),
           min(format('mailqueue project change %s --%s N', b.project, replace(b.bound, '_', '-')))
      INTO v_full, v_near, v_first
      FROM (SELECT x.*, format('%s has %s of %s (%s)', x.project, x.used, x.most, x.bound) AS sentence
              FROM mailqueue.bounds_of_projects() AS x WHERE x.used >= x.most * 0.8) AS b;
    v_full := coalesce(v_full, '{}') || ARRAY(
        SELECT format('%s (%s)', p.name, r.message)
          FROM mailqueue.refusals AS r JOIN mailqueue.projects AS p ON p.id = r.project_id
         WHERE r.valid_until > clock_timestamp() ORDER BY p.name);
    RETURN QUERY SELECT 'project bounds',
        CASE WHEN v_full <> '{}' THEN 'alarm' WHEN v_near IS NOT NULL THEN 'warning' ELSE 'ok' END,
        CASE WHEN v_full <> '{}' THEN 'full, and refused: ' || mailqueue.some_words(v_full)
             WHEN v_near IS NOT NULL THEN 'above 80 percent: ' || mailqueue.some_words(v_near)
             ELSE 'every project is below 80 percent of its bounds' END,
        CASE WHEN v_full <> '{}' OR v_near IS NOT NULL
                  THEN coalesce('make room, or raise the bound: ' || v_first,
                                'send or cancel mail of these projects, or raise queued_emails_limit') END;

    SELECT array_agg(DISTINCT b.login::text ORDER BY b.login::text) INTO v_near
      FROM mailqueue.producer_projects AS b
     WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = b.login AND o.rolcanlogin);
    SELECT array_agg(DISTINCT b.login::text ORDER BY b.login::text) INTO v_full
      FROM mailqueue.producer_projects AS b
     WHERE NOT EXISTS (SELECT FROM mailqueue.producer_projects AS o
                         JOIN mailqueue.projects AS p ON p.id = o.project_id AND p.deleted_at IS NULL
                        WHERE o.login = b.login);
    RETURN QUERY SELECT 'producer logins',
        CASE WHEN num_nonnulls(v_near, v_full) > 0 THEN 'warning' ELSE 'ok' END,
        coalesce('bound to projects, but this server has no such login: ' || mailqueue.some_words(v_near),
                 'bound to deleted projects only: ' || mailqueue.some_words(v_full),
                 'every login that is bound to projects can log in and enqueue'),
        CASE WHEN num_nonnulls(v_near, v_full) > 0
                  THEN 'create the login, or unbind it: mailqueue producer remove '
                       || coalesce(v_near[1], v_full[1]) END;
END $$;
COMMENT ON FUNCTION mailqueue.health_of_bounds() IS
    'Rows of view health: projects near or at their bounds, logins bound to projects.';
