-- Registration and heartbeats of workers; the mail of a lost worker returns by whether it was marked.

CREATE OR REPLACE FUNCTION mailqueue.start_worker(p_kind text, p_host text, p_pid integer, p_version text,
    p_launch uuid, p_queues text[] DEFAULT '{}')
RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    -- The first worker of all keeps the identity of the server, so that the first claim locks no row of all claims.
    SELECT mailqueue.begin_sending(mailqueue.server_identity());
    WITH started AS (
        INSERT INTO mailqueue.workers (kind, host, pid, version, launch_id, queues)
        VALUES (p_kind, p_host, p_pid, p_version, coalesce(p_launch, mailqueue.uuidv7()), p_queues) RETURNING id
    )
    INSERT INTO mailqueue.send_intents (worker_id) SELECT s.id FROM started AS s RETURNING worker_id
$$;
COMMENT ON FUNCTION mailqueue.start_worker(text, text, integer, text, uuid, text[]) IS
    'Register a worker process and the queues it works on; returns its id.';

CREATE OR REPLACE FUNCTION mailqueue.stop_worker(p_worker integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    -- Waits for a running claim of this worker; afterwards it cannot claim. Rows of a later claim would stay assigned.
    PERFORM FROM mailqueue.workers AS w WHERE w.id = p_worker FOR UPDATE;
    PERFORM mailqueue.return_claims(ARRAY[p_worker]), mailqueue.return_rows(p_worker);
    UPDATE mailqueue.workers AS w SET stopped_at = clock_timestamp() WHERE w.id = p_worker AND w.lost_at IS NULL;
    DELETE FROM mailqueue.waiters AS x WHERE x.worker_id = p_worker;
END $$;
COMMENT ON FUNCTION mailqueue.stop_worker(integer) IS 'Unregister a worker; what it still holds returns to the queues.';

-- Marked mail may have been sent: its reservation counts as spent, and its policy for unknown outcomes decides. Other
-- mail returns as if it had never been claimed. Of all workers at once: their marks, the total of the marks, their mail
-- and the limits are locked in this order, as by claims and by another rescue.
CREATE OR REPLACE FUNCTION mailqueue.return_claims(p_workers integer[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_claims bigint[];
    v_limits integer[]; v_days date[]; v_spent integer[]; v_back integer[];
    v_count integer;
    v_rev bigint;
BEGIN
    -- Waits for a mark that is being written; afterwards none can be.
    IF cardinality(p_workers) > 1 THEN
        PERFORM FROM mailqueue.send_intents AS s
          WHERE s.worker_id = ANY (p_workers) ORDER BY s.worker_id, s.rev FOR UPDATE;
    END IF;
    WITH ended AS (
        DELETE FROM mailqueue.send_intents AS s WHERE s.worker_id = ANY (p_workers)
        RETURNING s.email_ids, s.claim_nos, s.rev
    )
    SELECT array_agg(m.id), array_agg(m.claim_no), (SELECT sum(e.rev) FROM ended AS e)
      INTO v_ids, v_claims, v_rev
      FROM ended AS e CROSS JOIN LATERAL unnest(e.email_ids, e.claim_nos) AS m(id, claim_no);
    IF v_rev > 0 THEN
        PERFORM mailqueue.keep_marks(v_rev);
    END IF;
    WITH held AS MATERIALIZED (
        SELECT q.id, q.claim_no, q.assigned_to, q.account_day, q.project_id, q.project_day, q.recipients,
               EXISTS (SELECT FROM unnest(v_ids, v_claims) AS m(id, claim_no)
                        WHERE m.id = q.id AND m.claim_no = q.claim_no)
               OR EXISTS (SELECT FROM mailqueue.refused_rows AS r    -- its mark is gone: it may have been sent
                           WHERE r.table_name = 'email_queue' AND r.row_id = q.id) AS is_marked
          FROM mailqueue.email_queue AS q
         WHERE q.status = 'assigned' AND q.worker_id = ANY (p_workers)
           AND q.id <> ALL (ARRAY(SELECT r.row_id FROM mailqueue.refused_rows AS r    -- see queue/refused.sql
                                   WHERE r.table_name = 'email_queue' AND r.retry_at > clock_timestamp()))
         ORDER BY q.id FOR NO KEY UPDATE OF q
    ), back AS (
        UPDATE mailqueue.email_queue AS q
           SET status = CASE WHEN h.is_marked AND (q.delivery = 'hold' OR q.unknowns > 0) THEN 'held'
                             ELSE 'pending' END,
               lost_claim_no = CASE WHEN h.is_marked THEN q.claim_no ELSE q.lost_claim_no END,
               unknowns = least(q.unknowns, 32766) + h.is_marked::integer,
               attempts = q.attempts - (NOT h.is_marked)::integer,
               last_error = CASE WHEN h.is_marked THEN 'outcome_unknown: the worker was lost while handing it over'
                                 ELSE q.last_error END,
               claim_no = NULL, worker_id = NULL, assigned_at = NULL, lease_until = NULL,
               lane_id = coalesce(CASE WHEN h.is_marked THEN mailqueue.kept_lane(q.lane_id, q.assigned_to) END,
                                  q.lane_id)
          FROM held AS h WHERE q.id = h.id
        RETURNING q.id, q.lane_id, q.run_at, q.status, q.project_id, q.recipient_email, q.last_error, q.assigned_to,
                  q.is_test
    ), signalled AS (
        INSERT INTO mailqueue.lane_signals (lane_id, due_at)
        SELECT b.lane_id, min(b.run_at) FROM back AS b WHERE b.status = 'pending' GROUP BY b.lane_id
    ), told AS (
        INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email, sender_account_id, detail,
                                            is_test)
        SELECT b.project_id, b.id, 'held', b.recipient_email, b.assigned_to, b.last_error, b.is_test FROM back AS b
         WHERE b.status = 'held'
    ), by_limit AS (
        SELECT m.id, h.account_day AS day, h.is_marked, h.recipients FROM held AS h
          JOIN mailqueue.limits AS m ON m.sender_account_id = h.assigned_to
        UNION ALL
        SELECT m.id, h.project_day, h.is_marked, h.recipients FROM held AS h
          JOIN mailqueue.limits AS m ON m.project_id = h.project_id AND m.sender_account_id IS NULL
    ), summed AS (
        SELECT l.id, l.day, coalesce(sum(l.recipients) FILTER (WHERE l.is_marked), 0)::integer AS spent,
               coalesce(sum(l.recipients) FILTER (WHERE NOT l.is_marked), 0)::integer AS back FROM by_limit AS l
         GROUP BY l.id, l.day
    )
    SELECT (SELECT count(*) FROM back), array_agg(s.id), array_agg(s.day), array_agg(s.spent), array_agg(s.back),
           (SELECT array_agg(DISTINCT h.claim_no) FROM held AS h)
      INTO v_count, v_limits, v_days, v_spent, v_back, v_claims FROM summed AS s;
    IF v_limits IS NOT NULL THEN
        PERFORM mailqueue.settle_limits(v_limits, v_days, v_spent, v_back,
                    array_fill(0, ARRAY[cardinality(v_limits)]),
                    array_fill(NULL::integer, ARRAY[cardinality(v_limits)]), v_claims);
    END IF;
    RETURN v_count;
END $$;
COMMENT ON FUNCTION mailqueue.return_claims(integer[]) IS
    'Return all mail of workers to the queue; returns the number of mails.';

-- Mail of unknown outcome stays with its account, and is not claimed while the account cannot send.
CREATE OR REPLACE FUNCTION mailqueue.expire_unknown() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_ids uuid[];
    v_reasons text[];
BEGIN
    SELECT array_agg(x.id), array_agg(x.reason) INTO v_ids, v_reasons FROM (
        SELECT q.id,
               mailqueue.unknown_words(q.assigned_to) || ', and could not be sent again before it expired' AS reason
          FROM mailqueue.email_queue AS q
         WHERE q.status = 'pending' AND q.unknowns > 0 AND q.expires_at <= clock_timestamp()
           AND NOT EXISTS (SELECT FROM mailqueue.custom_smtp_servers AS s WHERE s.email_id = q.id)
         ORDER BY q.expires_at LIMIT 1000 FOR UPDATE OF q SKIP LOCKED) AS x;
    IF v_ids IS NOT NULL THEN
        PERFORM mailqueue.retire_emails(v_ids, NULL, array_fill('expired'::text, ARRAY[cardinality(v_ids)]), v_reasons,
                                        NULL, NULL);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.expire_unknown() IS
    'Finish mail of unknown outcome that expired while its sender account could not send.';

-- p_launch: a process that is known to have ended, whatever its heartbeat, because its parent saw it end.
CREATE OR REPLACE FUNCTION mailqueue.rescue_emails(p_silence interval, p_launch uuid DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_gone integer[];
    v_lost integer[];
    v_rescued integer;
    v_lock_timeout text := current_setting('lock_timeout');
BEGIN
    -- The last transaction of a process that has ended may still hold its row: without the wait it would be skipped
    -- below, and found by its silence only.
    IF p_launch IS NOT NULL THEN
        BEGIN
            PERFORM set_config('lock_timeout', '2s', true);
            PERFORM FROM mailqueue.workers AS k
              WHERE k.launch_id = p_launch AND k.stopped_at IS NULL AND k.lost_at IS NULL FOR UPDATE;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
        PERFORM set_config('lock_timeout', v_lock_timeout, true);
    END IF;
    PERFORM mailqueue.forget_expired_grants();
    PERFORM mailqueue.expire_unknown();
    -- A heartbeat in the future is from before the clock was set back: the silence counts from now.
    UPDATE mailqueue.workers AS k SET beat_at = clock_timestamp()
     WHERE k.stopped_at IS NULL AND k.lost_at IS NULL AND k.beat_at > clock_timestamp() + p_silence;
    -- Workers whose row was deleted by hand: no missed heartbeat would find them.
    v_gone := ARRAY(SELECT s.worker_id FROM mailqueue.send_intents AS s
                     WHERE NOT EXISTS (SELECT FROM mailqueue.workers AS k WHERE k.id = s.worker_id));
    v_lost := ARRAY(SELECT k.id FROM mailqueue.workers AS k
                     WHERE k.stopped_at IS NULL AND k.lost_at IS NULL
                       AND (k.beat_at < clock_timestamp() - p_silence OR k.launch_id = p_launch)
                     ORDER BY k.id LIMIT 100 FOR UPDATE SKIP LOCKED);
    UPDATE mailqueue.workers AS k SET lost_at = clock_timestamp() WHERE k.id = ANY (v_lost);
    -- And those that still hold mail whose return was refused.
    v_gone := v_gone || ARRAY(
        SELECT q.worker_id FROM mailqueue.refused_rows AS r
          JOIN mailqueue.email_queue AS q ON q.id = r.row_id AND q.status = 'assigned'
          JOIN mailqueue.workers AS k ON k.id = q.worker_id AND coalesce(k.lost_at, k.stopped_at) IS NOT NULL
         WHERE r.table_name = 'email_queue' AND r.retry_at <= clock_timestamp());
    BEGIN
        v_rescued := mailqueue.return_claims(v_gone || v_lost);
    EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded OR raise_exception
                   OR data_corrupted THEN
        PERFORM mailqueue.refused_rows_of('email_queue', NULL, ARRAY(
            SELECT q.id FROM mailqueue.email_queue AS q
             WHERE q.status = 'assigned' AND q.worker_id = ANY (v_gone || v_lost)
             ORDER BY q.id FOR NO KEY UPDATE));
        v_rescued := mailqueue.return_claims(v_gone || v_lost);
    END;
    v_rescued := v_rescued + coalesce((SELECT sum(mailqueue.return_rows(i)) FROM unnest(v_lost) AS i), 0);
    DELETE FROM mailqueue.waiters AS x WHERE x.worker_id = ANY (v_lost);
    PERFORM mailqueue.fail_suspects();
    RETURN v_rescued + mailqueue.return_rows(NULL);
END $$;
COMMENT ON FUNCTION mailqueue.rescue_emails(interval, uuid) IS
    'Declare silent workers lost and return what they held to the queues; returns the number of emails and rows.';
