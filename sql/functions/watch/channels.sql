-- Channels that notifications go to: connected, reconnected, disconnected.

CREATE OR REPLACE FUNCTION mailqueue.add_notification_channel(p_project uuid, p_id uuid, p_user uuid, p_sealed bytea,
    p_slack_channel text, p_workspace text, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF coalesce(p_slack_channel, '') !~ '^[CDGUW][A-Z0-9]{1,30}$' THEN
        PERFORM mailqueue.refuse('slack_channel_id', 'an id of Slack such as C0123456789');
    ELSIF p_workspace IS NOT NULL AND p_workspace !~ '^[TE][A-Z0-9]{1,30}$' THEN
        PERFORM mailqueue.refuse('workspace', 'a team id of Slack such as T0123456789');
    END IF;
    PERFORM mailqueue.lock_inbox_user(p_project, p_user);
    IF (SELECT count(*) FROM mailqueue.notification_channels AS c WHERE c.user_id = p_user) >= 100 THEN
        PERFORM mailqueue.refuse('user_id', 'an inbox user has at most 100 channels, disconnected ones included');
    END IF;
    INSERT INTO mailqueue.notification_channels (id, project_id, user_id, channel_type, sealed_token,
        slack_channel_id, workspace)
    VALUES (p_id, p_project, p_user, 'slack', p_sealed, p_slack_channel, p_workspace)
    ON CONFLICT (user_id, channel_type) WHERE status <> 'disconnected' DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO mailqueue.workspace_rates (project_id, workspace)
    SELECT p_project, p_workspace WHERE p_workspace IS NOT NULL
    ON CONFLICT DO NOTHING;
    PERFORM mailqueue.record_operation(p_project, 'channel.added', p_id::text,
                                       jsonb_build_object('channel_type', 'slack', 'user_id', p_user), p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.add_notification_channel(uuid, uuid, uuid, bytea, text, text, text) IS
    'Connect a channel of a person; false if the person has a connected one of this type.';

-- What waited is delivered then.
CREATE OR REPLACE FUNCTION mailqueue.reconnect_channel(p_project uuid, p_id uuid, p_sealed bytea, p_slack_channel text,
    p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    IF p_slack_channel IS NOT NULL AND p_slack_channel !~ '^[CDGUW][A-Z0-9]{1,30}$' THEN
        PERFORM mailqueue.refuse('slack_channel_id', 'an id of Slack such as C0123456789');
    END IF;
    UPDATE mailqueue.notification_channels AS c
       SET sealed_token = p_sealed, is_of_app = false,
           slack_channel_id = coalesce(p_slack_channel, c.slack_channel_id),
           status = 'active', last_error = NULL, next_at = clock_timestamp(), revision = c.revision + 1,
           updated_at = clock_timestamp()
     WHERE c.id = p_id AND c.project_id = p_project AND c.channel_type = 'slack' AND c.status <> 'disconnected';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.record_operation(p_project, 'channel.reconnected', p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.reconnect_channel(uuid, uuid, bytea, text, text) IS
    'Give a Slack channel a new token and deliver to it again; false if none with that id is connected.';

CREATE OR REPLACE FUNCTION mailqueue.disconnect_channel(p_project uuid, p_id uuid, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    UPDATE mailqueue.notification_channels AS c
       SET status = 'disconnected', sealed_token = NULL, sealed_signing_secret = NULL, revision = c.revision + 1,
           updated_at = clock_timestamp()
     WHERE c.id = p_id AND c.project_id = p_project AND c.status <> 'disconnected';
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.notifications AS n
       SET status = 'failed', finished_at = clock_timestamp(), last_error = 'its channel was disconnected'
     WHERE n.notification_channel_id = p_id AND n.status IN ('pending', 'held');
    PERFORM mailqueue.record_operation(p_project, 'channel.disconnected', p_id::text, '{}', p_by);
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.disconnect_channel(uuid, uuid, text) IS
    'Deliver nothing more to a channel and delete its token; the row stays. False if no channel with that id is '
    'connected.';
