-- Locks until the end of a transaction, on rows that only the owner can lock.

CREATE OR REPLACE FUNCTION mailqueue.lock_row(p_name text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM FROM mailqueue.lock_rows AS r WHERE r.name = p_name FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'row % of mailqueue.lock_rows is missing', p_name
              USING ERRCODE = '55000', HINT = format('INSERT INTO mailqueue.lock_rows VALUES (%L)', p_name);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.lock_row(text) IS 'Lock a row of lock_rows until the transaction ends; waits for it.';

-- Two keys may share a row: their transactions then wait for each other for milliseconds, with no other effect.
CREATE OR REPLACE FUNCTION mailqueue.lock_key(p_key text) RETURNS void
LANGUAGE sql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT mailqueue.lock_row((hashtextextended(p_key, 0) & 1023)::text)
$$;
COMMENT ON FUNCTION mailqueue.lock_key(text) IS 'Serialise transactions that name the same key.';
