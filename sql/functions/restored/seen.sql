-- What processes have seen of this database, compared with what it is now.

-- Commits that marked mail, and registrations of workers: both are on disk, and on a synchronous standby, before anyone
-- sees them, so that the number never falls unless commits are lost. One statement: one snapshot. The newest mark of
-- each worker is found by the index, however many dead versions a long snapshot keeps.
CREATE OR REPLACE FUNCTION mailqueue.send_progress() RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
AS $$
    SELECT s.marks
           + coalesce((SELECT sum((SELECT n.rev FROM mailqueue.send_intents AS n WHERE n.worker_id = w.id
                                    ORDER BY n.rev DESC LIMIT 1))
                         FROM mailqueue.workers AS w
                        WHERE w.stopped_at IS NULL AND w.lost_at IS NULL AND w.kind <> 'custom-smtp-mail'), 0)::bigint
           + coalesce((SELECT w.id FROM mailqueue.workers AS w ORDER BY w.id DESC LIMIT 1), 0)
      FROM mailqueue.server_identity AS s WHERE s.is_only
$$;
COMMENT ON FUNCTION mailqueue.send_progress() IS
    'A number that rises with each commit that marks mail, and with each worker; it falls only if commits are lost.';

-- Called when the row of a worker in send_intents is deleted, in the same transaction.
CREATE OR REPLACE FUNCTION mailqueue.keep_marks(p_rev bigint) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$ UPDATE mailqueue.server_identity AS s SET marks = s.marks + p_rev WHERE s.is_only AND p_rev > 0 $$;
COMMENT ON FUNCTION mailqueue.keep_marks(bigint) IS 'Add the marks of a worker that ends to the total.';

