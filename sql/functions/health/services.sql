-- Which services run, from their registry: listeners report to service_processes, workers to workers. And the check
-- of those that are needed.

-- All services of a process at once, of `mailqueue up` several; what is no longer among them is deleted.
CREATE OR REPLACE FUNCTION mailqueue.keep_services(p_launch uuid, p_services text[], p_host text, p_pid integer,
    p_version text, p_is_in_up boolean) RETURNS void
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    DELETE FROM mailqueue.service_processes AS s WHERE s.launch_id = p_launch AND s.service <> ALL (p_services);
    INSERT INTO mailqueue.service_processes AS s (launch_id, service, host, pid, version, is_in_up)
    SELECT p_launch, left(n.name, 63), left(p_host, 255), p_pid, left(p_version, 63), p_is_in_up
      FROM (SELECT DISTINCT u.name FROM unnest(p_services) AS u(name)) AS n
    ON CONFLICT (launch_id, service) DO UPDATE SET beat_at = excluded.beat_at
$$;
COMMENT ON FUNCTION mailqueue.keep_services(uuid, text[], text, integer, text, boolean) IS
    'Write the heartbeat of the listeners that a process runs; without any, the process has ended.';

CREATE OR REPLACE FUNCTION mailqueue.need_of_api() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN (SELECT 'providers report to its webhooks'
          FROM (SELECT FROM mailqueue.inbound_endpoints AS e JOIN mailqueue.projects AS p
                    ON p.id = e.project_id AND p.deleted_at IS NULL LIMIT 1) AS x);
COMMENT ON FUNCTION mailqueue.need_of_api() IS 'What the API has to run for; NULL: for nothing that is known.';

-- Bounce mail may also arrive by HTTP, from a server that receives it.
CREATE OR REPLACE FUNCTION mailqueue.need_of_bounces() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN (SELECT format('bounce mail of %s is sent to it', mailqueue.some_words(array_agg(d.name ORDER BY d.name)))
          FROM (SELECT DISTINCT p.bounce_domain AS name FROM mailqueue.projects AS p
                 WHERE p.bounce_domain IS NOT NULL AND p.deleted_at IS NULL
                   AND NOT EXISTS (SELECT FROM mailqueue.inbound_endpoints AS e
                                    WHERE e.project_id = p.id AND e.provider = 'smtp')
                 LIMIT 100) AS d
        HAVING count(*) > 0);
COMMENT ON FUNCTION mailqueue.need_of_bounces() IS
    'What the listener of bounce mail has to run for; NULL: for nothing that is known.';

CREATE OR REPLACE FUNCTION mailqueue.need_of_rabbitmq() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN (SELECT format('it took events of queue %s', mailqueue.some_words(array_agg(q.name ORDER BY q.name)))
          FROM (SELECT DISTINCT b.name FROM mailqueue.broker_queues AS b
                  JOIN mailqueue.projects AS p ON p.id = b.project_id AND p.deleted_at IS NULL LIMIT 100) AS q
        HAVING count(*) > 0);
COMMENT ON FUNCTION mailqueue.need_of_rabbitmq() IS
    'What the consumer of RabbitMQ has to run for; NULL: for nothing that is known.';

-- No index finds inboxes by provider: at most 10,000 are looked at.
CREATE OR REPLACE FUNCTION mailqueue.need_of_idle() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN (SELECT CASE count(*) WHEN 1 THEN 'an inbox at an IMAP server is watched'
                             ELSE format('%s inboxes at IMAP servers are watched', count(*)) END
          FROM (SELECT m.provider FROM mailqueue.mailboxes AS m
                 WHERE m.status IN ('pending', 'assigned') AND m.paused_by IS NULL LIMIT 10000) AS m
         WHERE m.provider = 'imap'
        HAVING count(*) > 0);
COMMENT ON FUNCTION mailqueue.need_of_idle() IS
    'What the listener to inboxes has to run for; NULL: for nothing that is known.';

-- After a day a collector no longer gets what it missed: then traces are off.
CREATE OR REPLACE FUNCTION mailqueue.need_of_traces() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
RETURN (SELECT format('traces wait since %s', date_trunc('second', x.exported_to)) FROM mailqueue.trace_export AS x
         WHERE x.exported_to > clock_timestamp() - interval '1 day');
COMMENT ON FUNCTION mailqueue.need_of_traces() IS
    'What the exporter of traces has to run for; NULL: for nothing that is known.';

CREATE OR REPLACE FUNCTION mailqueue.service_board()
RETURNS TABLE (service text, command text, need text, processes integer, hosts text[], since timestamptz,
               beat_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp SET jit = off
AS $$
    WITH running AS (
        SELECT p.service, p.host, p.started_at, p.beat_at FROM mailqueue.service_processes AS p
         -- One that is ahead was written by a clock that has been set back since.
         WHERE p.beat_at > clock_timestamp() - interval '30 s' AND p.beat_at < clock_timestamp() + interval '30 s'
        --% for service in services
        --% if not service.is_listener
        UNION ALL
        SELECT '[[service.name]]', w.host, w.started_at, w.beat_at FROM mailqueue.workers AS w
         WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.beat_at > clock_timestamp() - interval '30 s'
           AND (w.kind = '[[service.name]]' OR w.queues && '{[[service.queues | join(",")]]}'::text[])
        --% endif
        --% endfor
    ), named (place, service, command, need) AS (
        VALUES
        --% for service in services
            ([[loop.index]], '[[service.name]]', 'mailqueue [[service.command | join(" ")]]',
             [[ "mailqueue.%s()" % service.need if service.need else "NULL::text" ]])[[ "" if loop.last else "," ]]
        --% endfor
    )
    SELECT n.service, n.command, n.need, count(r.service)::integer,
           coalesce(array_agg(DISTINCT r.host ORDER BY r.host) FILTER (WHERE r.service IS NOT NULL), '{}'),
           min(r.started_at), max(r.beat_at)
      FROM named AS n LEFT JOIN running AS r ON r.service = n.service
     WHERE mailqueue.tenant() IS NULL
     GROUP BY n.place, n.service, n.command, n.need ORDER BY n.place
$$;
COMMENT ON FUNCTION mailqueue.service_board() IS
    'Each service: the command that runs it, what it is needed for (NULL: nothing that is known), its processes with a '
    'heartbeat within 30 seconds, their hosts, and since when the oldest runs.';

CREATE OR REPLACE FUNCTION mailqueue.health_of_services() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT 'services', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce('no process runs: ' || mailqueue.some_words(array_agg(format('%s (%s)', b.service, b.need))),
                    'every listener that is needed runs'),
           CASE WHEN count(*) > 0
                THEN format('start it, or restart it after an upgrade: %s', string_agg(b.command, '; ')) END
      FROM mailqueue.service_board() AS b WHERE b.processes = 0 AND b.need IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.health_of_services() IS 'The check of listeners, for the view health.';
