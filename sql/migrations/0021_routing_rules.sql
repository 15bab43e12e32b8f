-- 0021_routing_rules.sql
-- Adds:    routing_rules, fallback accounts, the claim that probes a half-open circuit
-- Running workers: not affected
-- Locks:   sender_accounts, lanes and limits for a moment: no row is read or written again

ALTER TABLE mailqueue.sender_accounts
    ADD COLUMN is_fallback boolean NOT NULL DEFAULT false;  -- used only while no account before it may send

-- Of a rule's mail; and, of the lane that mail takes which names no account, whether a rule may have another for it.
ALTER TABLE mailqueue.lanes
    ADD COLUMN rule_id   integer,
    ADD COLUMN has_rules boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN mailqueue.lanes.rule_id IS
    'The routing rule whose mail this is; once the rule is gone the lane has the accounts of mail without one.';

ALTER TABLE mailqueue.limits ADD COLUMN circuit_probe_claim bigint;  -- has the one mail that tries a half-open circuit
COMMENT ON COLUMN mailqueue.limits.circuit_held_until IS
    'No mail probes before: one is out, or its news may not be written yet.';

CREATE TABLE mailqueue.routing_rules (
    id          integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id  uuid        NOT NULL REFERENCES mailqueue.projects (id),
    position    integer     NOT NULL,                       -- the first that fits counts
    category    text,                                       -- NULL: any
    tag         text,                                       -- NULL: any, or none
    domain      text,                                       -- of the recipient; *.example.com: its subdomains. NULL: any
    accounts    integer[]   NOT NULL,                       -- in the order they are tried
    note        text,                                       -- why, for people
    created_at  timestamptz NOT NULL DEFAULT now(),

    CONSTRAINT routing_rules_project_id_position_key UNIQUE (project_id, position) DEFERRABLE,
    CONSTRAINT routing_rules_condition_check CHECK (num_nonnulls(category, tag, domain) > 0),
    CONSTRAINT routing_rules_domain_check CHECK (domain = lower(domain) AND domain ~ '^(\*\.)?[^@\s|*]{1,253}$'),
    CONSTRAINT routing_rules_accounts_check CHECK (cardinality(accounts) BETWEEN 1 AND 20 AND array_position(accounts, NULL) IS NULL)
);
COMMENT ON TABLE mailqueue.routing_rules IS
    'Which sender accounts mail takes that names none: by category, tag and recipient domain. The first rule that fits counts.';
