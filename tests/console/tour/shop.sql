-- A week of a shop's mail, made up: 2,400 emails of three campaigns by two accounts, with events and replies.

CREATE TEMPORARY TABLE shop_mail ON COMMIT DROP AS
SELECT n, mailqueue.uuidv7() AS id, p.id AS project_id, a.id AS account, a.name AS account_name,
       -- A day has a busy and a quiet half.
       clock_timestamp() - interval '10 s' - make_interval(secs => t.age + 0.8 * 13751 * sin(t.age / 13751)) AS at,
       (ARRAY['orders', 'orders', 'newsletter-48', 'sign-up'])[k.kind] AS campaign, k.kind AS content,
       lower((ARRAY['Ann', 'Ben', 'Cleo', 'David', 'Elif', 'Farah', 'Gustav', 'Hana', 'Ivo', 'Jun', 'Kim'])[n % 11 + 1])
           || '.' || (ARRAY['smith', 'novak', 'okoro', 'garcia', 'tanaka', 'weber', 'rossi'])[n % 7 + 1]
           || n || '@' || (ARRAY['example.com', 'mail.example.net', 'post.example.org'])[n % 3 + 1] AS address,
       CASE WHEN n % 61 = 0 THEN 'failed' WHEN n % 173 = 0 THEN 'suppressed' ELSE 'sent' END AS status
  FROM mailqueue.projects AS p, generate_series(1, 2400) AS n
 CROSS JOIN LATERAL (SELECT (2400 - n) * 250.0 AS age) AS t
 CROSS JOIN LATERAL (SELECT CASE WHEN n BETWEEN 1500 AND 1900 AND n % 3 > 0 THEN 3 WHEN n % 5 = 0 THEN 4
                                 ELSE n % 2 + 1 END AS kind) AS k
  JOIN mailqueue.sender_accounts AS a ON a.name = (ARRAY['postmark', 'relay', 'relay'])[n % 3 + 1]
 WHERE p.name = 'shop' AND a.project_id = p.id;

INSERT INTO mailqueue.email_contents (id, created_on, project_id, subject, html_body, from_email)
SELECT 900000 + c.n, current_date, p.id, c.subject, '<h1>' || c.subject || '</h1><p>Thank you for your order.</p>',
       'shop@shop.example.com'
  FROM mailqueue.projects AS p, (VALUES (1, 'Your order is on its way'), (2, 'Your receipt'),
                                        (3, 'Winter arrives on Friday'), (4, 'Confirm your address')) AS c(n, subject)
 WHERE p.name = 'shop';

INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, reason, priority, attempts, max_attempts,
    created_at, assigned_to, recipients, unknowns, delivery, category, expires_at, recipient_email, campaign_id, content_id,
    content_on, message_id)
SELECT m.id, m.at + interval '1.4 s', m.project_id, 1, m.status,
       CASE m.status WHEN 'failed' THEN '550 5.1.1 <' || m.address || '>: Recipient address rejected: User unknown'
                     WHEN 'suppressed' THEN 'every recipient is suppressed' END,
       2, 1, 3, m.at, m.account, 1, 0, 'resend', CASE m.campaign WHEN 'newsletter-48' THEN 'marketing' ELSE 'transactional' END,
       m.at + interval '1 day', m.address, m.campaign, 900000 + m.content, current_date,
       '<' || m.id || '@shop.example.com>'
  FROM shop_mail AS m;

INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id, attempt, status, recipient_email,
    campaign_id, error_code, enhanced_code, reply, response_ms)
SELECT m.at + interval '1.4 s', m.id, m.project_id, m.account, 1,
       CASE m.status WHEN 'sent' THEN 'sent' ELSE 'bounced' END, m.address, m.campaign,
       CASE m.status WHEN 'sent' THEN '250' ELSE '550' END, CASE m.status WHEN 'sent' THEN '2.0.0' ELSE '5.1.1' END,
       CASE m.status WHEN 'sent' THEN '2.0.0 Ok: queued as 4TqXz' || m.n
                     ELSE '5.1.1 <' || m.address || '>: Recipient address rejected: User unknown' END,
       40 + m.n * 37 % 120 + CASE m.account_name WHEN 'postmark' THEN 80 ELSE 0 END
  FROM shop_mail AS m WHERE m.status <> 'suppressed';

INSERT INTO mailqueue.email_events (id, occurred_at, project_id, email_id, type, recipient_email, sender_account_id, source,
    code, detail, data)
SELECT mailqueue.uuidv7(), e.at, m.project_id, m.id, e.type, m.address, m.account, e.source, e.code, e.detail, e.data
  FROM shop_mail AS m
 CROSS JOIN LATERAL (
        SELECT m.at + interval '1.4 s' AS at, 'failed' AS type, NULL AS source, '5.1.1' AS code, 'User unknown' AS detail,
               NULL::jsonb AS data WHERE m.status = 'failed'
        UNION ALL SELECT m.at + interval '1.4 s', 'suppressed', NULL, NULL, NULL, NULL WHERE m.status = 'suppressed'
        UNION ALL SELECT m.at + interval '4 s', 'delivered', 'postmark', '2.0.0', NULL, NULL WHERE m.status = 'sent'
        UNION ALL SELECT m.at + make_interval(mins => 1 + m.n * 7 % 240), 'opened', 'tracking', NULL, NULL,
                         jsonb_build_object('client', (ARRAY['Apple Mail', 'Gmail', 'Outlook', 'Thunderbird'])[m.n % 4 + 1],
                                            'device', (ARRAY['phone', 'desktop'])[m.n % 2 + 1])
                   WHERE m.status = 'sent' AND m.n % 5 < 2
        UNION ALL SELECT m.at + make_interval(mins => 2 + m.n * 11 % 240), 'clicked', 'tracking', NULL, NULL,
                         '{"url": "https://shop.example.com/orders", "link": "aa00"}' WHERE m.status = 'sent' AND m.n % 9 = 0
        UNION ALL SELECT m.at + interval '2 h', 'complaint', 'postmark', NULL, NULL, NULL
                   WHERE m.status = 'sent' AND m.n % 797 = 0) AS e
 WHERE e.at < clock_timestamp();

INSERT INTO mailqueue.limit_days (limit_id, day, sent, reserved, bounces, errors)
SELECT l.id, current_date - 1, 300, 0, 0, 0 FROM mailqueue.limits AS l
 WHERE l.sender_account_id IN (SELECT a.id FROM mailqueue.sender_accounts AS a WHERE a.name = 'relay');
