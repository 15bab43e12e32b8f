-- A producer. It can read back nothing but the id.

DO $$
DECLARE
    r text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = 'mailqueue_producer') THEN
        RETURN;
    END IF;
    FOREACH r IN ARRAY ARRAY[
        'USAGE ON SCHEMA mailqueue',
        'EXECUTE ON FUNCTION mailqueue.enqueue(text, text, text, text, text, jsonb)',
        'EXECUTE ON FUNCTION mailqueue.enqueue_batch(text, jsonb)',
        'EXECUTE ON FUNCTION mailqueue.uuidv7()',  -- the default of id
        -- The marker stands for MAIL_OPTIONS in mailqueue/core/mail_options.py.
        'INSERT (project, recipient_email, recipient_name, subject, html_body, text_body, tracking_token, max_retries,
            next_retry_at,
            [[MAIL_COLUMNS]]) ON mailqueue.email_queue',
        'SELECT (id) ON mailqueue.email_queue'    -- RETURNING id
    ] LOOP
        EXECUTE format('GRANT %s TO mailqueue_producer', r);
    END LOOP;
END $$;
