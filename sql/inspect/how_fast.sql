-- How many mails were finished in each of the last thirty minutes, and how long did they wait?
SELECT date_trunc('minute', e.finished_at) AS minute, count(*) AS finished,
       count(*) FILTER (WHERE e.status = 'sent') AS sent,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY e.finished_at - e.created_at) AS median_wait,
       max(e.finished_at - e.created_at) AS longest_wait
FROM mailqueue.emails AS e
WHERE e.finished_at > now() - interval '30 min'
GROUP BY 1
ORDER BY 1 DESC;
