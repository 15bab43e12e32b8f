-- Consumers for people: how far each has read, and reading again from a time.

CREATE OR REPLACE FUNCTION mailqueue.list_consumers()
RETURNS TABLE (name text, is_ordered boolean, takes_test boolean, "position" bigint, waiting bigint,
               waiting_since timestamptz, handled_at timestamptz, skipped bigint, left_out bigint, left_out_error text,
               last_error text, is_running boolean, writer integer)
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT c.name, c.is_ordered, c.takes_test, c.position, w.events, w.since, c.handled_at, c.skipped, c.left_out,
           c.left_out_error, c.last_error, mailqueue.has_worker('webhooks') OR mailqueue.has_worker('publishing'),
           (SELECT min(a.pid) FROM unnest(c.open_writers) AS o
              JOIN pg_catalog.pg_locks AS k ON k.virtualtransaction = o
              JOIN pg_catalog.pg_stat_activity AS a ON a.pid = k.pid)
      FROM mailqueue.consumers AS c
     CROSS JOIN LATERAL (
            SELECT count(*) AS events, min(e.created_at) AS since
              FROM mailqueue.event_stream AS e
             WHERE e.sequence_number IN (SELECT mailqueue.unhandled_events(c, mailqueue.last_event_number(), 10001))
           ) AS w
     ORDER BY c.name
$$;
COMMENT ON FUNCTION mailqueue.list_consumers() IS
    'Consumers with the events that each has not handled, up to 10001, and the session that the ordered ones wait for.';

-- Waits for a worker that reads at this moment.
CREATE OR REPLACE FUNCTION mailqueue.replay_consumer(p_name text, p_since timestamptz, p_is_dry boolean, p_by text,
    OUT events bigint, OUT first_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET jit = off
AS $$
DECLARE
    c mailqueue.consumers;
    v_first bigint;
BEGIN
    PERFORM mailqueue.check_administers();
    SELECT o.* INTO c FROM mailqueue.consumers AS o WHERE o.name = p_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM mailqueue.refuse('name', format('there is no consumer %s',
                                                coalesce(to_json(left(p_name, 100))::text, 'null')));
    END IF;
    SELECT min(e.sequence_number) INTO v_first FROM mailqueue.event_stream AS e WHERE e.created_at >= p_since;
    SELECT count(*), min(e.created_at) INTO events, first_at
      FROM mailqueue.event_stream AS e
     WHERE e.sequence_number >= v_first AND (e.sequence_number <= c.position OR c.handled @> e.sequence_number)
       AND (c.takes_test OR NOT e.is_test)
       AND e.type = ANY (c.types);
    IF p_is_dry OR events = 0 THEN
        RETURN;
    END IF;
    UPDATE mailqueue.consumers AS o
       SET position = least(c.position, v_first - 1),
           handled = c.handled * int8multirange(int8range(NULL, v_first, '()')), failures = 0,
           run_at = clock_timestamp()
     WHERE o.name = c.name;
    PERFORM mailqueue.record_operation(NULL, 'consumer.replayed', p_name,
                                       jsonb_build_object('since', p_since, 'events', events), p_by);
END $$;
COMMENT ON FUNCTION mailqueue.replay_consumer(text, timestamptz, boolean, text) IS
    'Have a consumer handle again the events that were written since a time, as far as they are stored; returns their '
    'number. p_is_dry: only count them.';
