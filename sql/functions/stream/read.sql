-- Reading the stream: each event once by each consumer, whatever the order in which transactions commit.
--
-- The number of an event is taken from a sequence, whose lock PostgreSQL keeps until the transaction ends; see decision
-- 0059. The last number that was given out is read first, then the writers that are open, then events. A transaction
-- with a lower number has the lock already: it is among these writers, or has ended, and its events are seen. When
-- these writers have ended, that number (the horizon) is passed. Transactions that only read have no such lock.
--
-- A consumer without an order does not wait for them: it handles what is committed, and remembers the numbers above its
-- position that it has handled, until the horizon is passed.
--
-- Functions in PL/pgSQL keep their plans; those in SQL would be planned with each claim.

CREATE OR REPLACE FUNCTION mailqueue.last_event_number() RETURNS bigint
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN (SELECT CASE WHEN q.is_called THEN q.last_value ELSE 0 END FROM mailqueue.event_stream_number_seq AS q);
END $$;
COMMENT ON FUNCTION mailqueue.last_event_number() IS 'Number of event_stream that was given out last; 0: none was.';

-- Of numbers above the position, those that were not handled. Each gap is one step in the index.
CREATE OR REPLACE FUNCTION mailqueue.unhandled_events(c mailqueue.consumers, p_last bigint, p_limit integer)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
    RETURN QUERY
    SELECT e.sequence_number
      FROM unnest(int8multirange(int8range(c.position, greatest(c.position, p_last), '(]')) - c.handled)
           WITH ORDINALITY AS g(span, n)
     CROSS JOIN LATERAL (
            SELECT s.sequence_number FROM mailqueue.event_stream AS s
             WHERE s.sequence_number >= lower(g.span) AND s.sequence_number < upper(g.span)
             ORDER BY s.sequence_number LIMIT p_limit) AS e
     ORDER BY g.n, e.sequence_number LIMIT p_limit;
END $$;
COMMENT ON FUNCTION mailqueue.unhandled_events(mailqueue.consumers, bigint, integer) IS
    'Numbers of the next events of a consumer up to a number, in order, at most p_limit.';

-- Three statements, each with a snapshot of its own: the number, the writers, the events.
CREATE OR REPLACE FUNCTION mailqueue.next_events(c mailqueue.consumers, p_limit integer,
    OUT numbers bigint[], OUT next_position bigint, OUT horizon bigint, OUT open_writers text[], OUT has_more boolean)
LANGUAGE plpgsql
AS $$
DECLARE
    v_last bigint := mailqueue.last_event_number();
BEGIN
    horizon := c.horizon;
    open_writers := '{}';
    IF c.position >= c.horizon THEN
        horizon := v_last;
        open_writers := mailqueue.sequence_writers('mailqueue.event_stream_number_seq');
    ELSIF c.open_writers <> '{}' THEN
        open_writers := ARRAY(SELECT w FROM unnest(mailqueue.sequence_writers('mailqueue.event_stream_number_seq')) AS w
                               WHERE w = ANY (c.open_writers) OR w LIKE '-1/%');
    END IF;
    numbers := '{}';
    IF NOT c.is_ordered THEN
        numbers := ARRAY(SELECT mailqueue.unhandled_events(c, v_last, p_limit));
    ELSIF open_writers = '{}' THEN
        numbers := ARRAY(SELECT mailqueue.unhandled_events(c, horizon, p_limit));
    END IF;
    has_more := cardinality(numbers) >= p_limit;
    next_position := CASE WHEN open_writers <> '{}' THEN c.position
                     WHEN has_more THEN least(horizon, numbers[cardinality(numbers)])
                     ELSE horizon END;
    has_more := has_more OR open_writers = '{}' AND next_position < v_last;
END $$;
COMMENT ON FUNCTION mailqueue.next_events(mailqueue.consumers, integer) IS
    'The next events of a consumer, in order, and its position and horizon once these are handled; open_writers: '
    'transactions that may commit an earlier event.';

-- A function without dynamic statements, which would be planned with each page.
-- The marker stands for CONSUMERS in mailqueue/core/consumers.py.
DO $$
BEGIN
    EXECUTE (
        SELECT format('CREATE OR REPLACE FUNCTION mailqueue.call_consumer(p_name text, p_numbers bigint[]) '
                      'RETURNS void LANGUAGE plpgsql AS $f$ BEGIN CASE p_name %s END CASE; END $f$',
                      string_agg(format('WHEN %L THEN PERFORM mailqueue.%I(p_numbers);', r.name, r.handler), ' '))
          FROM jsonb_to_recordset('[[CONSUMERS]]') AS r (name text, handler text));
END $$;
COMMENT ON FUNCTION mailqueue.call_consumer(text, bigint[]) IS
    'Call the handler of a consumer with numbers of events.';

-- What is not of one event, such as a deadlock, a lock, the disk or an operator, fails the page, which is tried again.
CREATE OR REPLACE FUNCTION mailqueue.handle_each(c mailqueue.consumers, p_numbers bigint[], OUT left_out integer,
    OUT error text)
