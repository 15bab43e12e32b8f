-- Inbox watch for the HTTP API and the requests of providers: inboxes, rules, channels, notifications.

DO $$
DECLARE
    r text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS o WHERE o.rolname = 'mailqueue_api') THEN
        RETURN;
    END IF;
    FOREACH r IN ARRAY ARRAY[
        'EXECUTE ON FUNCTION mailqueue.add_inbox_user(uuid, text, text),
            mailqueue.pause_inbox_user(uuid, uuid, boolean, text), mailqueue.remove_inbox_user(uuid, uuid, text),
            mailqueue.put_filter_rule(uuid, uuid, uuid, text, text, boolean, integer, text),
            mailqueue.remove_filter_rule(uuid, uuid, text),
            mailqueue.add_mailbox(uuid, uuid, uuid, text, text, integer, text, text, bytea, text[], text, integer,
            text), mailqueue.switch_mailbox(uuid, uuid, text, text),
            mailqueue.reconnect_mailbox(uuid, uuid, text, bytea, text), mailqueue.remove_mailbox(uuid, uuid, text),
            mailqueue.begin_inbox_consent(uuid, uuid, text, bytea, text[], text, integer, text),
            mailqueue.take_inbox_consent(bytea), mailqueue.list_gmail_tokens(uuid, uuid, uuid),
            mailqueue.connect_gmail(uuid, uuid, uuid, text, bytea, text[], text, integer, text),
            mailqueue.wake_gmail_inboxes(text),
            mailqueue.retry_notifications(uuid, uuid[], text)',
        'SELECT ON mailqueue.inbox_users, mailqueue.filter_rules, mailqueue.muted_senders, mailqueue.email_accounts,
            mailqueue.delivery_channels, mailqueue.notification_log',
        'SELECT (id, project_id, host, port) ON mailqueue.mailboxes',
        'EXECUTE ON FUNCTION mailqueue.add_notification_channel(uuid, uuid, uuid, bytea, text, text, text),
            mailqueue.reconnect_channel(uuid, uuid, bytea, text, text),
            mailqueue.disconnect_channel(uuid, uuid, text)',
        'SELECT (id, project_id, user_id, channel_type, status, slack_channel_id, workspace, last_error, created_at,
            updated_at, twilio_sid, sender_number, template_sid) ON mailqueue.notification_channels',
        'SELECT ON mailqueue.channel_consents',
        'EXECUTE ON FUNCTION mailqueue.add_whatsapp_channel(uuid, uuid, uuid, bytea, jsonb, text),
            mailqueue.reconnect_whatsapp_channel(uuid, uuid, bytea, text, text),
            mailqueue.find_whatsapp_channels(uuid, text, text, text),
            mailqueue.find_whatsapp_notification(uuid, uuid), mailqueue.record_receipt(uuid, uuid, text, jsonb),
            mailqueue.settle_receipts(uuid, uuid), mailqueue.is_gmail_watched(text),
            mailqueue.note_inbox_consent(uuid, text, text, text),
            mailqueue.record_whatsapp_reply(uuid, text, boolean, text)',
        'EXECUTE ON FUNCTION mailqueue.mute_sender(uuid, uuid, text, text), mailqueue.unmute_sender(uuid, uuid, text),
            mailqueue.set_slack_signing(uuid, uuid, bytea), mailqueue.find_slack_notification(uuid),
            mailqueue.press_slack_button(uuid, uuid, jsonb)',
        'EXECUTE ON FUNCTION mailqueue.begin_slack_installation(uuid, uuid, bytea, text),
            mailqueue.take_slack_installation(bytea),
            mailqueue.end_slack_installation(uuid, uuid, uuid, bytea, text, text, text)',
        'EXECUTE ON FUNCTION mailqueue.begin_phone_registration(uuid, uuid, bytea, text, text, text),
            mailqueue.take_phone_registration(bytea), mailqueue.find_phone_channels(text, text, text)'
    ] LOOP
        EXECUTE format('GRANT %s TO mailqueue_api', r);
    END LOOP;
END $$;
