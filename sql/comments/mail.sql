-- Columns of tables and views of emails and their content.

SELECT mailqueue.describe_columns('email_contents', ARRAY[
    ['id', 'Id of the content.'],
    ['created_on', 'Day on which the content was stored (UTC); the partition key.'],
    ['project_id', 'Id of the project.'],
    ['subject', 'Subject of the email.'],
    ['html_body', 'HTML body; NULL: text only.'],
    ['text_body', 'Plain text body; NULL: HTML only.'],
    ['from_email', 'Address in the From header; NULL: that of the sender account, else of the project.'],
    ['from_name', 'Display name in the From header.'],
    ['reply_to', 'Address in the Reply-To header.'],
    ['headers', 'Further header fields, name to value.'],
    ['files', 'Attachments: id in attachments, file name, media type, Content-ID.'],
    ['template_version_id',
     'Template version from which each mail is rendered, with the variables in its custom_data; subject is then '
     'the template''s.'],
    ['template_language', 'Language of the template that the email asked for.'],
    ['variant',
     'Variant of an A/B test that emails with this content are counted by: id of the test, / and name; NULL: none.'],
    ['header_recipients',
     'To and Cc of the header as {"to": ["Ann <ann@example.com>"], "cc": []}, if a message to many recipients was '
     'split into several mails; NULL: the recipients of the mail.'],
    ['tracking_options',
     'Sum of 1 (open tracking), 2 (click tracking), 4 (unsubscribe link), 8 (no unsubscribe link, marketing '
     'included); NULL: an unsubscribe link for marketing, nothing for other mail.']
]);

