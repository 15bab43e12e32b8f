-- Buttons below notifications in Slack: which secret signs their requests, and what pressing one does.

CREATE OR REPLACE FUNCTION mailqueue.set_slack_signing(p_project uuid, p_id uuid, p_sealed bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.check_mode(false);
    UPDATE mailqueue.notification_channels AS c SET sealed_signing_secret = p_sealed, is_of_app = false
     WHERE c.id = p_id AND c.project_id = p_project AND c.channel_type = 'slack' AND c.status <> 'disconnected';
END $$;
COMMENT ON FUNCTION mailqueue.set_slack_signing(uuid, uuid, bytea) IS
    'Note the sealed signing secret of the app whose token a channel has.';

CREATE OR REPLACE FUNCTION mailqueue.find_slack_notification(p_id uuid)
RETURNS TABLE (channel_id uuid, project_id uuid, is_of_app boolean, sealed bytea)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT c.id, c.project_id, c.is_of_app, c.sealed_signing_secret
      FROM mailqueue.notifications AS n
      JOIN mailqueue.notification_channels AS c ON c.id = n.notification_channel_id
     WHERE n.id = p_id AND c.channel_type = 'slack' AND c.status <> 'disconnected'
       AND coalesce(mailqueue.tenant(), c.project_id) = c.project_id
$$;
COMMENT ON FUNCTION mailqueue.find_slack_notification(uuid) IS
    'The connected Slack channel of a notification, and whose secret signs what its buttons send.';

-- p_press: action, workspace, person, place and message (ids of Slack), and at, which is the same where Slack repeats
-- a request. presses of a notification has the last one of each button.
CREATE OR REPLACE FUNCTION mailqueue.press_slack_button(p_id uuid, p_channel uuid, p_press jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_action text := p_press ->> 'action';
    v_at timestamptz := least(v_now, (p_press ->> 'at')::timestamptz);
    v_by text := left('slack ' || (p_press ->> 'person'), 200);
    n mailqueue.notifications;
    c mailqueue.notification_channels;
    u mailqueue.inbox_users;
BEGIN
    -- Persons before notifications, as scans lock them.
    SELECT o.* INTO u FROM mailqueue.inbox_users AS o
     WHERE o.id = (SELECT x.user_id FROM mailqueue.notifications AS x
                    WHERE x.id = p_id AND x.notification_channel_id = p_channel) FOR NO KEY UPDATE;
    SELECT * INTO n FROM mailqueue.notifications AS o
     WHERE o.id = p_id AND o.notification_channel_id = p_channel AND o.user_id = u.id FOR NO KEY UPDATE;
    SELECT * INTO c FROM mailqueue.notification_channels AS o WHERE o.id = p_channel AND o.status <> 'disconnected';
    IF u.id IS NULL OR n.id IS NULL OR c.id IS NULL THEN
        RETURN '{"result": "gone"}';
    ELSIF coalesce(c.workspace, p_press ->> 'workspace') IS DISTINCT FROM p_press ->> 'workspace'
          OR coalesce(n.external_message_id, p_press ->> 'message') IS DISTINCT FROM p_press ->> 'message'
          OR c.slack_channel_id IS DISTINCT FROM
             (p_press ->> (CASE WHEN c.slack_channel_id ~ '^[UW]' THEN 'person' ELSE 'place' END)) THEN
        RETURN '{"result": "refused"}';
    ELSIF v_action NOT IN ('mute_sender', 'pause_hour') OR v_action = 'mute_sender' AND n.sender_address = '' THEN
        RETURN '{"result": "unknown"}';
    ELSIF v_action = 'mute_sender' AND mailqueue.has_muted_enough(u.id) THEN
        RETURN '{"result": "full"}';
    ELSIF (n.presses ->> v_action)::timestamptz >= v_at THEN
        RETURN '{"result": "repeated"}';
    END IF;
    PERFORM mailqueue.check_tenant(n.project_id);
    UPDATE mailqueue.notifications AS o
       SET presses = coalesce(o.presses, '{}') || jsonb_build_object(v_action, v_at) WHERE o.id = p_id;
    IF v_action = 'mute_sender' THEN
        PERFORM mailqueue.mute(n.project_id, n.user_id, n.sender_address, v_by);
        RETURN jsonb_build_object('result', 'muted', 'sender', n.sender_address);
    END IF;
    UPDATE mailqueue.inbox_users AS o
       SET paused_until = greatest(o.paused_until, v_at + interval '1 h'), updated_at = v_now
     WHERE o.id = u.id RETURNING * INTO u;
    PERFORM mailqueue.record_operation(n.project_id, 'inbox_user.paused', u.id::text,
                                       jsonb_build_object('until', u.paused_until), v_by);
    RETURN jsonb_build_object('result', 'paused', 'until', extract(epoch FROM u.paused_until)::bigint);
END $$;
COMMENT ON FUNCTION mailqueue.press_slack_button(uuid, uuid, jsonb) IS
    'Do what a button below a notification says: mute its sender, or pause its person for an hour. result is muted, '
    'paused, repeated, refused (another workspace, place or person), full, unknown or gone.';
