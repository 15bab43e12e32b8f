-- The check of watched inboxes: inboxes and channels in error, deliveries in doubt, a provider that is left alone.

CREATE OR REPLACE FUNCTION mailqueue.health_of_inbox_watch() RETURNS TABLE (name text, state text, found text, fix text)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
    WITH troubles AS (
        SELECT format('inbox %s of %s is in error (%s)', m.id, p.name, left(m.last_error, 200)) AS words,
               CASE m.provider
                   WHEN 'gmail' THEN format('mailqueue watch inbox connect %s --user %s --project %s',
                                            mailqueue.shell_word(m.email_address), m.user_id,
                                            mailqueue.shell_word(p.name))
                   ELSE format('mailqueue watch inbox reconnect %s --project %s', m.id,
                               mailqueue.shell_word(p.name)) END AS fix,
               1 AS place, m.finished_at AS at
          FROM (SELECT o.id, o.project_id, o.provider, o.email_address, o.user_id, o.last_error, o.finished_at
                  FROM mailqueue.mailboxes AS o
                 WHERE o.status = 'failed' ORDER BY o.finished_at DESC LIMIT 100) AS m
          JOIN mailqueue.projects AS p ON p.id = m.project_id
        UNION ALL
        SELECT format('channel %s of %s is in error (%s)', c.id, p.name, left(c.last_error, 200)),
               format('mailqueue watch channel reconnect %s --project %s', c.id, mailqueue.shell_word(p.name)), 2,
               c.updated_at
          FROM (SELECT o.id, o.project_id, o.last_error, o.updated_at FROM mailqueue.notification_channels AS o
                 WHERE o.status = 'error' ORDER BY o.updated_at DESC LIMIT 100) AS c
          JOIN mailqueue.projects AS p ON p.id = c.project_id
        UNION ALL
        SELECT mailqueue.key_words(k, k.key), 'wait, or see the status page of the provider', 3, k.blocked_until
          FROM mailqueue.queue_keys AS k WHERE k.queue = 'notifications' AND k.blocked_until > clock_timestamp()
        UNION ALL
        SELECT format('it is unknown whether notification %s of %s was delivered', n.id, p.name),
               format('mailqueue watch notification retry %s --project %s', n.id, mailqueue.shell_word(p.name)), 4,
               n.created_at
          FROM (SELECT o.id, o.project_id, o.created_at FROM mailqueue.notifications AS o
                 WHERE o.status = 'held' ORDER BY o.created_at DESC LIMIT 100) AS n
          JOIN mailqueue.projects AS p ON p.id = n.project_id
        UNION ALL
        SELECT format('inbox %s of %s cannot be listened to (%s), and is scanned by time alone', l.mailbox_id, p.name,
                      left(l.last_error, 200)), 'mailqueue watch inbox list --project ' || mailqueue.shell_word(p.name),
               5, l.updated_at
          FROM (SELECT o.mailbox_id, o.project_id, o.last_error, o.updated_at FROM mailqueue.inbox_listeners AS o
                  JOIN mailqueue.mailboxes AS m ON m.id = o.mailbox_id AND m.status IN ('pending', 'assigned')
                                               AND m.paused_by IS NULL
                 WHERE o.state = 'waiting' AND o.failures >= 5 ORDER BY o.updated_at DESC LIMIT 100) AS l
          JOIN mailqueue.projects AS p ON p.id = l.project_id
    )
    SELECT 'inbox_watch', CASE WHEN count(*) = 0 THEN 'ok' ELSE 'warning' END,
           coalesce(mailqueue.some_words(array_agg(t.words ORDER BY t.place, t.at DESC)),
                    'watched inboxes and their channels answer'),
           (array_agg(t.fix ORDER BY t.place, t.at DESC))[1]
      FROM troubles AS t
$$;
COMMENT ON FUNCTION mailqueue.health_of_inbox_watch() IS 'The check of watched inboxes, for the view health.';