SELECT mailqueue.describe_columns('email_history', ARRAY[
    ['id', 'Id of the email.'],
    ['finished_at', 'Time at which the email was finished; the partition key.'],
    ['project_id', 'Id of the project.'],
    ['lane_id', 'Id of the lane.'],
    ['status', 'Outcome: sent, failed, suppressed, expired or cancelled.'],
    ['reason', 'Reason for the outcome; NULL: sent.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['attempts', 'Number of attempts to send so far.'],
    ['max_attempts', 'Number of attempts after which the email fails.'],
    ['worker_id', 'Id of the worker that finished the email; NULL: none did.'],
    ['claim_no', 'Number of the claim under which the email was finished.'],
    ['last_error', 'Error of the last attempt, with the server''s reply.'],
    ['created_at', 'Time at which the email was accepted.'],
    ['assigned_to', 'Id of the sender account that finished the email; NULL: none did.'],
    ['recipients', 'Number of recipients.'],
    ['unknowns', 'Number of times that the outcome of an attempt was unknown.'],
    ['delivery', 'If the outcome of an attempt is unknown: resend once, or hold for a person.'],
    ['category', 'Category of the email, such as transactional or marketing.'],
    ['expires_at', 'Time after which the email is no longer sent and becomes expired.'],
    ['recipient_email', 'Recipient address.'],
    ['recipient_name', 'Display name of the recipient.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['tags', 'Tags of the email.'],
    ['custom_data', 'JSON object of the producer; with a template, the variables of the email.'],
    ['idempotency_key', 'A second email of the project with the same key is not queued.'],
    ['content_id', 'Id of the content in email_contents.'],
    ['content_on', 'Partition key of the content in email_contents.'],
    ['message_id', 'Message-ID header; NULL: the message was never built.'],
    ['provider_message_id', 'Id that the provider gave the message.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.']
]);

SELECT mailqueue.describe_columns('email_recipients', ARRAY[
    ['email_id', 'Id of the email.'],
    ['position', 'Position in the email: 0 is the recipient in recipient_email.'],
    ['project_id', 'Id of the project.'],
    ['kind', 'to, cc or bcc.'],
    ['address', 'Recipient address.'],
    ['name', 'Display name of the recipient.'],
    ['status', 'Outcome for this recipient; pending: there is none yet.'],
    ['reason', 'Reason for the outcome; NULL: none, or sent.'],
    ['reply_code', 'Reply code of the server, such as 250 or 550.'],
    ['settled_at', 'Time of the outcome; NULL while pending.']
]);

SELECT mailqueue.describe_columns('attachments', ARRAY[
    ['id', 'Id of the file.'],
    ['created_on', 'Day on which the file was stored (UTC); the partition key.'],
    ['project_id', 'Id of the project.'],
    ['sha256', 'SHA-256 of the file.'],
    ['bytes', 'Size of the file in bytes.'],
    ['content_type', 'Media type, such as application/pdf.'],
    ['file_name', 'File name of an upload; each use may give another.'],
    ['octets', 'The file itself; NULL: it is at location.'],
    ['location', 'URL of the file, file:///… or s3://…; NULL: it is in octets.'],
    ['is_test', 'Whether a test key uploaded the file.']
]);

SELECT mailqueue.describe_columns('batches', ARRAY[
    ['id', 'Id of the batch, that of its first email.'],
    ['project_id', 'Id of the project.'],
    ['created_at', 'Time at which the row was created.'],
    ['created_by', 'Name of the API key.'],
    ['subject', 'Subject of the emails; NULL: from a template.'],
    ['email_ids', 'Ids of the emails in the order of the recipients; NULL where one was refused.'],
    ['rejected', 'Number of recipients that were refused.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.']
]);

SELECT mailqueue.describe_columns('idempotency_keys', ARRAY[
    ['project_id', 'Id of the project.'],
    ['key', 'Idempotency key, unique in its project.'],
    ['fingerprint', 'SHA-256 of the email that was accepted under the key.'],
    ['email_id', 'Id of the email.'],
    ['created_at', 'Time at which the row was created.']
]);

SELECT mailqueue.describe_columns('send_logs', ARRAY[
    ['id', 'Id of the attempt.'],
    ['sent_at', 'Time of the attempt; the partition key.'],
    ['email_id', 'Id of the email.'],
    ['project_id', 'Id of the project.'],
    ['sender_account_id', 'Id of the sender account.'],
    ['worker_id', 'Id of the worker that made the attempt.'],
    ['attempt', 'Number of the attempt, from 1.'],
    ['status', 'Outcome of the attempt: sent, deferred, bounced, rejected, failed or unknown.'],
    ['recipient_email', 'Recipient address.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['message_id', 'Message-ID header; NULL: the message was never built.'],
    ['error_code', 'Reply code of the server, for sent mail too.'],
    ['enhanced_code', 'Enhanced status code of the server, such as 5.1.1.'],
    ['reply', 'Reply of the server.'],
    ['response_ms',
     'Time that the server took, in milliseconds, from when it had answered the mail before on the connection.'],
    ['conversation', 'What both sides said, without the message and credentials; NULL: the mail was accepted, or '
                     'nothing was recorded.'],
    ['custom_data',
     'Custom data of the email, without template variables; NULL: it has none, or more than 2,000 characters.']
]);

SELECT mailqueue.describe_columns('retry_ladders', ARRAY[
    ['project_id', 'Id of the project.'],
    ['category', 'Category of the emails; empty: every category without a row of its own.'],
    ['steps', 'Waits after the first attempt, the second, and so on; the last one repeats.'],
    ['max_attempts', 'Number of attempts after which on_exhausted applies; NULL: until it expires.'],
    ['soft_wait', 'Longest wait after a soft bounce; NULL: as after any other failure.'],
    ['soft_retries', 'Number of soft bounces after which an email is still tried again.'],
    ['on_exhausted', 'What becomes of an email after its last attempt: fail, or hold until a person decides.']
]);

SELECT mailqueue.describe_columns('emails', ARRAY[
    ['id', 'Id of the email.'],
    ['project', 'Name of the project.'],
    ['project_id', 'Id of the project.'],
    ['status', 'State: pending, assigned, held, sent, failed, suppressed, expired or cancelled.'],
    ['reason', 'Reason for the state; NULL: none, or sent.'],
    ['priority', 'Priority: 0 critical, 1 high, 2 normal, 3 low.'],
    ['category', 'Category of the email, such as transactional or marketing.'],
    ['recipient_email', 'Recipient address.'],
    ['recipient_name', 'Display name of the recipient.'],
    ['subject', 'Subject of the email.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['tags', 'Tags of the email.'],
    ['custom_data', 'JSON object of the producer; with a template, the variables of the email.'],
    ['tracking_token', 'Name that the producer gave the mail; kept in custom_data.'],
    ['max_retries', 'Maximum of attempts after the first: max_attempts less one.'],
    ['next_retry_at', 'Earliest time of the next attempt of pending mail; NULL: of other mail.'],
    ['created_at', 'Time at which the email was accepted.'],
    ['run_at', 'Earliest time of the next attempt; NULL: finished.'],
    ['finished_at', 'Time at which the email was finished; NULL: it is not.'],
    ['expires_at', 'Time after which the email is no longer sent and becomes expired.'],
    ['attempts', 'Number of attempts to send so far.'],
    ['max_attempts', 'Number of attempts after which the email fails.'],
    ['recipients', 'Number of recipients.'],
    ['delivery', 'If the outcome of an attempt is unknown: resend once, or hold for a person.'],
    ['assigned_to', 'Id of the sender account that sent or tried the email.'],
    ['sender', 'Name of the sender account.'],
    ['worker_id', 'Id of the worker that holds or finished the email.'],
    ['last_error', 'Error of the last attempt, with the server''s reply.'],
    ['message_id', 'Message-ID header; NULL: the message was never built.'],
    ['provider_message_id', 'Id that the provider gave the message.'],
    ['html_body', 'HTML body.'],
    ['text_body', 'Plain text body.'],
    ['from_email', 'Address in the From header.'],
    ['from_name', 'Display name in the From header.'],
    ['reply_to', 'Address in the Reply-To header.'],
    ['is_test', 'Whether a test key submitted the email; such mail reaches the trap only.']
]);

SELECT mailqueue.describe_columns('attempts', ARRAY[
    ['email_id', 'Id of the email.'],
    ['attempt', 'Number of the attempt, from 1.'],
    ['custom_data', 'JSON object of the mail; with a template, its variables.'],
    ['sent_at', 'Time of the attempt; the partition key.'],
    ['project', 'Name of the project.'],
    ['sender', 'Name of the sender account.'],
    ['status', 'Outcome of the attempt: sent, deferred, bounced, rejected, failed or unknown.'],
    ['recipient_email', 'Recipient address.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['error_code', 'Reply code of the server, for sent mail too.'],
    ['enhanced_code', 'Enhanced status code of the server, such as 5.1.1.'],
    ['reply', 'Reply of the server.'],
    ['response_ms',
     'Time that the server took, in milliseconds, from when it had answered the mail before on the connection.'],
    ['worker_id', 'Id of the worker that made the attempt.'],
    ['message_id', 'Message-ID header; NULL: the message was never built.']
]);

SELECT mailqueue.describe_columns('held', ARRAY[
    ['id', 'Id of the email.'],
    ['project', 'Name of the project.'],
    ['recipient_email', 'Recipient address.'],
    ['subject', 'Subject of the email.'],
    ['reason', 'Reason for which the email is held.'],
    ['created_at', 'Time at which the email was accepted.'],
    ['attempts', 'Number of attempts so far.'],
    ['sender', 'Name of the sender account.'],
    ['category', 'Category of the email, such as transactional or marketing.'],
    ['campaign_id', 'Campaign of the email, as its producer named it.'],
    ['held_at', 'Time since which the email is held.'],
    ['fix', 'Commands by which a person decides.']
]);

SELECT mailqueue.describe_columns('trap_messages', ARRAY[
    ['id', 'Id of the message.'],
    ['received_at', 'Time at which the message was received.'],
    ['mail_from', 'Sender of the envelope.'],
    ['rcpt_to', 'Recipients of the envelope.'],
    ['subject', 'Subject, decoded.'],
    ['from_header', 'From header, decoded.'],
    ['to_header', 'To header, decoded.'],
    ['preview', 'First words of the text.'],
    ['size_bytes', 'Size of the message in bytes.'],
    ['raw', 'The message, as received.']
]);

SELECT mailqueue.describe_columns('outbox_rows', ARRAY[
    ['id', 'Id of the email, chosen by its writer. Never taken again.'],
    ['sequence_number', 'Place in the order of INSERTs; with gaps.'],
    ['created_at', 'Time of creation that the INSERT gave, else the time of the INSERT.'],
    ['accepted_on', 'Day of the INSERT, in UTC.']
]);

SELECT mailqueue.describe_columns('outboxes', ARRAY[
    ['id', 'Id of the email: a UUID that the writer of the row chooses; generated if omitted.'],
    ['to_name', 'Name of the recipient; '''': none.'],
    ['to_email', 'Address of the recipient.'],
    ['subject', 'Subject, at most 998 characters.'],
    ['body', 'Body: HTML if it has a tag or a document type, otherwise plain text; at most 25 MiB.'],
    ['is_sent', 'Whether a server has accepted the email.'],
    ['sequence_number', 'Place in the order of INSERTs; with gaps.'],
    ['created_at', 'Time of creation that the INSERT gave, else the time of the INSERT.'],
    ['sent_at', 'Time at which a server accepted the email; NULL: none has.'],
    ['project', 'Name of the project.'],
    ['reason', 'Why it is not sent, or not yet.'],
    ['custom_data', 'JSON object stored with the email.']
]);

SELECT mailqueue.describe_columns('email_order', ARRAY[
    ['email_id', 'Id of the email.'],
    ['order_key', 'Hash of what the emails have in common that go in order.'],
    ['sequence_number', 'Place in the order; with gaps.'],
    ['run_at', 'Earliest time of its first attempt, once it has its turn.'],
    ['is_released', 'Whether it has its turn, or had it.'],
    ['open_writers',
     'Virtual ids of transactions that were open when it was first seen, and may insert an earlier email.'],
    ['blocked_by', 'Outcome of a finished email that blocks the others: failed or expired; NULL: it is not finished.']
]);

SELECT mailqueue.describe_columns('refused_rows', ARRAY[
    ['table_name', 'Queue table of the row.'],
    ['row_id', 'Id of the row.'],
    ['refusals', 'Number of claims that were refused for it.'],
    ['refused_at', 'Time of the last refusal.'],
    ['retry_at', 'Time until which claims leave the row out.'],
    ['reason', 'SQLSTATE and the trigger function or constraint that refused; not its message.']
]);

SELECT mailqueue.describe_columns('queue_keys', ARRAY[
    ['queue', 'Name of the queue.'],
    ['key', 'The key: of webhooks the id of the webhook, of notifications the provider of the channel.'],
    ['failures', 'Failures in a row.'],
    ['failing_since', 'Time of the first of these failures; NULL: none.'],
    ['opened_at', 'Time at which the circuit opened; NULL: closed. While open, one row at a time probes the key.'],
    ['openings', 'Number of times in a row that the circuit opened or stayed open.'],
    ['blocked_until', 'Time before which no row of the key is claimed; NULL: not blocked.'],
    ['probing_until', 'End of the current probe; no other begins before. NULL: no probe.'],
    ['last_error', 'Reason of the last failure; NULL: not known.']
]);

SELECT mailqueue.describe_columns('order_signals', ARRAY[
    ['order_key', 'Hash of what the emails have in common that go in order.'],
    ['look_at', 'Earliest time to look at the key.']
]);
