-- Messages of a broker, consumed in their order: each is an event of the inbox.

-- p_messages are handled one after another up to the first that raises an error; it and those behind it change nothing.
CREATE OR REPLACE FUNCTION mailqueue.consume_messages(p_project text, p_consumers uuid[], p_messages uuid[],
    p_types text[], p_payloads text[], p_headers text[])
RETURNS TABLE (n integer, answer jsonb, code text, error text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    FOR n IN 1..cardinality(p_messages) LOOP
        consume_messages.n := n;
        answer := NULL;
        BEGIN
            answer := mailqueue.consume_text(p_messages[n], p_consumers[n], p_types[n], p_payloads[n], p_headers[n],
                                             p_project, false, 'rabbitmq');
        EXCEPTION WHEN OTHERS THEN
            code := SQLSTATE;
            error := left(SQLERRM, 1000);
        END;
        RETURN NEXT;
        EXIT WHEN code IS NOT NULL;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.consume_messages(text, uuid[], uuid[], text[], text[], text[]) IS
    'Handle messages of a broker in their order, each once for each consumer. Returns the answer of consume() to each, '
    'or the error of the first that raised one; those behind it are left.';
