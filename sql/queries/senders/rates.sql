-- Rates that hold for all projects together.

-- name: set_max_send_rate :value
-- Let the whole installation send no faster than this; NULL for as fast as it can. False when that was so already.
SELECT mailqueue.set_max_send_rate(%(rate)s::numeric);

-- name: set_domain_rate :run
-- Have a recipient domain written to no faster than this, from the next claim on.
INSERT INTO mailqueue.domain_rates AS d (domain, rate_per_second, burst, note)
VALUES (%(domain)s, %(rate)s::numeric, %(burst)s, %(note)s)
ON CONFLICT (domain) DO UPDATE
SET rate_per_second = excluded.rate_per_second, burst = excluded.burst, note = excluded.note, changed_at = now()
WHERE (d.rate_per_second, d.burst, d.note) IS DISTINCT FROM (excluded.rate_per_second, excluded.burst, excluded.note);

-- name: lift_domain_rate :run
-- Let a recipient domain be written to as fast as can be; no row when it had no rate.
DELETE FROM mailqueue.domain_rates WHERE domain = %(domain)s;

-- name: list_rates :many
-- The rates in force, that of the whole installation first.
SELECT holds_for, rate_per_second::double precision, burst, note, used_up_until
FROM mailqueue.rates
ORDER BY holds_for <> 'all mail', holds_for;
