-- 1092_variants_of_counts.sql
-- Adds:    the variant of an A/B test to the contents of its emails, and to the facts that are counted
-- Running workers: not affected; counts of variants begin with emails that are accepted from now on
-- Locks:   email_contents for an instant: no row is read or written again

ALTER TABLE mailqueue.email_contents
    ADD COLUMN variant text;
ALTER TYPE mailqueue.stats_fact ADD ATTRIBUTE variant text;
