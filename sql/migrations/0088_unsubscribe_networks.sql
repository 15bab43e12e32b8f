-- 0088_unsubscribe_networks.sql
-- Changes: unsubscribe_list.ip_address: addresses that were inserted become networks
-- Running workers: not affected
-- Locks:   none; where a row has an address, unsubscribe_list for as long as such rows are written

DO $$
BEGIN
    IF EXISTS (SELECT FROM mailqueue.unsubscribe_list AS u WHERE u.ip_address IS NOT NULL) THEN
        -- The trigger would suppress addresses again that were removed from suppressions since.
        ALTER TABLE mailqueue.unsubscribe_list DISABLE TRIGGER unsubscribe_list_suppress;
        UPDATE mailqueue.unsubscribe_list AS u
           SET ip_address = network(set_masklen(u.ip_address,
                   least(masklen(u.ip_address), CASE family(u.ip_address) WHEN 4 THEN 24 ELSE 48 END)))
         WHERE u.ip_address IS NOT NULL;
        ALTER TABLE mailqueue.unsubscribe_list ENABLE TRIGGER unsubscribe_list_suppress;
    END IF;
END $$;
