-- Mail submitted by SMTP.

-- name: message_bytes_of :maybe
-- Maximum size of a message of this project in bytes, attachments included.
SELECT mailqueue.message_bytes_of(%(project_id)s);
