-- 0861_origins_of_opens.sql
-- Adds:    stats_fact.origin: country, city, client, system and device of an open or click, each a dimension of counts
-- Running workers: not affected; counts of the new dimensions begin with events that this release records
-- Locks:   none

ALTER TYPE mailqueue.stats_fact ADD ATTRIBUTE origin jsonb;
