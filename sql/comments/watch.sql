-- Columns of tables of watched inboxes.

SELECT mailqueue.describe_columns('inbox_users', ARRAY[
    ['id', 'Id of the person.'],
    ['email', 'Address of the person, in lower case.'],
    ['notifications_paused', 'Whether the person is notified of nothing; mail of that time is not reported later.'],
    ['paused_until', 'Time until which that is so by a button; NULL: no button was pressed.']
]);

SELECT mailqueue.describe_columns('muted_senders', ARRAY[
    ['id', 'Id of the row.'],
    ['user_id', 'Id of the person who is not notified, in inbox_users.'],
    ['sender_address', 'Address of the sender, in lower case and normal form.']
]);

SELECT mailqueue.describe_columns('mailboxes', ARRAY[
    ['id', 'Id of the inbox.'],
    ['user_id', 'Id of the person whose inbox it is, in inbox_users.'],
    ['provider', 'How it is read: imap or gmail.'],
    ['email_address', 'Address of the inbox, in lower case.'],
    ['host', 'Host of its server.'],
    ['port', 'Port of its server.'],
    ['tls', 'How the connection is secured: implicit, starttls or none.'],
    ['username', 'Name that it is logged in with.'],
    ['sealed_password',
     'Password, or at Gmail the refresh token, sealed for this server; deleted with the row.'],
    ['folders', 'Folders whose new mail is reported; at Gmail ids of labels.'],
    ['webmail_url', 'Page that a notification links to; NULL: none.'],
    ['scan_seconds', 'Time between two scans, in seconds.'],
    ['cursor',
     'For each folder its UIDVALIDITY and the next UID, at Gmail 1 and the historyId; a folder that is not there is '
     'not scanned yet.'],
    ['refusals', 'Logins in a row that the server refused; the fourth ends with an error.'],
    ['push_asked_at', 'Time at which Gmail was last asked to push what changes; NULL: not yet.'],
    ['last_scanned_at', 'Time of the last scan that succeeded; NULL: none yet.'],
    ['tell_at', 'Time at which the person is to be mailed of an error; NULL: there is nothing to tell.'],
    ['told_at', 'Time at which the person was last mailed of one; NULL: not yet.'],
    ['tell_failures', 'Mails of this error in a row that were refused.'],
    ['caught_up_at',
     'Time at which the last scan began that read all that was there; NULL: none since this is known.'],
    ['paused_by', 'Who paused it; NULL: it is not paused.'],
    ['status',
     'pending or assigned: it is scanned or, while it is paused, its login checked once a day; failed: in error until '
     'somebody reconnects it; held: of no inbox.']
]);

SELECT mailqueue.describe_columns('inbox_consents', ARRAY[
    ['id', 'Id of the consent.'],
    ['user_id', 'Id of the person whose inbox is to be watched, in inbox_users.'],
    ['state_hash', 'SHA-256 of the state that the person was sent to Google with; it is used once.'],
    ['email_address', 'Address of the inbox, in lower case: a consent to another is refused.'],
    ['folders', 'Ids of labels whose new mail is to be reported.'],
    ['webmail_url', 'Page that notifications will link to.'],
    ['scan_seconds', 'Time between two scans, in seconds.'],
    ['expires_at', 'Time from which the answer of Google is not accepted.']
]);

