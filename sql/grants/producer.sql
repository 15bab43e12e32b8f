-- A producer. It can read back nothing but the ids of its mail, and of view outboxes what became of it.

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
        'EXECUTE ON FUNCTION mailqueue.consume(uuid, uuid, text, jsonb, jsonb, text, boolean),
            mailqueue.consume(uuid, uuid, text, text, text, text, boolean)',
        'EXECUTE ON FUNCTION mailqueue.enroll(text, text, jsonb, text, boolean),
            mailqueue.unenroll(text, text, text, boolean)',
        'EXECUTE ON FUNCTION
            mailqueue.publish(text, text, text, uuid, jsonb, jsonb, text, uuid, uuid, uuid, uuid, text, text,
            text, text, timestamptz, uuid, uuid, text)',
        'EXECUTE ON FUNCTION mailqueue.put_timed_event(text, timestamptz, timestamp, text, uuid, jsonb, text, text,
            uuid, text, text, boolean)',
        'EXECUTE ON FUNCTION mailqueue.put_schedule(text, text, jsonb, text), mailqueue.pause_schedule(text, text),
            mailqueue.resume_schedule(text, text), mailqueue.cancel_schedule(text, text),
            mailqueue.run_schedule(text, text), mailqueue.skip_schedule(text, text)',
        'EXECUTE ON FUNCTION mailqueue.uuidv7()',  -- the default of id
        -- The marker stands for MAIL_OPTIONS in mailqueue/core/mail_options.py.
        'INSERT (project, recipient_email, recipient_name, subject, html_body, text_body, tracking_token, max_retries,
            next_retry_at,
            [[MAIL_COLUMNS]]) ON mailqueue.email_queue',
        'SELECT (id) ON mailqueue.email_queue',   -- RETURNING id
        'EXECUTE ON FUNCTION mailqueue.tenant(), mailqueue.sees_all(), mailqueue.mode()',  -- in the view
        'INSERT ON mailqueue.outboxes',
        'SELECT (id, is_sent, sequence_number, created_at, sent_at, project, status) ON mailqueue.outboxes'
    ] LOOP
        EXECUTE format('GRANT %s TO mailqueue_producer', r);
    END LOOP;
END $$;