-- p_seen: what this returned to the same process before, or to one of the same host by a file; NULL at first. p_marks:
-- commits of the worker that marked mail and were acknowledged. A process that saw the server on which mail was sent
-- last vouches for a standby that was promoted when it finds all of that there. Mail is sent from it when one has
-- vouched and every worker of the old one has as well, has ended, or was not heard of for 30 seconds.
CREATE OR REPLACE FUNCTION mailqueue.see_server(p_seen text, p_worker integer DEFAULT NULL, p_launch uuid DEFAULT NULL,
    p_marks bigint DEFAULT 0, OUT seen text, OUT refusal text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_identity text := mailqueue.read_server_identity();
    v_progress bigint := mailqueue.send_progress();
    v_seen jsonb := p_seen;
    v_was_at timestamptz;
    v_had bigint;
    s mailqueue.server_identity;
BEGIN
    seen := p_seen;
    SELECT * INTO s FROM mailqueue.server_identity;
    IF v_seen ? 'is_stored' AND (v_seen ->> 'installation')::uuid IS DISTINCT FROM s.installation_id THEN
        v_seen := NULL;                                      -- a file about another database
    END IF;
    v_was_at := v_seen ->> 'declared_at';
    v_had := v_seen ->> 'progress';
    IF v_identity IS NULL THEN
        RETURN;
    ELSIF v_seen IS NOT NULL AND (v_seen ->> 'installation')::uuid IS DISTINCT FROM s.installation_id
        OR s.declared_at < v_was_at
        OR s.declared_at = v_was_at
           AND (v_progress < v_had
                OR EXISTS (SELECT FROM mailqueue.workers AS w WHERE w.id = p_worker AND w.launch_id <> p_launch)
                OR p_marks > (SELECT n.rev FROM mailqueue.send_intents AS n WHERE n.worker_id = p_worker
                               ORDER BY n.rev DESC LIMIT 1)) THEN
        -- Each time: a worker may have been about to be permitted the last time.
        UPDATE mailqueue.workers AS w SET sends_on = NULL WHERE w.sends_on IS NOT NULL;
        UPDATE mailqueue.server_identity AS i SET gone_back_at = clock_timestamp() WHERE i.gone_back_at IS NULL;
        IF FOUND THEN
            PERFORM mailqueue.record_operation(NULL, 'queue.gone_back', 'all projects',
                        jsonb_build_object('marks_seen', v_had, 'marks', v_progress, 'server', v_identity), NULL);
        END IF;
    ELSE
        IF s.identity IS NULL THEN
            PERFORM mailqueue.begin_sending(v_identity);
            SELECT * INTO s FROM mailqueue.server_identity;
        ELSIF s.identity <> v_identity AND s.gone_back_at IS NULL THEN
            s.identity := mailqueue.follow_server(s.identity, v_identity,
                              v_seen ->> 'identity' = s.identity AND s.declared_at = v_was_at
                              AND mailqueue.differ_in_timeline(s.identity, v_identity), p_worker);
        END IF;
        -- Progress is recorded from the second sighting on: the first may itself come from a backup.
        seen := jsonb_build_object('identity', CASE WHEN s.identity = v_identity THEN v_identity
                                                    ELSE v_seen ->> 'identity' END,
                                   'installation', s.installation_id, 'declared_at', s.declared_at,
                                   'progress', v_progress);
    END IF;
    refusal := mailqueue.sending_refusal();
END $$;
COMMENT ON FUNCTION mailqueue.see_server(text, integer, uuid, bigint) IS
    'Compare what a process has seen with this database; returns what it has seen now, and why no mail is sent.';

-- A copy has all of it as well, and mail may be sent from both.
CREATE OR REPLACE FUNCTION mailqueue.differ_in_timeline(p_one text, p_other text) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$ SELECT regexp_replace(p_one, '/[^/]*', '') = regexp_replace(p_other, '/[^/]*', '') $$;
COMMENT ON FUNCTION mailqueue.differ_in_timeline(text, text) IS
    'Whether two identities are those of one database of one cluster, before and after a promotion.';

CREATE OR REPLACE FUNCTION mailqueue.follow_server(p_from text, p_to text, p_is_vouched boolean, p_worker integer)
RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    s mailqueue.server_identity;
BEGIN
    SELECT * INTO s FROM mailqueue.server_identity FOR NO KEY UPDATE;
    IF s.identity <> p_from OR s.gone_back_at IS NOT NULL THEN
        RETURN s.identity;
    ELSIF s.changed_to IS DISTINCT FROM p_to THEN
        UPDATE mailqueue.server_identity SET changed_to = p_to, changed_at = clock_timestamp(), is_vouched = false
        RETURNING * INTO s;
    END IF;
    IF p_is_vouched THEN
        UPDATE mailqueue.server_identity SET is_vouched = true WHERE NOT is_vouched;
        UPDATE mailqueue.workers AS w SET seen_on = p_to WHERE w.id = p_worker AND w.seen_on IS DISTINCT FROM p_to;
    END IF;
    IF NOT (s.is_vouched OR coalesce(p_is_vouched, false))
       OR clock_timestamp() < s.changed_at + interval '30 s'
          AND EXISTS (SELECT FROM mailqueue.workers AS w
                       WHERE w.kind = 'send' AND w.stopped_at IS NULL AND w.lost_at IS NULL
                         AND w.started_at < s.changed_at AND w.seen_on IS DISTINCT FROM p_to) THEN
        RETURN s.identity;
    END IF;
    UPDATE mailqueue.server_identity SET identity = p_to, changed_to = NULL, changed_at = NULL, is_vouched = false;
    PERFORM mailqueue.record_operation(NULL, 'queue.server_followed', 'all projects',
                                       jsonb_build_object('from', p_from, 'to', p_to), NULL);
    PERFORM mailqueue.wake_workers();
    RETURN p_to;
END $$;
COMMENT ON FUNCTION mailqueue.follow_server(text, text, boolean, integer) IS
    'Send from another server once a process has vouched for it; returns the identity that mail is sent from.';

CREATE OR REPLACE FUNCTION mailqueue.heartbeat(p_worker integer, p_is_stopping boolean, p_launch uuid, p_seen text,
    p_marks bigint, OUT is_known boolean, OUT seen text, OUT refusal text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.workers AS w SET beat_at = clock_timestamp(), is_stopping = p_is_stopping
     WHERE w.id = p_worker AND w.launch_id = p_launch AND w.lost_at IS NULL AND w.stopped_at IS NULL;
    is_known := FOUND;
    SELECT h.seen, h.refusal INTO heartbeat.seen, heartbeat.refusal
      FROM mailqueue.see_server(p_seen, p_worker, p_launch, p_marks) AS h;
END $$;
COMMENT ON FUNCTION mailqueue.heartbeat(integer, boolean, uuid, text, bigint) IS
    'Heartbeat, and what see_server() returns; is_known is false when the worker was declared lost and must stop '
    'writing.';

-- For operators: call it once mail that may have been sent is held, or if nothing was lost.
CREATE OR REPLACE FUNCTION mailqueue.declare_server() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    UPDATE mailqueue.server_identity AS s
       SET identity = mailqueue.read_server_identity(),
           installation_id = coalesce(s.installation_id, mailqueue.uuidv7()), declared_at = clock_timestamp(),
           changed_to = NULL, changed_at = NULL, is_vouched = false, gone_back_at = NULL;
END $$;
COMMENT ON FUNCTION mailqueue.declare_server() IS 'Send mail from this server from now on.';

CREATE OR REPLACE FUNCTION mailqueue.accept_restored(p_by text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.refuse_while_working();
    PERFORM mailqueue.declare_server();
    RETURN mailqueue.record_operation(NULL, 'queue.restored', 'all projects',
                                      '{"nothing_lost": true, "emails": 0}', p_by);
END $$;
COMMENT ON FUNCTION mailqueue.accept_restored(text) IS
    'After a move or restore that lost nothing: send from this database without holding mail; returns the operation.';
