-- Rates across all projects.

-- name: set_max_send_rate :value
-- Limit the rate of the installation; NULL for no limit. False if it had that value.
SELECT mailqueue.set_max_send_rate(%(rate)s::numeric);

-- name: set_domain_rate :run
-- Limit the rate of a recipient domain, from the next claim on.
INSERT INTO mailqueue.domain_rates AS d (domain, rate_per_second, burst, note)
VALUES (%(domain)s, %(rate)s::numeric, %(burst)s, %(note)s)
ON CONFLICT (domain) DO UPDATE
SET rate_per_second = excluded.rate_per_second, burst = excluded.burst, note = excluded.note, changed_at = now()
WHERE (d.rate_per_second, d.burst, d.note) IS DISTINCT FROM (excluded.rate_per_second, excluded.burst, excluded.note);

-- name: lift_domain_rate :run
-- Remove the rate of a recipient domain; no row if it had none.
DELETE FROM mailqueue.domain_rates WHERE domain = %(domain)s;

-- name: list_rates :many
-- Rates in force, that of the installation first; one that a float cannot hold as the nearest power of ten that it can.
SELECT holds_for, least(greatest(rate_per_second, 1e-300), 1e300)::double precision AS rate_per_second, burst, note,
       used_up_until
FROM mailqueue.rates
ORDER BY holds_for <> 'all mail', holds_for;