SELECT mailqueue.describe_columns('notification_channels', ARRAY[
    ['id', 'Id of the channel.'],
    ['user_id', 'Id of the person who is notified, in inbox_users.'],
    ['channel_type', 'Kind of the channel: slack or whatsapp.'],
    ['status',
     'active; error: somebody has to reconnect it; opted_out: the person wants no messages; disconnected: kept as a '
     'record.'],
    ['sealed_token', 'Token of the bot in Slack or of the Twilio account, sealed; NULL: the channel is disconnected.'],
    ['twilio_sid', 'Id of the Twilio account; NULL: not of WhatsApp.'],
    ['sender_number', 'Number that messages are sent from, such as +15550000001; NULL: not of WhatsApp.'],
    ['template_sid', 'Id of the content template for messages outside of the 24 hours; NULL: not of WhatsApp.'],
    ['slack_channel_id', 'Id of the channel or person in Slack.'],
    ['workspace', 'Id of the team in Slack, whose rate its channels share; NULL: not known.'],
    ['is_of_app', 'Whether the token is of the app of the installation, whose secret signs what buttons send.'],
    ['sealed_signing_secret',
     'Secret by which another app signs what buttons send, sealed; NULL: none is known.'],
    ['next_at', 'Earliest time of the next delivery: one a second, or later where the provider asked for a wait.'],
    ['revision', 'Number that grows with each change of the token.'],
    ['last_error', 'Why the channel is in error, or the person opted out.'],
    ['tell_at', 'Time at which the person is to be mailed of that; NULL: there is nothing to tell.'],
    ['told_at', 'Time at which the person was last mailed of it; NULL: not yet.'],
    ['tell_failures', 'Mails of this error in a row that were refused.']
]);

SELECT mailqueue.describe_columns('channel_consents', ARRAY[
    ['channel_id', 'Id of the channel, in notification_channels.'],
    ['email', 'Address of the person, by which an erasure or export reaches the number.'],
    ['phone_number', 'Number of the person, such as +15550000002.'],
    ['given_at', 'Time at which the person consented.'],
    ['source', 'Where the person consented; reply: by a message.'],
    ['wording', 'What the person agreed to, or the word of the reply.'],
    ['withdrawn_at', 'Time at which the person opted out; NULL: the consent is in force.'],
    ['withdrawn_word', 'Word of the reply, or reason of the provider; NULL: the consent is in force.'],
    ['window_until', 'End of the 24 hours after a reply, in which free text may be sent; NULL: there was none.'],
    ['word_sids', 'Ids of replies that had one of the words, each of which counts once.']
]);

SELECT mailqueue.describe_columns('slack_installations', ARRAY[
    ['state_hash', 'SHA-256 of the state in the link, which works once.'],
    ['user_id', 'Id of the person who installs the app, in inbox_users.'],
    ['begun_by', 'Who began the installation.'],
    ['expires_at', 'Time by which it has to end.']
]);

SELECT mailqueue.describe_columns('phone_registrations', ARRAY[
    ['code_hash', 'SHA-256 of the code, which works once.'],
    ['user_id', 'Id of the person whose phone it is, in inbox_users.'],
    ['source', 'Where the person consented, for the consent of the channel.'],
    ['wording', 'What the person agreed to, for the consent of the channel.'],
    ['begun_by', 'Who began the registration.'],
    ['expires_at', 'Time by which the code has to be sent.']
]);

SELECT mailqueue.describe_columns('inbox_logins', ARRAY[
    ['user_id', 'Id of the person, in inbox_users.'],
    ['password_hash', 'Hash of the password (Argon2id), with its parameters.'],
    ['last_login_at', 'Time of the last login; NULL: none yet.']
]);

SELECT mailqueue.describe_columns('inbox_links', ARRAY[
    ['token_hash', 'SHA-256 of the token in the link, which works once.'],
    ['user_id', 'Id of the person who sets a password by it, in inbox_users.'],
    ['kind', 'invitation: made by the project; reset: asked for by the person.'],
    ['expires_at', 'Time from which it does not work.']
]);

SELECT mailqueue.describe_columns('inbox_sessions', ARRAY[
    ['id', 'Id of the session.'],
    ['user_id', 'Id of the person, in inbox_users.'],
    ['email', 'Address of the person, by which an erasure or export reaches the row.'],
    ['token_hash', 'SHA-256 of the token in the cookie.'],
    ['browser_hash', 'SHA-256 of the token that stays in the browser after a login.'],
    ['address', 'Address of the client that logged in; NULL: not known.'],
    ['user_agent', 'Browser that logged in, as it names itself; NULL: it does not.'],
    ['used_at', 'Time of the last request, to the minute.'],
    ['expires_at', 'Time at which the session ends in any case.'],
    ['ended_at', 'Time at which it was ended; NULL: it was not.']
]);

