-- Bounce mail: the mail it belongs to, and the domains it is accepted for.

-- name: find_bounced_mail :maybe
-- The bounced mail, by its id or else by its Message-ID, with all its recipients in order; of several with one
-- Message-ID, the mail to one of the given recipients.
SELECT m.id, m.project_id, m.recipients
FROM mailqueue.bounced_mail(%(email_id)s::uuid, %(message_id)s::text, %(project_id)s::uuid,
                            %(recipients)s::text[]) AS m;

-- name: is_bounce_ignored :value
-- Whether a rule of the project ignores bounce mail of one of the senders.
SELECT mailqueue.is_sender_ignored(%(project_id)s, %(senders)s::text[]);

-- name: list_bounce_domains :many
-- Domains of the return paths of all projects.
SELECT d.domain
FROM mailqueue.bounce_domains() AS d(domain);
