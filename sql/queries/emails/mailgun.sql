-- What requests of Mailgun's API name: domains, and the mode in which nothing is delivered.

-- name: domain_grounds :maybe
-- What mail of a project may be from (NULL: anything), and the account that catches its mail, if there is one.
SELECT p.allowed_from,
       (SELECT a.name FROM mailqueue.sender_accounts AS a
         WHERE a.project_id = p.id AND a.provider = 'trap' ORDER BY a.priority, a.id LIMIT 1) AS trap
FROM mailqueue.projects AS p
WHERE p.id = %(project_id)s;
