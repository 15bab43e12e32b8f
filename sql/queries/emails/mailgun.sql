-- Requests of Mailgun's API: domains, and the mode in which nothing is delivered.

-- name: find_allowed_from :maybe
-- The From addresses a project allows (NULL: any), and its trap account, if it has one.
SELECT p.allowed_from,
       (SELECT a.name FROM mailqueue.sender_accounts AS a
         WHERE a.project_id = p.id AND a.provider = 'trap' ORDER BY a.priority, a.id LIMIT 1) AS trap
FROM mailqueue.projects AS p
WHERE p.id = %(project_id)s;
