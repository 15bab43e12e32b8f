-- 0052_modes.sql
-- Adds:    the mode of mail, events, batches, files and deliveries (is_test); lanes of test mail
-- Running workers: go on; mail that an API of the version before accepts for a test key stays live mail of the trap
-- Locks:   email_queue, email_history, email_events, batches, attachments, webhook_events, webhook_deliveries and lanes for a
--          moment: a constant default is no rewrite

ALTER TABLE mailqueue.email_queue        ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.email_history      ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.email_events       ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.batches            ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.attachments        ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.webhook_events     ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE mailqueue.webhook_deliveries ADD COLUMN is_test boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN mailqueue.email_queue.is_test IS
    'Whether a test key handed it in. Set when the mail is accepted, never changed; such mail is in lanes of route (test), whose only accounts are traps.';

-- Months that are on their way out can be attached again only while they are like the others.
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid FROM pg_catalog.pg_class AS c
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND NOT c.relispartition AND c.relkind = 'r'
           AND c.relname ~ '^(email_history|email_events|attachments)_[0-9]{4}_[0-9]{2}$'
    LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN is_test boolean NOT NULL DEFAULT false', v_table);
    END LOOP;
END $$;

-- Test mail named the trap until now. Those lanes become the lanes of test mail, with the mail in them; mail that names the trap from
-- now on gets new ones. A project with several traps keeps one lane for each, beside the one of new test mail.
UPDATE mailqueue.lanes AS l
   SET route = CASE WHEN a.n = 1 THEN '(test)' ELSE '(test) ' || a.id END || substr(l.route, length(a.name) + 1),
       home_route = CASE WHEN l.home_route IS NOT NULL THEN CASE WHEN a.n = 1 THEN '(test)' ELSE '(test) ' || a.id END END
  FROM (SELECT s.id, s.project_id, s.name, row_number() OVER (PARTITION BY s.project_id ORDER BY s.priority, s.id) AS n
          FROM mailqueue.sender_accounts AS s WHERE s.provider = 'trap') AS a
 WHERE l.project_id = a.project_id AND l.rule_id IS NULL AND coalesce(l.home_route, l.route) = a.name;
INSERT INTO mailqueue.lanes (project_id, priority, route, weight, project_limit, account_limits)
SELECT p.id, n, r.route, p.weight, g.id, r.accounts
  FROM mailqueue.projects AS p
  JOIN mailqueue.limits AS g ON g.project_id = p.id AND g.sender_account_id IS NULL
 CROSS JOIN generate_series(0, 3) AS n
 CROSS JOIN LATERAL (
       SELECT '(test)' AS route, coalesce(array_agg(m.id ORDER BY a.priority, a.id), '{}') AS accounts
         FROM mailqueue.sender_accounts AS a JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
        WHERE a.project_id = p.id AND a.provider = 'trap'
       UNION ALL
       SELECT a.name, ARRAY[m.id] FROM mailqueue.sender_accounts AS a JOIN mailqueue.limits AS m ON m.sender_account_id = a.id
        WHERE a.project_id = p.id AND a.provider = 'trap') AS r
ON CONFLICT (project_id, priority, route) DO NOTHING;
