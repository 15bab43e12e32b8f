-- Who got this campaign's mail, and what became of it at each address? Put the campaign in.
SELECT r.project, r.address, r.status, r.finished_at, r.reason, r.sender, r.attempts
FROM mailqueue.recipient_history AS r
WHERE r.campaign_id = 'spring'
ORDER BY r.finished_at NULLS LAST, r.address;
