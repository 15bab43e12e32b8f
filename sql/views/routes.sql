-- Routing rules with the names of their accounts.

DROP VIEW IF EXISTS mailqueue.routes CASCADE;
CREATE VIEW mailqueue.routes AS
SELECT p.name AS project, r.id AS rule_id, r.position, r.category, r.tag, r.domain,
       ARRAY(SELECT a.name FROM unnest(r.accounts) WITH ORDINALITY AS x(id, place)
               JOIN mailqueue.sender_accounts AS a ON a.id = x.id ORDER BY x.place) AS senders, r.note, r.created_at
  FROM mailqueue.routing_rules AS r JOIN mailqueue.projects AS p ON p.id = r.project_id
 WHERE ((SELECT mailqueue.sees_all()) OR r.project_id = (SELECT mailqueue.tenant()));
COMMENT ON VIEW mailqueue.routes IS
    'Routing rules: mail that names no sender account uses these accounts, in order, by the first rule of its project'
    ' that matches.';
