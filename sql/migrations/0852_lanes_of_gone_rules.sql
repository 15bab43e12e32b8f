-- 0852_lanes_of_gone_rules.sql
-- Changes: lanes of routing rules that are gone have 0 as their rule
-- Running workers: not affected
-- Locks:   rows of those lanes for a moment
UPDATE mailqueue.lanes AS l SET rule_id = 0
  FROM (SELECT x.id FROM mailqueue.lanes AS x
         WHERE x.rule_id <> 0 AND NOT EXISTS (SELECT FROM mailqueue.routing_rules AS r WHERE r.id = x.rule_id)
         ORDER BY x.id FOR NO KEY UPDATE) AS gone
 WHERE l.id = gone.id;
