-- Lists of suppressed addresses: importing many at once, removing some. Each change writes an audit row.

-- Of two rows for one address and category the one that lasts longer stays; of equal ones, the first.
CREATE OR REPLACE FUNCTION mailqueue.take_suppression_lines(p_project uuid, p_import uuid, p_by text)
    RETURNS TABLE (line integer, outcome text)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_nestloop = off SET jit = off                      -- rows copied a moment ago have no statistics
AS $$
    SELECT mailqueue.check_tenant(p_project);
    SELECT mailqueue.check_instant('expires_at', max(l.expires_at), true) FROM mailqueue.suppression_lines AS l
     WHERE l.import_id = p_import AND l.expires_at < 'infinity';      -- infinity: permanent
    WITH lines AS (
        DELETE FROM mailqueue.suppression_lines AS l WHERE l.import_id = p_import
        RETURNING l.line, mailqueue.address_key(l.address) AS address, l.category, l.reason, l.detail, l.expires_at
    ), wanted AS (
        SELECT DISTINCT ON (l.address, l.category) l.* FROM lines AS l
         ORDER BY l.address, l.category, l.expires_at DESC, l.line
    ), hashed AS (
        -- computed like address_hash(),
        SELECT w.*, sha256(k.outer_pad || sha256(k.inner_pad || convert_to(w.address, 'UTF8'))) AS address_hash
          -- at a tenth of its cost
          FROM wanted AS w LEFT JOIN mailqueue.address_keys AS k ON k.project_id = p_project
    ), known AS MATERIALIZED (
        SELECT e.address_hash, e.category, e.expires_at FROM mailqueue.suppressions AS e
         WHERE e.project_id = p_project AND e.address IS NULL
    ), written AS (
        INSERT INTO mailqueue.suppressions AS s (project_id, address, category, reason, detail, expires_at,
                                                 address_hash, source)
        SELECT p_project, h.address, h.category, h.reason, h.detail, h.expires_at, h.address_hash, p_by
          FROM hashed AS h
         WHERE NOT EXISTS (SELECT FROM known AS n      -- by hash: that row stays
                            WHERE n.address_hash = h.address_hash AND n.category = h.category
                              AND n.expires_at >= h.expires_at)
         ORDER BY h.address, h.category    -- ordered, so that transactions cannot deadlock
        ON CONFLICT (project_id, address, category)
        DO UPDATE SET reason = excluded.reason, detail = excluded.detail, expires_at = excluded.expires_at,
                      created_at = now(), email_id = NULL, source = excluded.source
         WHERE s.expires_at < excluded.expires_at
        RETURNING s.address, s.category, s.xmax = 0 AS is_new  -- there was no row version before
    ), told AS (
        SELECT l.line,
               CASE WHEN t.is_new THEN 'added' WHEN NOT t.is_new THEN 'renewed' ELSE 'there_already' END AS outcome
          FROM lines AS l
          LEFT JOIN wanted AS w ON w.line = l.line AND w.address = l.address  -- a line may be one of two spellings
          LEFT JOIN written AS t ON t.address = w.address AND t.category = w.category
    ), noted AS (
        INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
        SELECT p_project, p_by, 'suppressions.added', 'project ' || p.name,
               jsonb_build_object('added', count(*) FILTER (WHERE t.outcome = 'added'), 'renewed',
                                  count(*) FILTER (WHERE t.outcome = 'renewed'))
          FROM told AS t, mailqueue.projects AS p WHERE p.id = p_project AND t.outcome <> 'there_already'
         GROUP BY p.name
    )
    SELECT t.line, min(t.outcome) FROM told AS t GROUP BY t.line
$$;
COMMENT ON FUNCTION mailqueue.take_suppression_lines(uuid, uuid, text) IS
    'Suppress the lines copied to suppression_lines with this id; returns for each whether it was added, renewed or '
    'already there.';

-- Removing an address that bounced or complained needs a reason. The address is removed from the lists of bounces and
-- unsubscribes as well, because their next change would suppress it again. The previous values are kept, with who
-- removed them.

