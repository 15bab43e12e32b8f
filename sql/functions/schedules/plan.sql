-- When schedules run: instants of the times that mailqueue/schedules/recurrence.py computes on the clock of a zone.
-- Only the functions of sql/functions/zones know the rules of zones.

-- The first place on earth whose clock shows a time is 14 hours ahead of UTC.
CREATE OR REPLACE FUNCTION mailqueue.local_run_start(p_local timestamp) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
AS $$ SELECT (p_local - interval '14 hours') AT TIME ZONE 'UTC' $$;
COMMENT ON FUNCTION mailqueue.local_run_start(timestamp) IS
    'When a run begins whose mail goes out at a time on the clock of each recipient.';

CREATE OR REPLACE FUNCTION mailqueue.last_planned_day() RETURNS timestamp
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ SELECT (SELECT r.until AT TIME ZONE 'UTC' FROM mailqueue.time_zone_releases AS r) - interval '2 days' $$;
COMMENT ON FUNCTION mailqueue.last_planned_day() IS
    'The day, decades ahead, from which on there are no rules of time zones and no occurrences.';

-- Fixed times come once: in a gap at the first moment after it, in a fold the first time. An interval, such as */15,
-- runs through: not in a gap, and in both parts of a fold. p_kind: fixed, interval or local.
CREATE OR REPLACE FUNCTION mailqueue.occurrence_instants(p_local timestamp, p_zone text, p_kind text)
RETURNS timestamptz[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE p_kind WHEN 'interval' THEN mailqueue.local_instants(p_local, p_zone)
                       WHEN 'local' THEN ARRAY[mailqueue.local_run_start(p_local)]
                       ELSE ARRAY[mailqueue.local_to_utc(p_local, p_zone)] END
$$;
COMMENT ON FUNCTION mailqueue.occurrence_instants(timestamp, text, text) IS
    'The instants at which a schedule runs for one time of its cron expression.';

-- is_twice: the clock shows this time twice, so that earlier times may follow.
CREATE OR REPLACE FUNCTION mailqueue.schedule_clocks(p_instants timestamptz[], p_zones text[], p_kinds text[])
RETURNS TABLE (place integer, local timestamp, fold interval)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT i.n::integer, c.local,
           CASE WHEN i.kind = 'interval' AND cardinality(t.instants) > 1 THEN t.instants[2] - t.instants[1] END
      FROM unnest(p_instants, p_zones, p_kinds) WITH ORDINALITY AS i(at, zone, kind, n)
     CROSS JOIN LATERAL (SELECT CASE i.kind WHEN 'local' THEN i.at AT TIME ZONE 'UTC' + interval '14 hours'
                                            ELSE mailqueue.utc_to_local(i.at, i.zone) END AS local OFFSET 0) AS c
     CROSS JOIN LATERAL (SELECT CASE WHEN i.kind = 'interval' THEN mailqueue.local_instants(c.local, i.zone) END
                                    AS instants OFFSET 0) AS t
$$;
COMMENT ON FUNCTION mailqueue.schedule_clocks(timestamptz[], text[], text[]) IS
    'What clocks show at instants; fold: an interval schedule has times again that are up to so much earlier.';

CREATE OR REPLACE FUNCTION mailqueue.first_occurrences(p_places integer[], p_locals timestamp[],
    p_afters timestamptz[], p_zones text[], p_kinds text[])
RETURNS TABLE (place integer, local timestamp, at timestamptz)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT DISTINCT ON (x.place) x.place, x.local, x.at
      FROM (SELECT c.place, c.local, unnest(mailqueue.occurrence_instants(c.local, p_zones[c.place], p_kinds[c.place]))
                       AS at
              FROM unnest(p_places, p_locals) AS c(place, local)
             WHERE c.local < mailqueue.last_planned_day()) AS x
     WHERE x.at > p_afters[x.place]
     ORDER BY x.place, x.at
$$;
COMMENT ON FUNCTION mailqueue.first_occurrences(integer[], timestamp[], timestamptz[], text[], text[]) IS
    'The first occurrence after an instant, for each place from 1, among times of its cron expression.';

CREATE OR REPLACE FUNCTION mailqueue.occurrences_between(p_locals timestamp[], p_zone text, p_kind text,
    p_after timestamptz, p_until timestamptz)
RETURNS TABLE (local timestamp, at timestamptz)
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT DISTINCT ON (x.at) x.local, x.at
      FROM (SELECT c.local, unnest(mailqueue.occurrence_instants(c.local, p_zone, p_kind)) AS at
              FROM unnest(p_locals) AS c(local)
             WHERE c.local < mailqueue.last_planned_day()) AS x
     WHERE x.at > coalesce(p_after, '-infinity') AND x.at <= coalesce(p_until, 'infinity')
     ORDER BY x.at
$$;
COMMENT ON FUNCTION mailqueue.occurrences_between(timestamp[], text, text, timestamptz, timestamptz) IS
    'Occurrences after an instant and up to another, in order, each once, among times of a cron expression.';

-- The caller computed the next occurrence after plan_after as it was. In the transaction that adds, changes or resumes
-- a schedule; a worker does the same for what SQL has written.
CREATE OR REPLACE FUNCTION mailqueue.plan_schedule(p_id uuid, p_after timestamptz, p_next timestamptz,
    p_local timestamp)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.schedules AS s
       SET next_run_at = d.next, next_local = CASE WHEN d.next IS NOT NULL THEN p_local END, plan_after = NULL,
           zone_release = mailqueue.time_zone_release(), run_at = coalesce(d.next, s.run_at),
           status = CASE WHEN d.next IS NULL THEN 'completed' ELSE s.status END,
           finished_at = CASE WHEN d.next IS NULL THEN clock_timestamp() END,
           last_error = CASE WHEN d.next IS NULL THEN 'it has no further occurrence' ELSE s.last_error END
      FROM (SELECT CASE WHEN p_next <= coalesce(o.ends_at, 'infinity') THEN p_next END AS next
              FROM mailqueue.schedules AS o WHERE o.id = p_id) AS d
     WHERE s.id = p_id AND s.plan_after = p_after AND s.status IN ('pending', 'paused')
       AND s.project_id = coalesce(mailqueue.tenant(), s.project_id);
    RETURN FOUND;
END $$;
COMMENT ON FUNCTION mailqueue.plan_schedule(uuid, timestamptz, timestamptz, timestamp) IS
    'Write the next occurrence of a schedule, NULL if it has none; false where it was planned or changed meanwhile.';

CREATE OR REPLACE FUNCTION mailqueue.replan_schedules(p_most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_release text := mailqueue.time_zone_release();
    v_ids uuid[];
    v_count integer;
BEGIN
    v_ids := ARRAY(
        SELECT s.id FROM mailqueue.schedules AS s
         WHERE s.finished_at IS NULL AND s.cron_expression IS NOT NULL
           AND (s.zone_release < v_release OR s.zone_release > v_release)
         ORDER BY s.zone_release, s.id LIMIT p_most FOR UPDATE SKIP LOCKED)
      || ARRAY(
        SELECT s.id FROM mailqueue.schedules AS s
         WHERE s.finished_at IS NULL AND s.is_wall_clock
           AND (s.zone_release < v_release OR s.zone_release > v_release)
         ORDER BY s.zone_release, s.id LIMIT p_most FOR UPDATE SKIP LOCKED);
    -- What is due now stays: its instant has come.
    UPDATE mailqueue.schedules AS s
       SET zone_release = v_release, once_at = n.at, next_run_at = n.at,
           run_at = CASE WHEN s.status = 'pending' AND s.attempts = 0 THEN n.at ELSE s.run_at END
      FROM (SELECT o.id, mailqueue.local_to_utc(o.next_local, o.time_zone) AS at
              FROM mailqueue.schedules AS o
             WHERE o.id = ANY (v_ids) AND o.is_wall_clock AND o.next_run_at > clock_timestamp()
               AND mailqueue.known_zone(o.time_zone) IS NOT NULL OFFSET 0) AS n
     WHERE s.id = n.id AND s.status <> 'assigned';
    UPDATE mailqueue.schedules AS s
       SET zone_release = v_release,
           plan_after = CASE WHEN s.is_wall_clock THEN NULL
                             WHEN s.next_run_at > clock_timestamp() AND s.plan_after IS NULL
                             THEN greatest(clock_timestamp(), s.last_run_at) ELSE s.plan_after END,
           run_at = CASE WHEN s.next_run_at > clock_timestamp() AND s.status = 'pending' AND NOT s.is_wall_clock
                         THEN clock_timestamp()
                         ELSE s.run_at END
     WHERE s.id = ANY (v_ids) AND s.status <> 'assigned';
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.replan_schedules(integer) IS
    'Have the next occurrences computed again that were computed by other rules of time zones; returns how many.';
