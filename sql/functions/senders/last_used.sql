-- When sender accounts were last used. A claim writes the time into its counter; no claim writes to the account.

-- An account in use is written about once a minute, however many processes call this. One that is being changed is
-- left to the next call.
CREATE OR REPLACE FUNCTION mailqueue.note_sender_use() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_noted integer;
BEGIN
    WITH used AS MATERIALIZED (
        SELECT a.id, n.tokens_at
          FROM mailqueue.sender_accounts AS a
          JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
          CROSS JOIN LATERAL (SELECT c.rev, c.tokens_at FROM mailqueue.limit_counters AS c WHERE c.limit_id = m.id
                               ORDER BY c.rev DESC LIMIT 1) AS n
         WHERE n.rev > 0 AND (a.last_used_at IS NULL
                              OR (a.last_used_at < n.tokens_at
                                  AND a.last_used_at <= clock_timestamp() - interval '1 min'))
         ORDER BY a.id FOR NO KEY UPDATE OF a SKIP LOCKED
    )
    UPDATE mailqueue.sender_accounts AS a SET last_used_at = u.tokens_at FROM used AS u WHERE a.id = u.id;
    GET DIAGNOSTICS v_noted = ROW_COUNT;
    RETURN v_noted;
END $$;
COMMENT ON FUNCTION mailqueue.note_sender_use() IS
    'Write the times of last use into sender_accounts.last_used_at, for accounts where it is a minute old; returns '
    'their number. Workers call it once a minute.';
