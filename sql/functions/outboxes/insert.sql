-- INSERT into view outboxes: a mail under the id that its writer chose.

CREATE OR REPLACE FUNCTION mailqueue.is_html(p_body text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT left(p_body, 100000) ~* '</?[a-z][a-z0-9]*(\s[^<>]*)?/?>|<!doctype\s' $$;
COMMENT ON FUNCTION mailqueue.is_html(text) IS
    'Whether a body is HTML: it has a tag or a document type within its first 100,000 characters.';

-- Checks what the view calls otherwise than email_queue; the rest is checked as for any mail.
CREATE OR REPLACE FUNCTION mailqueue.check_outbox_row(p_to_email text, p_to_name text, p_body text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_address text;
BEGIN
    IF mailqueue.is_plain_address(p_to_email) IS NOT TRUE THEN
        v_address := p_to_email;
        IF position('<' IN p_to_email) > 0 OR p_to_email ~ '^\s|\s$' THEN
            v_address := (mailqueue.split_mailbox(p_to_email)).address;
        END IF;
        PERFORM mailqueue.check_address('to_email', v_address);
        IF octet_length(v_address) > length(v_address) THEN
            PERFORM mailqueue.wire_address('to_email', v_address);
        END IF;
    END IF;
    PERFORM mailqueue.check_text('to_name', p_to_name, 320);
    IF coalesce(p_body, '') = '' THEN
        PERFORM mailqueue.refuse('body', 'a body is needed');
    ELSIF octet_length(p_body) > 26214400 THEN
        PERFORM mailqueue.refuse('body', 'at most 25 MiB', 'too_large');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_outbox_row(text, text, text) IS
    'Raise SQLSTATE 22023, naming the column of view outboxes, for a row that cannot be a mail.';

CREATE OR REPLACE FUNCTION mailqueue.outboxes_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_column text := CASE WHEN NEW.sequence_number IS NOT NULL THEN 'sequence_number'
                          WHEN NEW.status IS NOT NULL THEN 'status' WHEN NEW.reason IS NOT NULL THEN 'reason' END;
    v_bound uuid[] := ARRAY(SELECT b.project_id FROM mailqueue.producer_projects AS b WHERE b.login = session_user);
    v_project mailqueue.projects;
    v_is_html boolean;
    v_owner uuid;                                            -- of the row that has the id
    v_finished_at timestamptz;
BEGIN
    IF v_column IS NOT NULL THEN
        RAISE EXCEPTION 'cannot insert a non-DEFAULT value into column "%"', v_column
            USING ERRCODE = 'generated_always', COLUMN = v_column, DETAIL = 'mailqueue writes this column.';
    ELSIF NEW.is_sent OR NEW.sent_at IS NOT NULL THEN
        PERFORM mailqueue.refuse(CASE WHEN NEW.is_sent THEN 'is_sent' ELSE 'sent_at' END,
                                 'a row that is inserted is mail still to be sent');
    ELSIF NOT isfinite(NEW.created_at) THEN
        PERFORM mailqueue.refuse('created_at', format('a time is needed, got %s', NEW.created_at));
    END IF;
    PERFORM mailqueue.check_outbox_row(NEW.to_email, NEW.to_name, NEW.body);
    IF NEW.project IS NULL AND cardinality(v_bound) = 1 THEN
        SELECT p.* INTO v_project FROM mailqueue.projects AS p WHERE p.id = v_bound[1] AND p.deleted_at IS NULL;
    ELSE
        SELECT p.* INTO v_project FROM mailqueue.projects AS p
         WHERE p.name = coalesce(NEW.project, 'default') AND p.deleted_at IS NULL;
    END IF;
    IF v_project.id IS NULL THEN
        PERFORM mailqueue.project_taking(coalesce(NEW.project, 'default'));  -- raises the error: there is none
    ELSIF v_project.id <> ALL (v_bound) THEN
        PERFORM mailqueue.check_producer(v_project.id);
    END IF;

    IF v_project.ordering IS NOT NULL THEN
        PERFORM mailqueue.begin_order(v_project.id);         -- before its number is taken
    END IF;
    NEW.id := coalesce(NEW.id, mailqueue.uuidv7());
    NEW.created_at := coalesce(NEW.created_at, now());
    INSERT INTO mailqueue.outbox_rows (id, project_id, created_at)
    VALUES (NEW.id, v_project.id, NEW.created_at) ON CONFLICT (id) DO NOTHING
    RETURNING sequence_number INTO NEW.sequence_number;
    IF NOT FOUND THEN
        SELECT o.project_id INTO v_owner FROM mailqueue.outbox_rows AS o WHERE o.id = NEW.id;
        IF v_project.outbox_duplicates = 'skip' AND v_owner = v_project.id THEN
            RETURN NULL;
        END IF;
        PERFORM mailqueue.refuse_outbox_id(NEW.id);
    ELSIF EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = NEW.id) THEN
        PERFORM mailqueue.refuse_outbox_id(NEW.id);          -- accepted in another way
    END IF;
    v_is_html := mailqueue.is_html(NEW.body);
    INSERT INTO mailqueue.email_queue (id, project, recipient_email, recipient_name, subject, html_body, text_body,
                                       custom_data)
    VALUES (NEW.id, v_project.name, NEW.to_email, nullif(NEW.to_name, ''), NEW.subject,
            CASE WHEN v_is_html THEN NEW.body END, CASE WHEN NOT v_is_html THEN NEW.body END, NEW.custom_data);
    -- Only now: the INSERT waited for a transaction that moves a mail of this id to history.
    SELECT h.finished_at, h.status, h.reason INTO v_finished_at, NEW.status, NEW.reason
      FROM mailqueue.email_history AS h WHERE h.id = NEW.id ORDER BY h.finished_at LIMIT 1;
    IF v_finished_at <> now() THEN                           -- now(): its recipient is suppressed
        PERFORM mailqueue.refuse_outbox_id(NEW.id);
    END IF;
    NEW.is_sent := false; NEW.project := v_project.name; NEW.to_name := coalesce(NEW.to_name, '');
    NEW.status := coalesce(NEW.status, 'pending');
    RETURN NEW;
END $$;
COMMENT ON FUNCTION mailqueue.outboxes_insert() IS
    'INSTEAD OF INSERT on view outboxes: accept the row as a mail under its id; an id in use raises SQLSTATE 23505, or '
    'gives no row where its project says so.';

CREATE OR REPLACE FUNCTION mailqueue.refuse_outbox_id(p_id uuid) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'duplicate key value violates unique constraint "outboxes_pkey"'
        USING ERRCODE = 'unique_violation', DETAIL = format('Key (id)=(%s) already exists.', p_id),
              SCHEMA = 'mailqueue', TABLE = 'outboxes', CONSTRAINT = 'outboxes_pkey';
END $$;
COMMENT ON FUNCTION mailqueue.refuse_outbox_id(uuid) IS 'Raise SQLSTATE 23505 as a table would for this id.';
