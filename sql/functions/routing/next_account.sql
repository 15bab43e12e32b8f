-- Mail that an account refused temporarily is tried by the next candidate: it moves to a lane beside its own, with the
-- accounts in another order: those after the one that refused it, those before it, and that one last.

CREATE OR REPLACE FUNCTION mailqueue.rotated(p_limits integer[], p_limit integer) RETURNS integer[]
LANGUAGE sql IMMUTABLE
AS $$
    SELECT coalesce(p_limits[array_position(p_limits, p_limit) + 1:] || p_limits[:array_position(p_limits, p_limit)],
                    p_limits)
$$;
COMMENT ON FUNCTION mailqueue.rotated(integer[], integer) IS 'Candidates rotated so that this one is last.';

-- Idempotent: for each of these ordinary lanes with several candidates, a lane for each that may refuse its mail. Lanes
-- of a project that has had fewer accounts have 20 candidates at most: more would be written with each account.
CREATE OR REPLACE FUNCTION mailqueue.make_next_lanes_of(p_project uuid, p_homes integer[]) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    INSERT INTO mailqueue.lanes AS l (project_id, priority, route, weight, project_limit, account_limits, home_route,
                                      pause_kind, pause_value)
    SELECT h.project_id, h.priority, h.route || '|next:' || c.id, h.weight, h.project_limit,
           mailqueue.rotated(h.account_limits, c.id), h.route,
           'next', c.id::text
      FROM mailqueue.lanes AS h CROSS JOIN LATERAL unnest(h.account_limits) AS c(id)
     WHERE h.id = ANY (p_homes) AND cardinality(h.account_limits) BETWEEN 2 AND 20
    ON CONFLICT (project_id, priority, route) DO NOTHING;
    UPDATE mailqueue.lanes AS l
       SET account_limits = (mailqueue.rotated(b.home_limits, l.pause_value::integer))[:20]
      FROM mailqueue.lanes_beside(p_homes) AS b
     WHERE l.id = b.id AND l.pause_kind = 'next'
       AND l.account_limits IS DISTINCT FROM (mailqueue.rotated(b.home_limits, l.pause_value::integer))[:20];
$$;
COMMENT ON FUNCTION mailqueue.make_next_lanes_of(uuid, integer[]) IS
    'Create or update the lanes for mail of these lanes that one of their accounts refused temporarily.';

CREATE OR REPLACE FUNCTION mailqueue.make_next_lanes(p_project uuid) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.make_next_lanes_of(p_project, ARRAY(
           SELECT h.id FROM mailqueue.lanes AS h WHERE h.project_id = p_project AND h.home_route IS NULL))
$$;
COMMENT ON FUNCTION mailqueue.make_next_lanes(uuid) IS
    'Create or update the lanes for mail that an account of a project refused temporarily.';

-- For settling. NULL: the mail stays in its lane, because there is no other candidate, or the lane is that of a domain.
CREATE OR REPLACE FUNCTION mailqueue.next_lane(p_lane integer, p_account integer) RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT n.id
      FROM mailqueue.lanes AS l
      JOIN mailqueue.limits AS m ON m.sender_account_id = p_account
      JOIN mailqueue.lanes AS n ON n.project_id = l.project_id AND n.priority = l.priority
       AND n.route = coalesce(l.home_route, l.route) || '|next:' || m.id
     WHERE l.id = p_lane AND cardinality(l.account_limits) > 1 AND coalesce(l.pause_kind, 'next') = 'next'
$$;
COMMENT ON FUNCTION mailqueue.next_lane(integer, integer) IS
    'Lane in which mail that this account refused temporarily tries the next one.';

-- For settling and rescue. Mail that was handed over without an answer stays with its account: it moves to the lane of
-- mail that names that account, or to the one beside it for a domain with a rate. NULL: it stays in its lane, because
-- it is test mail or its project allows another account.
CREATE OR REPLACE FUNCTION mailqueue.kept_lane(p_lane integer, p_account integer) RETURNS integer
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT n.id
      FROM mailqueue.lanes AS l
      JOIN mailqueue.projects AS p ON p.id = l.project_id AND NOT p.resend_elsewhere
      JOIN mailqueue.sender_accounts AS a ON a.id = p_account AND a.project_id = l.project_id
      JOIN mailqueue.lanes AS n ON n.project_id = l.project_id AND n.priority = l.priority
       AND n.route IN (a.name, a.name || '|' || l.pause_kind || ':' || l.pause_value)
     WHERE l.id = p_lane AND coalesce(l.home_route, l.route) NOT LIKE '(test)%'
     ORDER BY length(n.route) DESC LIMIT 1
$$;
COMMENT ON FUNCTION mailqueue.kept_lane(integer, integer) IS
    'Lane in which mail of unknown outcome stays with this account.';

CREATE OR REPLACE FUNCTION mailqueue.unknown_words(p_account integer) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 'outcome_unknown: it was handed over' || coalesce(
        (SELECT format(' to sender account %s', a.name) FROM mailqueue.sender_accounts AS a WHERE a.id = p_account), '')
           || ' without an answer'
$$;
COMMENT ON FUNCTION mailqueue.unknown_words(integer) IS 'What is known about mail in doubt, as text.';
