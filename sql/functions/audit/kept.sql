-- The audit log is append-only. What may change or delete a row says so in mailqueue.audit_change for the transaction:
-- an erasure, the count of an operation in batches, retention. Changes are listed in audit_changes until they are
-- sealed. A role that owns the table can disable these triggers: the seals show what it did then.

CREATE OR REPLACE FUNCTION mailqueue.keep_audit_row() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_reason text := current_setting('mailqueue.audit_change', true);
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF v_reason = 'retention' THEN
            RETURN OLD;
        END IF;
    ELSIF (NEW.id, NEW.project_id, NEW.occurred_at, NEW.action)
          IS NOT DISTINCT FROM (OLD.id, OLD.project_id, OLD.occurred_at, OLD.action)
          AND (v_reason = 'erasure'
               OR (v_reason = 'progress' AND (NEW.actor, NEW.subject) = (OLD.actor, OLD.subject)
                   AND NEW.detail - 'emails' = OLD.detail - 'emails'
                   AND (NEW.detail ->> 'emails')::bigint >= (OLD.detail ->> 'emails')::bigint)) THEN
        INSERT INTO mailqueue.audit_changes (event_id, reason) VALUES (OLD.id, v_reason);
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only: its rows are neither changed nor deleted'
        USING ERRCODE = '55000',
              HINT = 'Old rows are deleted by retention (mailqueue archive keep audit_events), and persons are '
                     'removed by mailqueue erase.';
END $$;
COMMENT ON FUNCTION mailqueue.keep_audit_row() IS
    'BEFORE UPDATE or DELETE of an audit row: raises an error outside of erasures, operations in batches and '
    'retention.';

CREATE OR REPLACE TRIGGER audit_events_kept BEFORE UPDATE OR DELETE ON mailqueue.audit_events
    FOR EACH ROW EXECUTE FUNCTION mailqueue.keep_audit_row();

CREATE OR REPLACE FUNCTION mailqueue.keep_audit_seal() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('mailqueue.audit_change', true) = 'retention' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'seals of the audit log are neither changed nor deleted' USING ERRCODE = '55000';
END $$;
COMMENT ON FUNCTION mailqueue.keep_audit_seal() IS
    'BEFORE UPDATE or DELETE of a seal of the audit log: raises an error outside of retention.';

CREATE OR REPLACE TRIGGER audit_seals_kept BEFORE UPDATE OR DELETE ON mailqueue.audit_seals
    FOR EACH ROW EXECUTE FUNCTION mailqueue.keep_audit_seal();

CREATE OR REPLACE FUNCTION mailqueue.count_operation(p_operation bigint, p_emails bigint) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_emails > 0 THEN
        PERFORM set_config('mailqueue.audit_change', 'progress', true);
        UPDATE mailqueue.audit_events AS a
           SET detail = a.detail || jsonb_build_object('emails', (a.detail ->> 'emails')::integer + p_emails)
         WHERE a.id = p_operation;
        PERFORM set_config('mailqueue.audit_change', '', true);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.count_operation(bigint, bigint) IS
    'Add to the count of an operation in batches, in its audit row.';

-- Deletes the seals up to a position, and the rows that have no later seal. The seal at that position is replaced by
-- one of kind cut, which its caller has computed: only who has the key can do that.
CREATE OR REPLACE FUNCTION mailqueue.cut_audit(p_position bigint, p_settled bigint, p_sealed_at timestamptz,
    p_key uuid, p_row_code bytea, p_code bytea)
RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_ids bigint[];
    v_rows bigint;
BEGIN
    SELECT coalesce(array_agg(DISTINCT s.event_id), '{}') INTO v_ids FROM mailqueue.audit_seals AS s
     WHERE s.position <= p_position AND s.event_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM mailqueue.audit_seals AS l
                        WHERE l.event_id = s.event_id AND l.position > p_position);
    PERFORM set_config('mailqueue.audit_change', 'retention', true);
    DELETE FROM mailqueue.audit_changes AS c WHERE c.event_id = ANY (v_ids);
    DELETE FROM mailqueue.audit_events AS e WHERE e.id = ANY (v_ids);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    DELETE FROM mailqueue.audit_seals AS s WHERE s.position <= p_position;
    PERFORM set_config('mailqueue.audit_change', '', true);
    INSERT INTO mailqueue.audit_seals (position, kind, settled_id, sealed_at, key_id, row_code, code)
    VALUES (p_position, 'cut', p_settled, p_sealed_at, p_key, p_row_code, p_code);
    RETURN v_rows;
END $$;
COMMENT ON FUNCTION mailqueue.cut_audit(bigint, bigint, timestamptz, uuid, bytea, bytea) IS
    'Delete audit rows past their retention with their seals, up to a position; returns the number of rows.';

CREATE OR REPLACE FUNCTION mailqueue.audit_fields(e mailqueue.audit_events) RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT ARRAY[e.project_id::text,
                 coalesce(to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), e.occurred_at::text),
                 e.action, e.actor, e.subject, e.detail::text]
$$;
COMMENT ON FUNCTION mailqueue.audit_fields(mailqueue.audit_events) IS
    'Fields of an audit row as its seal covers them: text that is the same in every session.';
