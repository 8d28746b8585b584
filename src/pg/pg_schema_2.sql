-- Format 2: when a lease was granted or renewed, by the server's clock. Nodes of format 1 leave it as
-- it is when they renew.

ALTER TABLE kv_leases ADD COLUMN at timestamptz NOT NULL DEFAULT clock_timestamp();
UPDATE kv_feed SET format = 2;
