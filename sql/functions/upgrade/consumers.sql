-- Readers of the stream: the rows of CONSUMERS in mailqueue/core/consumers.py, filled in at the marker. A new one
-- begins with events that come after it.

INSERT INTO mailqueue.consumers AS c (name, types, is_ordered, takes_test, position, horizon)
SELECT r.name, r.types, r.is_ordered, r.takes_test, l.number, l.number
  FROM jsonb_to_recordset('[[CONSUMERS]]') AS r (name text, types text[], is_ordered boolean, takes_test boolean)
 CROSS JOIN (SELECT mailqueue.last_event_number() AS number) AS l
    ON CONFLICT ON CONSTRAINT consumers_pkey DO UPDATE
        SET types = excluded.types, is_ordered = excluded.is_ordered, takes_test = excluded.takes_test
 WHERE (c.types, c.is_ordered, c.takes_test)
       IS DISTINCT FROM (excluded.types, excluded.is_ordered, excluded.takes_test);

DELETE FROM mailqueue.consumers AS c
 WHERE c.name NOT IN (SELECT r.name FROM jsonb_to_recordset('[[CONSUMERS]]') AS r (name text));