SELECT mailqueue.describe_columns('filter_rules', ARRAY[
    ['id', 'Id of the rule.'],
    ['user_id', 'Id of the person whose mail it filters, in inbox_users.'],
    ['rule_type', 'What is compared: sender or subject.'],
    ['pattern', 'Address or domain of senders, or a word or phrase of the subject.'],
    ['is_active', 'Whether the rule is applied.'],
    ['priority', 'Order of evaluation, the lowest first.']
]);

SELECT mailqueue.describe_columns('notifications', ARRAY[
    ['id', 'Id of the notification.'],
    ['user_id', 'Id of the person who is notified, in inbox_users.'],
    ['email_account_id', 'Id of the inbox that the mail came to, in mailboxes.'],
    ['notification_channel_id', 'Id of the channel, in notification_channels.'],
    ['kind', 'mail; summary: of several mails; notice: about an inbox that is no longer watched.'],
    ['summary_id', 'Notification that tells of this mail with others; NULL: none.'],
    ['rule_id', 'Filter rule that the mail matched; NULL: the person has none.'],
    ['message_id', 'Message-ID of the mail; NULL: it has none.'],
    ['sender_name', 'Name of the sender; empty: none was given.'],
    ['sender_address', 'Address of the sender.'],
    ['subject', 'Subject of the mail.'],
    ['preview', 'Beginning of the text of the mail, at most 150 characters.'],
    ['external_message_id', 'Id that the provider gave the message; NULL: none yet.'],
    ['presses', 'Time of the last press of each button below it; NULL: none was pressed.'],
    ['receipts', 'What the provider reported of each message by its id; NULL: nothing.'],
    ['email_received_at', 'Time at which the mail arrived, by its server.'],
    ['posting_claim', 'Number of the claim under which it is being posted; NULL: it is not.'],
    ['status',
     'pending, assigned; held: it is unknown whether it was posted; merged: a summary tells of it; sent, delivered, '
     'failed.']
]);

SELECT mailqueue.describe_columns('notification_windows', ARRAY[
    ['channel_id', 'Id of the channel, in notification_channels.'],
    ['started_at', 'Begin of the current minute.'],
    ['mails', 'Number of mails in it so far.'],
    ['summary_id', 'Notification that tells of them; NULL: they are reported one by one.']
]);

SELECT mailqueue.describe_columns('seen_messages', ARRAY[
    ['user_id', 'Id of the person, in inbox_users.'],
    ['message_key', 'Hash of the Message-ID, or of the place of a message without one.'],
    ['seen_at', 'Time at which the person was notified of it.']
]);

SELECT mailqueue.describe_columns('workspace_rates', ARRAY[
    ['workspace', 'Id of the workspace in Slack, or of the account or sender number at Twilio.'],
    ['next_at', 'Time from which a delivery is within the rate.']
]);

SELECT mailqueue.describe_columns('channel_providers', ARRAY[
    ['name', 'Name of the provider: slack or whatsapp.'],
    ['next_at', 'Time from which a delivery is within the rate.']
]);

SELECT mailqueue.describe_columns('email_accounts', ARRAY[
    ['id', 'Id of the inbox.'],
    ['user_id', 'Id of the person whose inbox it is, in inbox_users.'],
    ['provider', 'How it is read: imap or gmail.'],
    ['email_address', 'Address of the inbox, in lower case.'],
    ['status', 'active, paused or error.'],
    ['host', 'Host of its server.'],
    ['port', 'Port of its server.'],
    ['tls', 'How the connection is secured: implicit, starttls or none.'],
    ['username', 'Name that it is logged in with.'],
    ['folders', 'Folders whose new mail is reported.'],
    ['webmail_url', 'Page that a notification links to; NULL: none.'],
    ['scan_seconds', 'Time between two scans, in seconds.'],
    ['last_scanned_at', 'Time of the last scan that succeeded; NULL: none yet.'],
    ['next_scan_at', 'Time of the next scan; NULL: it is paused or in error.'],
    ['is_listening', 'Whether a connection waits for new mail (IMAP IDLE).'],
    ['history_id', 'Point in the history of Gmail at which the next scan begins; NULL: not scanned yet, or by IMAP.'],
    ['key_version',
     'Number of the data key of the project that seals the password or token, 1 for the first; NULL: none is sealed.'],
    ['last_error', 'Why the last scan failed, or why it is not scanned.'],
    ['project_id', 'Id of the project.'],
    ['created_at', 'Time at which it was added.'],
    ['updated_at', 'Time of the last change.']
]);

