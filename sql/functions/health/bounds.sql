-- Whether projects are near their bounds, and which are refused for all others' sake.

CREATE OR REPLACE FUNCTION mailqueue.health_of_bounds() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_full text[]; v_near text[]; v_first text;
BEGIN
    SELECT array_agg(b.told ORDER BY b.project, b.bound) FILTER (WHERE b.used >= b.most),
           array_agg(b.told ORDER BY b.project, b.bound) FILTER (WHERE b.used < b.most),
           min(format('mailqueue project set %s --%s N', b.project, replace(b.bound, '_', '-')))
      INTO v_full, v_near, v_first
      FROM (SELECT x.*, format('%s has %s of %s (%s)', x.project, x.used, x.most, x.bound) AS told
              FROM mailqueue.bounds_of_projects() AS x WHERE x.used >= x.most * 0.8) AS b;
    v_full := coalesce(v_full, '{}') || ARRAY(
        SELECT format('%s (%s)', p.name, r.told)
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
END $$;
COMMENT ON FUNCTION mailqueue.health_of_bounds() IS 'Rows of view health: projects near or at their bounds.';
