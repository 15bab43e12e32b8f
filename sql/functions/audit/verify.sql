-- What the audit log is verified by, for logins that cannot read the tables behind it. Neither the seals nor the
-- wrapped keys allow their reader to make a seal. A transaction that acts for one project reads nothing.

-- In a list of columns its rows are returned one by one.
CREATE OR REPLACE FUNCTION mailqueue.audit_seals_and_rows(p_until bigint) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT json_build_object(
               'seal', CASE WHEN s.position IS NOT NULL THEN json_build_object(
                   'position', s.position, 'kind', s.kind, 'event_id', s.event_id, 'settled_id', s.settled_id,
                   'sealed_at', coalesce(to_char(s.sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), 'never'),
                   'key_id', s.key_id, 'reason', s.reason, 'row_code', encode(s.row_code, 'hex'),
                   'skeleton', encode(s.skeleton, 'hex'), 'addresses', encode(s.addresses, 'hex'),
                   'code', encode(s.code, 'hex')) END,
               'row', CASE WHEN e.id IS NOT NULL THEN json_build_object(
                   'id', e.id, 'fields', mailqueue.audit_fields(e)) END,
               'is_newest', NOT EXISTS (SELECT FROM mailqueue.audit_seals AS l
                                         WHERE l.event_id = s.event_id AND l.position > s.position),
               'is_changing', EXISTS (SELECT FROM mailqueue.audit_changes AS c WHERE c.event_id = s.event_id))::text
    FROM mailqueue.audit_seals AS s
    FULL JOIN mailqueue.audit_events AS e ON e.id = s.event_id
    WHERE (p_until IS NULL OR s.position <= p_until) AND (SELECT mailqueue.tenant()) IS NULL
    ORDER BY s.position NULLS LAST, e.id
$$;
COMMENT ON FUNCTION mailqueue.audit_seals_and_rows(bigint) IS
    'Seals of the audit log in their order with their rows, up to a position, or (NULL) all seals and then the rows '
    'without a seal; as JSON.';

CREATE OR REPLACE FUNCTION mailqueue.audit_keys_wrapped()
RETURNS TABLE (id uuid, master_key_id text, wrapped bytea, made_under text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT k.id, k.master_key_id, k.wrapped, k.made_under FROM mailqueue.audit_keys AS k
     WHERE (SELECT mailqueue.tenant()) IS NULL ORDER BY k.created_at, k.id
$$;
COMMENT ON FUNCTION mailqueue.audit_keys_wrapped() IS
    'Keys of the seals of the audit log as the master key wraps them, oldest first.';
