-- The installation of the Slack app by OAuth: begun by the project, ended by the person in Slack.

CREATE OR REPLACE FUNCTION mailqueue.begin_slack_installation(p_project uuid, p_user uuid, p_state bytea, p_by text)
RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_open CONSTANT integer := 10;                           -- of a person
    v_until timestamptz := clock_timestamp() + interval '10 min';
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    PERFORM mailqueue.lock_inbox_user(p_project, p_user);
    -- The oldest give way.
    DELETE FROM mailqueue.slack_installations AS i
     WHERE i.state_hash IN (SELECT o.state_hash FROM mailqueue.slack_installations AS o WHERE o.user_id = p_user
                             ORDER BY o.created_at DESC OFFSET c_open - 1);
    INSERT INTO mailqueue.slack_installations (state_hash, project_id, user_id, begun_by, expires_at)
    VALUES (p_state, p_project, p_user, left(p_by, 200), v_until);
    RETURN v_until;
END $$;
COMMENT ON FUNCTION mailqueue.begin_slack_installation(uuid, uuid, bytea, text) IS
    'Begin an installation of the Slack app for a person; returns the time by which it has to end.';

CREATE OR REPLACE FUNCTION mailqueue.take_slack_installation(p_state bytea)
RETURNS TABLE (project_id uuid, user_id uuid, channel_id uuid, begun_by text)
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH taken AS (
        DELETE FROM mailqueue.slack_installations AS i
         WHERE i.state_hash = p_state AND coalesce(mailqueue.tenant(), i.project_id) = i.project_id
        RETURNING i.project_id, i.user_id, i.begun_by, i.expires_at
    )
    SELECT t.project_id, t.user_id,
           (SELECT c.id FROM mailqueue.notification_channels AS c
             WHERE c.user_id = t.user_id AND c.channel_type = 'slack' AND c.status <> 'disconnected'), t.begun_by
      FROM taken AS t WHERE t.expires_at > clock_timestamp()
$$;
COMMENT ON FUNCTION mailqueue.take_slack_installation(bytea) IS
    'Use the state of an installation, once, and return whose it is, with the connected Slack channel if there is one; '
    'no row for a state that is unknown, used or over.';

CREATE OR REPLACE FUNCTION mailqueue.end_slack_installation(p_project uuid, p_user uuid, p_id uuid, p_sealed bytea,
    p_person text, p_workspace text, p_by text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_old mailqueue.notification_channels;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    SELECT * INTO v_old FROM mailqueue.notification_channels AS c
     WHERE c.id = p_id AND c.user_id = p_user AND c.project_id = p_project AND c.channel_type = 'slack'
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        IF NOT mailqueue.add_notification_channel(p_project, p_id, p_user, p_sealed, p_person, p_workspace, p_by) THEN
            RETURN false;
        END IF;
    ELSIF NOT mailqueue.reconnect_channel(p_project, p_id, p_sealed,
                                          -- Channels of another workspace have other ids.
                                          CASE WHEN v_old.workspace IS DISTINCT FROM p_workspace THEN p_person END,
                                          p_by) THEN
        RETURN false;
    END IF;
    UPDATE mailqueue.notification_channels AS c
       SET workspace = p_workspace, is_of_app = true, sealed_signing_secret = NULL WHERE c.id = p_id;
    INSERT INTO mailqueue.workspace_rates (project_id, workspace) VALUES (p_project, p_workspace)
    ON CONFLICT DO NOTHING;
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.end_slack_installation(uuid, uuid, uuid, bytea, text, text, text) IS
    'Connect a person with the token of an installation, or replace the token of the channel with this id; false if it '
    'was connected or disconnected meanwhile.';
