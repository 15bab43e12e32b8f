-- Opens, clicks and requests of providers.

DO $$
DECLARE
    r text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = 'mailqueue_tracking') THEN
        RETURN;
    END IF;
    FOREACH r IN ARRAY ARRAY[
        'USAGE ON SCHEMA mailqueue',
        'EXECUTE ON FUNCTION mailqueue.uuidv7()',  -- the default of id
        'INSERT ON mailqueue.email_events',
        'EXECUTE ON FUNCTION mailqueue.record_events(jsonb)'
    ] LOOP
        EXECUTE format('GRANT %s TO mailqueue_tracking', r);
    END LOOP;
END $$;