LANGUAGE plpgsql
AS $$
DECLARE
    v_number bigint;
BEGIN
    left_out := 0;
    FOREACH v_number IN ARRAY p_numbers LOOP
        BEGIN
            PERFORM mailqueue.call_consumer(c.name, ARRAY[v_number]);
        EXCEPTION
            WHEN transaction_rollback OR insufficient_resources OR object_not_in_prerequisite_state
                 OR operator_intervention OR system_error THEN
                RAISE;
            WHEN OTHERS THEN
                left_out := left_out + 1;
                error := format('event %s: %s', v_number, left(SQLERRM, 500));
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.handle_each(mailqueue.consumers, bigint[]) IS
    'Have a consumer handle events one by one; returns how many failed, which are left out, and why.';

CREATE OR REPLACE FUNCTION mailqueue.handle_events(c mailqueue.consumers, p_numbers bigint[], OUT left_out integer,
    OUT error text, OUT is_failed boolean)
LANGUAGE plpgsql
AS $$
BEGIN
    left_out := 0;
    is_failed := false;
    BEGIN
        PERFORM mailqueue.call_consumer(c.name, p_numbers);
        RETURN;
    EXCEPTION WHEN OTHERS THEN
        is_failed := true;
        error := left(SQLERRM, 500);
    END;
    IF c.is_ordered THEN
        RETURN;
    END IF;
    BEGIN
        SELECT h.left_out, h.error INTO left_out, error FROM mailqueue.handle_each(c, p_numbers) AS h;
        is_failed := false;
    EXCEPTION WHEN OTHERS THEN
        left_out := 0;
        error := left(SQLERRM, 500);
    END;
END $$;
COMMENT ON FUNCTION mailqueue.handle_events(mailqueue.consumers, bigint[]) IS
    'Have a consumer handle events, one by one if they fail together; is_failed: none was handled.';

-- Called with the row locked.
CREATE OR REPLACE FUNCTION mailqueue.read_events(c mailqueue.consumers, p_limit integer) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    c_pages CONSTANT integer := 20;
    v_wanted bigint[];
    p record;
    h record;
BEGIN
    FOR n IN 1 .. c_pages LOOP
        p := mailqueue.next_events(c, p_limit);
        SELECT 0 AS left_out, NULL AS error, false AS is_failed INTO h;
        v_wanted := '{}';
        IF p.numbers <> '{}' THEN
            v_wanted := ARRAY(SELECT e.sequence_number FROM mailqueue.event_stream AS e
                               WHERE e.sequence_number = ANY (p.numbers) AND e.type = ANY (c.types)
                                 AND (c.takes_test OR NOT e.is_test)
                               ORDER BY e.sequence_number);
        END IF;
        IF v_wanted <> '{}' THEN
            SELECT * INTO h FROM mailqueue.handle_events(c, v_wanted);
        END IF;
        IF h.is_failed THEN
            UPDATE mailqueue.consumers AS o
               SET failures = c.failures + 1, last_error = h.error,
                   run_at = clock_timestamp() + least(interval '1 s' * power(2, least(c.failures, 6)), interval '1 min')
             WHERE o.name = c.name;
            RETURN;
        END IF;
        EXIT WHEN p.numbers = '{}' AND p.next_position = c.position AND p.open_writers = c.open_writers;
        UPDATE mailqueue.consumers AS o
           SET position = p.next_position, horizon = p.horizon, open_writers = p.open_writers,
               handled = (c.handled + coalesce((SELECT range_agg(int8range(i, i, '[]')) FROM unnest(p.numbers) AS i),
                                               '{}')) * int8multirange(int8range(p.next_position, NULL, '()')),
               handled_at = CASE WHEN p.numbers = '{}' THEN c.handled_at ELSE clock_timestamp() END,
               failures = 0, last_error = NULL, left_out = c.left_out + h.left_out,
               left_out_at = CASE WHEN h.left_out > 0 THEN clock_timestamp() ELSE c.left_out_at END,
               left_out_error = coalesce(h.error, c.left_out_error),
               skipped = c.skipped + cardinality(p.numbers) - cardinality(v_wanted)
         WHERE o.name = c.name
        RETURNING o.* INTO c;
        EXIT WHEN v_wanted <> '{}' OR NOT p.has_more;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.read_events(mailqueue.consumers, integer) IS
    'Have a consumer handle its next events, and move its position.';

-- Workers call it in their claims. Who reads for a consumer has its row; others go on without.
CREATE OR REPLACE FUNCTION mailqueue.read_stream(p_limit integer DEFAULT 500) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan SET lock_timeout = '1s'
AS $$
DECLARE
    c mailqueue.consumers;
BEGIN
    FOR c IN
        SELECT o.* FROM mailqueue.consumers AS o
         WHERE o.position < mailqueue.last_event_number() AND o.run_at <= clock_timestamp()
         ORDER BY o.name FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM mailqueue.read_events(c, p_limit);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.read_stream(integer) IS
    'Have consumers handle the next events of the stream, at most p_limit of each that it wants.';
