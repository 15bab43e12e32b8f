-- Campaigns.

-- name: list_waiting_campaigns :many
-- Queued and held emails of each campaign.
SELECT c.name, c.queued, c.held
FROM mailqueue.waiting_campaigns(%(project_id)s, %(most)s) AS c;