CREATE OR REPLACE FUNCTION mailqueue.remove_suppressions(p_project uuid, p_addresses text[], p_hash bytea,
    p_category text, p_why text, p_by text)
    RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_reasons text[];
    v_hashes bytea[] := array_remove(p_hash
                                     || ARRAY(SELECT mailqueue.address_hash(p_project, a)
                                                FROM unnest(p_addresses) AS a),
                                     ''::bytea);
    v_count integer;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT array_agg(DISTINCT r.reason ORDER BY r.reason) FILTER (WHERE r.is_in_force),
           count(*) FILTER (WHERE r.is_in_force)
      INTO v_reasons, v_count
      FROM (SELECT s.id, s.reason, s.expires_at > now() AS is_in_force
              FROM mailqueue.suppressions AS s
             WHERE s.project_id = p_project AND s.address_hash = ANY (v_hashes)
               AND (p_category IS NULL OR s.category = p_category)
             ORDER BY s.address, s.category FOR UPDATE) AS r;
    IF v_count = 0 THEN
        RETURN 0;
    END IF;
    IF coalesce(p_category, '') = '' THEN
        SELECT array_agg(DISTINCT e.reason ORDER BY e.reason) INTO v_reasons
          FROM (SELECT unnest(v_reasons) UNION ALL
                SELECT CASE b.bounce_type WHEN 'hard' THEN 'hard_bounce' ELSE 'complaint' END
                  FROM mailqueue.bounce_list AS b
                 WHERE b.project_id = p_project AND b.email = ANY (p_addresses)
                   AND b.bounce_type IN ('hard', 'complaint'))
            AS e(reason);
    END IF;
    IF v_reasons && ARRAY['hard_bounce', 'complaint'] AND coalesce(btrim(p_why), '') = '' THEN
        PERFORM mailqueue.refuse('why', format('is needed for an address with %s: say why it may be written to again',
                                               array_to_string(v_reasons, ' and ')));
    END IF;
    WITH gone AS (
        DELETE FROM mailqueue.suppressions AS s
         WHERE s.project_id = p_project AND s.address_hash = ANY (v_hashes)
           AND (p_category IS NULL OR s.category = p_category)
        RETURNING s.*
    )
    INSERT INTO mailqueue.suppression_history (project_id, address_hash, address, category, reason, detail, email_id,
                                               source, created_at, expires_at, ended_by, ended_why)
    SELECT g.project_id, g.address_hash, g.address, g.category, g.reason, g.detail, g.email_id, g.source, g.created_at,
           g.expires_at, p_by, nullif(btrim(left(p_why, 500)), '')
      FROM gone AS g;
    DELETE FROM mailqueue.bounce_list AS b
     WHERE b.project_id = p_project AND b.email = ANY (p_addresses) AND coalesce(p_category, '') = '';
    DELETE FROM mailqueue.unsubscribe_list AS u
     WHERE u.project_id = p_project AND u.email = ANY (p_addresses) AND (p_category IS NULL OR u.category = p_category);
    DELETE FROM mailqueue.subscription_preferences AS f
     WHERE f.project_id = p_project AND f.address_hash = ANY (v_hashes)
       AND (p_category IS NULL OR f.category = p_category);
    -- The audit outlives an erasure: it names the hash.
    INSERT INTO mailqueue.audit_events (project_id, actor, action, subject, detail)
    VALUES (p_project, p_by, 'suppression.removed', 'address ' || encode(v_hashes[1], 'hex'),
            jsonb_strip_nulls(jsonb_build_object('reasons', v_reasons, 'category', p_category, 'why',
                                                 nullif(btrim(left(p_why, 500)), ''))));
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.remove_suppressions(uuid, text[], bytea, text, text, text) IS
    'Remove suppressions of an address, given or by its hash, in a category or (NULL) all; returns the number '
    'removed. Raises 22023 if a reason is needed.';

-- By the index on age, whatever the statistics of a recently filled table: a page must not sort all rows.
CREATE OR REPLACE FUNCTION mailqueue.list_suppressions(p_project uuid, p_before bigint, p_most integer, p_reason text,
    p_category text, p_having text)
    RETURNS SETOF mailqueue.suppressions
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off SET jit = off
AS $$
    SELECT s.* FROM mailqueue.suppressions AS s
     WHERE s.project_id = p_project AND s.id < coalesce(p_before, 9223372036854775807)
       AND (p_reason IS NULL OR s.reason = p_reason)
       AND (p_category IS NULL OR s.category = p_category)
       AND (p_having IS NULL OR position((SELECT mailqueue.address_key(p_having)) IN s.address) > 0
            -- labels of a domain as people write them
            OR position((SELECT mailqueue.domain_key(p_having)) IN s.address) > 0)
       AND s.expires_at > now()
     ORDER BY s.id DESC LIMIT p_most
$$;
COMMENT ON FUNCTION mailqueue.list_suppressions(uuid, bigint, integer, text, text, text) IS
    'Suppressions in force after one, newest first; parameters that are NULL do not filter.';
