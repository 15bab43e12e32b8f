-- 0053_modes_filled.sql
-- Adds:    the mode of what is there already: mail in the lanes of test mail, and what belongs to it
-- Running workers: go on; the rows of test mail that are written here are locked for as long as this takes
-- Locks:   none but those; email_history, email_events, batches and idempotency_keys are read once

WITH tests AS MATERIALIZED (
    SELECT l.id FROM mailqueue.lanes AS l WHERE coalesce(l.home_route, l.route) LIKE '(test)%'
), mail AS MATERIALIZED (
    SELECT q.id FROM mailqueue.email_queue AS q WHERE q.lane_id IN (SELECT t.id FROM tests AS t)
    UNION
    SELECT h.id FROM mailqueue.email_history AS h WHERE h.lane_id IN (SELECT t.id FROM tests AS t)
), queued AS (
    UPDATE mailqueue.email_queue AS q SET is_test = true FROM mail AS m WHERE q.id = m.id
), finished AS (
    UPDATE mailqueue.email_history AS h SET is_test = true FROM mail AS m WHERE h.id = m.id
), happened AS (
    UPDATE mailqueue.email_events AS v SET is_test = true FROM mail AS m WHERE v.email_id = m.id
), together AS (
    UPDATE mailqueue.batches AS b SET is_test = true
     WHERE b.id IN (SELECT x.id FROM mailqueue.batches AS x CROSS JOIN LATERAL unnest(x.email_ids) AS i(id) JOIN mail AS m ON m.id = i.id)
), told AS (
    UPDATE mailqueue.webhook_events AS e SET is_test = true FROM mail AS m WHERE e.email_id = m.id
), delivered AS (
    UPDATE mailqueue.webhook_deliveries AS d SET is_test = true
      FROM mailqueue.webhook_events AS e JOIN mail AS m ON m.id = e.email_id WHERE e.id = d.event_id
)
UPDATE mailqueue.idempotency_keys AS k SET key = E'test\x1f' || k.key FROM mail AS m WHERE k.email_id = m.id;  -- as kept_key() has it
