-- Writing to the stream of events: only what some consumer wants, by whatever happens, in its transaction.

-- The markers stand for CONSUMERS in mailqueue/core/consumers.py: types that some consumer wants of all projects.
-- Inlined into the calling statement, where it is a constant.
CREATE OR REPLACE FUNCTION mailqueue.is_consumed(p_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '[[CONSUMED_TYPES]]'::jsonb ? p_type $$;
COMMENT ON FUNCTION mailqueue.is_consumed(text) IS
    'Whether a consumer wants a type of event of all projects, whether they subscribe to it or not.';

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.is_wanted(p_project uuid, p_type text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT mailqueue.is_consumed(p_type) OR EXISTS (SELECT FROM mailqueue.event_subscribers(p_project, p_type))
$$;
COMMENT ON FUNCTION mailqueue.is_wanted(uuid, text) IS 'Whether some consumer wants a type of event of a project.';

CREATE OR REPLACE FUNCTION mailqueue.are_events_wanted() RETURNS boolean
LANGUAGE plpgsql STABLE                                      -- in SQL it would be planned in each transaction
AS $$
BEGIN
    RETURN '[[CONSUMED_TYPES]]'::jsonb <> '[]'
        OR EXISTS (SELECT FROM mailqueue.webhooks AS w WHERE w.is_enabled)
        OR EXISTS (SELECT FROM mailqueue.outbox_state AS s WHERE s.events IS NOT NULL);
END $$;
COMMENT ON FUNCTION mailqueue.are_events_wanted() IS 'Whether some consumer wants events of some project.';
