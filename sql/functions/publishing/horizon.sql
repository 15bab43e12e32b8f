-- What of an outbox can be published. Up to its horizon no transaction commits a message any more.
--
-- The number that was given out last is read first, then the writers that are open, then messages. Who takes a lower
-- number had the lock before: it is among the writers, or has ended, and its message is seen. When these writers have
-- ended, that number is passed. Writers that begin later take higher numbers, so a steady stream delays nothing.

CREATE OR REPLACE FUNCTION mailqueue.extend_horizons(p_ids uuid[], p_claims bigint[])
RETURNS TABLE (id uuid, outbox text, project text, transport text, target text, revision integer, cursor bigint,
               horizon bigint, is_waiting boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_last bigint;
    v_open text[];
    v_lock uuid;
    s record;
BEGIN
    FOR s IN
        SELECT o.*, coalesce(o.last_sequence_number, 0) AS last FROM mailqueue.outbox_state AS o
          JOIN unnest(p_ids, p_claims) AS i(id, claim_no) ON i.id = o.id AND i.claim_no = o.claim_no
         ORDER BY o.id FOR NO KEY UPDATE OF o
    LOOP
        v_last := s.horizon;
        IF s.last >= s.horizon THEN
            -- Before the first number is given out, last_value is that number.
            v_last := (SELECT CASE WHEN q.is_called THEN q.last_value ELSE 0 END
                         FROM mailqueue.outbox_message_sequence_number_seq AS q);
            v_open := mailqueue.outbox_writers(s.outbox_id);
        ELSIF s.open_writers = '{}' THEN
            v_open := '{}';
        ELSE
            v_open := ARRAY(SELECT w FROM unnest(mailqueue.outbox_writers(s.outbox_id)) AS w
                             WHERE w = ANY (s.open_writers) OR w LIKE '-1/%');
        END IF;
        v_lock := mailqueue.uuidv7();
        UPDATE mailqueue.outbox_state AS o
           SET horizon = v_last, open_writers = v_open, lock_id = v_lock, row_version = uuid_send(v_lock)
         WHERE o.id = s.id;
        RETURN QUERY
        SELECT s.id, s.name, (SELECT p.name FROM mailqueue.projects AS p WHERE p.id = s.project_id), s.transport,
               s.target, (SELECT w.revision FROM mailqueue.webhooks AS w
                           WHERE w.id = CASE s.transport WHEN 'webhook' THEN s.target::uuid END AND w.is_enabled),
               s.last, v_last, v_open <> '{}';
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.extend_horizons(uuid[], bigint[]) IS
    'Claimed outboxes: where they publish, and up to which number; is_waiting: transactions that may commit a lower '
    'number are open.';

CREATE OR REPLACE FUNCTION mailqueue.outbox_messages(p_ids uuid[], p_cursors bigint[], p_horizons bigint[],
    p_limit integer) RETURNS SETOF mailqueue.outbox_message
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    SELECT m.*
      FROM unnest(p_ids, p_cursors, p_horizons) AS i(id, cursor, horizon)
     CROSS JOIN LATERAL (
            SELECT o.* FROM mailqueue.outbox_message AS o
             WHERE o.outbox_id = i.id AND o.sequence_number > i.cursor AND o.sequence_number <= i.horizon
               AND o.status = 'pending'
             ORDER BY o.outbox_id, o.sequence_number LIMIT p_limit) AS m
     ORDER BY m.outbox_id, m.sequence_number
$$;
COMMENT ON FUNCTION mailqueue.outbox_messages(uuid[], bigint[], bigint[], integer) IS
    'The next messages of each outbox, in order, at most p_limit of each.';

CREATE OR REPLACE FUNCTION mailqueue.advance_outboxes(p_ids uuid[], p_lasts bigint[], p_published bigint[],
    p_expired bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
BEGIN
    UPDATE mailqueue.outbox_message AS m
       SET sent_time = v_now,
           status = CASE WHEN m.sequence_number = ANY (p_published) THEN 'published' ELSE 'expired' END
     WHERE m.sequence_number = ANY (p_published || p_expired) AND m.outbox_id = ANY (p_ids) AND m.status = 'pending';
    UPDATE mailqueue.outbox_state AS s
       SET last_sequence_number = greatest(s.last_sequence_number, i.last),
           delivered = CASE WHEN p_published <> '{}' THEN v_now ELSE s.delivered END
      FROM (SELECT o.id, t.last FROM mailqueue.outbox_state AS o JOIN unnest(p_ids, p_lasts) AS t(id, last)
                ON t.id = o.id ORDER BY o.id FOR NO KEY UPDATE OF o) AS i
     WHERE s.id = i.id;
END $$;
COMMENT ON FUNCTION mailqueue.advance_outboxes(uuid[], bigint[], bigint[], bigint[]) IS
    'Note up to which number outboxes are published, which messages were published, and which had expired.';

-- An outbox without messages is due a day later. The probe begins behind its cursor, so that what was published, and is
-- not removed from the index while an old snapshot is held, costs nothing.
CREATE OR REPLACE FUNCTION mailqueue.wake_outboxes() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off
AS $$
BEGIN
    UPDATE mailqueue.outbox_state AS s SET run_at = clock_timestamp()
     WHERE s.id = ANY (ARRAY(
           SELECT o.id FROM mailqueue.outbox_state AS o
            WHERE o.status = 'pending' AND o.attempts = 0 AND o.run_at > clock_timestamp() + interval '1 min'
              AND EXISTS (SELECT FROM mailqueue.outbox_message AS m
                           WHERE m.outbox_id = o.outbox_id AND m.sequence_number > coalesce(o.last_sequence_number, 0))
            ORDER BY o.id FOR NO KEY UPDATE SKIP LOCKED));
END $$;
COMMENT ON FUNCTION mailqueue.wake_outboxes() IS 'Make outboxes due that have messages behind their cursor.';

CREATE OR REPLACE FUNCTION mailqueue.claim_publishing(p_worker integer, p_limit integer, p_lease interval,
    p_alone boolean, p_first integer, p_keys text[], p_rooms integer[]) RETURNS SETOF mailqueue.outbox_state
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.read_stream();
    PERFORM mailqueue.wake_outboxes();
    RETURN QUERY SELECT c.* FROM mailqueue.claim_outbox_state(p_worker, p_limit, p_lease, p_alone, p_first, p_keys,
                                                               p_rooms) AS c;
END $$;
COMMENT ON FUNCTION mailqueue.claim_publishing(integer, integer, interval, boolean, integer, text[], integer[]) IS
    'Take outboxes that have messages to publish for a worker.';
