-- Mail that programs hand in by SMTP.

-- name: message_bytes_of :maybe
-- How large a message may be in this project, files and all.
SELECT mailqueue.message_bytes_of(%(project_id)s);
