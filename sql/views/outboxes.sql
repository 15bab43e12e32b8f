-- The outbox table of other programs: mail under ids of its writers, inserted and read by the columns they know.

DROP VIEW IF EXISTS mailqueue.outboxes CASCADE;
-- Rows of a login that is bound to projects are those of its projects; see sql/functions/projects/producers.sql.
CREATE VIEW mailqueue.outboxes AS
SELECT o.id, coalesce(e.recipient_name, '') AS to_name, e.recipient_email AS to_email, c.subject,
       coalesce(c.html_body, c.text_body) AS body, coalesce(e.status = 'sent', false) AS is_sent, o.sequence_number,
       o.created_at, CASE WHEN e.status = 'sent' THEN e.finished_at END AS sent_at,
       p.name AS project, e.status, e.reason, e.custom_data
  FROM mailqueue.outbox_rows AS o
  JOIN mailqueue.projects AS p ON p.id = o.project_id
  LEFT JOIN LATERAL (
      SELECT q.recipient_name, q.recipient_email, q.status, q.last_error AS reason, NULL::timestamptz AS finished_at,
             q.custom_data, q.content_id, q.content_on, q.is_test
        FROM mailqueue.email_queue AS q WHERE q.id = o.id
      UNION ALL
      SELECT h.recipient_name, h.recipient_email, h.status, h.reason, h.finished_at, h.custom_data, h.content_id,
             h.content_on, h.is_test
        FROM mailqueue.email_history AS h WHERE h.id = o.id) AS e ON true
  LEFT JOIN mailqueue.email_contents AS c ON c.id = e.content_id AND c.created_on = e.content_on
 WHERE ((SELECT mailqueue.sees_all()) OR o.project_id = (SELECT mailqueue.tenant()))
   AND coalesce((SELECT mailqueue.mode()) = e.is_test, true)
   AND (NOT EXISTS (SELECT FROM mailqueue.producer_projects AS b WHERE b.login = session_user)
        OR o.project_id IN (SELECT b.project_id FROM mailqueue.producer_projects AS b WHERE b.login = session_user));
COMMENT ON VIEW mailqueue.outboxes IS
    'Mail that was inserted here, under the id that its writer chose. INSERT and COPY a row to send it; workers set '
    'is_sent and sent_at. A second INSERT of an id raises SQLSTATE 23505, or gives no row where the project''s '
    'outbox_duplicates is skip.';
ALTER VIEW mailqueue.outboxes ALTER COLUMN id SET DEFAULT mailqueue.uuidv7();
ALTER VIEW mailqueue.outboxes ALTER COLUMN to_name SET DEFAULT '';
ALTER VIEW mailqueue.outboxes ALTER COLUMN is_sent SET DEFAULT false;
ALTER VIEW mailqueue.outboxes ALTER COLUMN created_at SET DEFAULT now();

CREATE TRIGGER outboxes_insert INSTEAD OF INSERT ON mailqueue.outboxes
    FOR EACH ROW EXECUTE FUNCTION mailqueue.outboxes_insert();
