-- Which mails of a campaign were sent, and would be sent again by a resend? Put project and campaign in.
SELECT e.id, e.recipient_email, e.recipients, e.subject, e.finished_at, e.sender, e.message_id
FROM mailqueue.emails AS e
WHERE e.project = 'default'
  AND e.campaign_id = 'spring'
  AND e.status = 'sent'
ORDER BY e.finished_at;
