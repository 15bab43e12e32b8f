-- What the API and producers may do with exports and A/B tests.

DO $$
DECLARE
    g record;
BEGIN
    FOR g IN SELECT r.rolname, x.what FROM pg_catalog.pg_roles AS r JOIN (VALUES
        ('mailqueue_api', 'EXECUTE ON FUNCTION mailqueue.begin_export(uuid, text, text, jsonb, timestamptz, timestamptz,
            boolean, integer, bigint, text), mailqueue.delete_export(uuid, uuid, text),
            mailqueue.is_export_there(mailqueue.exports), mailqueue.read_export_part(uuid, uuid, integer),
            mailqueue.note_export_fetched(uuid, uuid, text), mailqueue.offers_data(uuid, uuid),
            mailqueue.ask_for_data(uuid, uuid, integer, text)'),
        ('mailqueue_api', 'SELECT ON mailqueue.exports, mailqueue.ab_tests, mailqueue.ab_test_variants,
            mailqueue.ab_test_recipients'),
        ('mailqueue_api', 'EXECUTE ON FUNCTION mailqueue.create_ab_test(text, jsonb, text),
            mailqueue.add_ab_test_recipients(text, uuid, jsonb), mailqueue.decide_ab_test(uuid, uuid, text, text),
            mailqueue.cancel_ab_test(uuid, uuid, text), mailqueue.ab_test_state(mailqueue.ab_tests),
            mailqueue.ab_test_document(mailqueue.ab_tests)'),
        ('mailqueue_producer', 'EXECUTE ON FUNCTION mailqueue.create_ab_test(text, jsonb, text),
            mailqueue.add_ab_test_recipients(text, uuid, jsonb)')
    ) AS x(role, what) ON x.role = r.rolname LOOP
        EXECUTE format('GRANT %s TO %I', g.what, g.rolname);
    END LOOP;
END $$;
