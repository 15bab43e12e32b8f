-- The consumer "failures": addresses of mail that failed are suppressed.

CREATE OR REPLACE FUNCTION mailqueue.suppress_failed(p_numbers bigint[]) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    e mailqueue.event_stream;
BEGIN
    FOR e IN SELECT s.* FROM mailqueue.event_stream AS s WHERE s.sequence_number = ANY (p_numbers)
              ORDER BY s.sequence_number LOOP
        PERFORM mailqueue.suppress(e.project_id, e.recipient, NULL, 'manual', 'it failed', e.email_id, 'failures');
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.suppress_failed(bigint[]) IS 'Suppress the recipients of events of the stream.';
