-- How much may each account still send today, and who is stopped?
SELECT h.project, h.sender, h.status, h.daily_sent, h.daily_reserved, h.daily_limit, h.headroom,
       h.blocked_reason, h.blocked_until, h.next_reset_at
FROM mailqueue.sender_headroom AS h
ORDER BY h.blocked_reason NULLS LAST, h.project, h.sender;
