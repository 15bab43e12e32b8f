-- What was not delivered in the last day, by the recipients' domain and the reason?
SELECT split_part(lower(e.recipient_email), '@', 2) AS domain, e.status, left(e.reason, 80) AS reason,
       count(*) AS emails, max(e.finished_at) AS last_at
FROM mailqueue.emails AS e
WHERE e.finished_at > now() - interval '1 day'
  AND e.status <> 'sent'
GROUP BY 1, 2, 3
ORDER BY emails DESC
LIMIT 50;
