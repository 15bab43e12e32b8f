-- Which server this is, and whether mail may be sent from it. See docs/decisions/0049-restored-databases.md.

-- System identifier and timeline change with another cluster and with a promotion, the object id of the database with a
-- copy, and that of the table with a dump restored into the same database. NULL on a standby.
CREATE OR REPLACE FUNCTION mailqueue.read_server_identity() RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_here text := format('%s/%s', (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()),
                          'mailqueue.server_identity'::regclass::oid);
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN NULL;
    END IF;
    RETURN format('%s/%s/%s', (SELECT c.system_identifier FROM pg_control_system() AS c),
                  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), v_here);
EXCEPTION
    WHEN insufficient_privilege OR feature_not_supported THEN  -- a provider that hides them
        RETURN '-/-/' || v_here;
END $$;
COMMENT ON FUNCTION mailqueue.read_server_identity() IS
    'The identity of this server, timeline, database and schema as text; NULL on a standby.';

-- Read once in a session: a session ends with its server, and a server keeps its identity.
CREATE OR REPLACE FUNCTION mailqueue.server_identity() RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(current_setting('mailqueue.server', true), '') = '' THEN
        PERFORM set_config('mailqueue.server', coalesce(mailqueue.read_server_identity(), ''), false);
    END IF;
    RETURN nullif(current_setting('mailqueue.server', true), '');
END $$;
COMMENT ON FUNCTION mailqueue.server_identity() IS 'The identity of this server, kept by the session.';

-- A drill ends with `mailqueue restored`, as every restore does.
CREATE OR REPLACE FUNCTION mailqueue.last_restore_words() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT 'this is the database that mail was sent from before; '
           || CASE WHEN s.declared_at > '-infinity'
                   THEN 'the last restore or drill was at ' || mailqueue.shown(s.declared_at)
                   ELSE 'it was never restored, nor was that tried' END
      FROM mailqueue.server_identity AS s WHERE s.is_only
$$;
COMMENT ON FUNCTION mailqueue.last_restore_words() IS
    'When this database was last restored, or that was tried, as text.';

CREATE OR REPLACE FUNCTION mailqueue.begin_sending(p_identity text) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    UPDATE mailqueue.server_identity AS s SET identity = p_identity, installation_id = mailqueue.uuidv7()
     WHERE s.is_only AND s.identity IS NULL AND p_identity IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.begin_sending(text) IS
    'Keep the identity of the server that mail is sent from, where none was sent before.';

-- For a claim whose worker is not known to send on this server. Its row then says that it does, so that later claims
-- need not ask. A process that finds that the database has gone back withdraws that, and so does who pauses all sending
-- or drains the worker.
CREATE OR REPLACE FUNCTION mailqueue.may_send(p_worker integer) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_identity text := mailqueue.server_identity();
BEGIN
    -- Its row before that of the server, as where a worker ends.
    PERFORM FROM mailqueue.workers AS w WHERE w.id = p_worker FOR NO KEY UPDATE;
    PERFORM mailqueue.check_worker(p_worker);
    PERFORM mailqueue.begin_sending(v_identity);
    PERFORM FROM mailqueue.server_identity AS s
      WHERE s.is_only AND s.identity = v_identity AND s.gone_back_at IS NULL
        AND (s.paused_at IS NULL OR s.paused_until <= clock_timestamp())
        FOR SHARE;
    IF NOT FOUND OR mailqueue.is_drained(p_worker) THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.workers AS w SET sends_on = v_identity WHERE w.id = p_worker;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.may_send(integer) IS
    'Whether this worker may claim mail on this server, now; raises 55000 if it was declared lost.';

-- Mail that is sent at once has no claim before.
CREATE OR REPLACE FUNCTION mailqueue.is_sending() RETURNS boolean
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.gone_back_at IS NULL AND coalesce(s.identity = mailqueue.server_identity(), true)
      FROM mailqueue.server_identity AS s
$$;
COMMENT ON FUNCTION mailqueue.is_sending() IS 'Whether mail may be sent from this server.';

CREATE OR REPLACE FUNCTION mailqueue.sending_refusal() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT CASE WHEN s.gone_back_at IS NOT NULL
                     THEN format('the database has gone back: workers had seen a later state of it (noticed at %s)',
                                 mailqueue.shown(s.gone_back_at))
                WHEN s.identity <> mailqueue.read_server_identity()
                     THEN 'the database was restored, copied or promoted'
                          || coalesce(format(' (noticed at %s)', mailqueue.shown(s.changed_at)), '')
                          || ', and no running process that saw it before has found all of it here' END
      FROM mailqueue.server_identity AS s
$$;
COMMENT ON FUNCTION mailqueue.sending_refusal() IS
    'Why no mail is sent from this database since it was restored, copied or promoted, as text; NULL: mail is sent.';