SELECT mailqueue.describe_columns('delivery_channels', ARRAY[
    ['id', 'Id of the channel, in notification_channels.'],
    ['user_id', 'Id of the person who is notified there, in inbox_users.'],
    ['channel_type', 'slack or whatsapp.'],
    ['status', 'active, error, opted_out or disconnected.'],
    ['slack_channel_id', 'Id of the channel at Slack; NULL: WhatsApp.'],
    ['workspace', 'Id of the workspace at Slack; NULL: not known, or WhatsApp.'],
    ['whatsapp_phone_number', 'Number that is written to, as E.164; NULL: Slack.'],
    ['twilio_sid', 'Account at Twilio that delivers; NULL: Slack.'],
    ['key_version',
     'Number of the data key of the project that seals the token, 1 for the first; NULL: none is sealed.'],
    ['consent_given', 'Whether the person agreed to messages by WhatsApp and has not withdrawn it.'],
    ['consent_given_at', 'Time at which the person agreed; NULL: no consent is needed.'],
    ['last_error', 'Why the last delivery failed, or why the channel was disconnected.'],
    ['project_id', 'Id of the project.'],
    ['created_at', 'Time at which it was added.'],
    ['updated_at', 'Time of the last change.']
]);

SELECT mailqueue.describe_columns('notification_log', ARRAY[
    ['id', 'Id of the notification.'],
    ['user_id', 'Id of the person who is notified, in inbox_users.'],
    ['email_account_id', 'Id of the inbox that the mail came to.'],
    ['notification_channel_id', 'Id of the channel, in notification_channels.'],
    ['kind', 'mail; summary: of several mails; notice: about an inbox that is no longer watched.'],
    ['summary_id', 'Notification that tells of this mail with others; NULL: none.'],
    ['rule_id', 'Filter rule that the mail matched; NULL: the person has none.'],
    ['sender_name', 'Name of the sender; empty: none was given.'],
    ['sender_address', 'Address of the sender.'],
    ['subject', 'Subject of the mail.'],
    ['preview', 'Beginning of the text of the mail, at most 150 characters.'],
    ['delivery_status', 'pending, batched, sent, delivered, failed or unknown.'],
    ['external_message_id', 'Id that the provider gave the message; NULL: none yet.'],
    ['retry_count', 'Number of attempts after the first.'],
    ['last_error', 'Why the last attempt failed.'],
    ['email_received_at', 'Time at which the mail arrived, by its server.'],
    ['delivered_at', 'Time at which the provider confirmed it.'],
    ['next_attempt_at', 'Earliest time of the next attempt; NULL: there is none.'],
    ['project_id', 'Id of the project.'],
    ['created_at', 'Time at which it was queued.'],
    ['updated_at', 'Time at which it was finished; before that, of created_at.']
]);

SELECT mailqueue.describe_columns('inbox_listeners', ARRAY[
    ['mailbox_id', 'Id of the inbox, in mailboxes.'],
    ['server', 'Host and port of its server.'],
    ['listener', 'Id of the process that listens to it.'],
    ['state',
     'connecting, listening; waiting: another connection follows at next_at; unsupported: the server has no IDLE.'],
    ['lease_until', 'Time until which no other process listens to it.'],
    ['known_at', 'Time of the last change of the inbox that the connection knows.'],
    ['next_at', 'Time from which another connection is made, unless the inbox is changed before.'],
    ['failures', 'Connections in a row that failed.'],
    ['last_error', 'Why the last connection ended; NULL: it has not.']
]);
