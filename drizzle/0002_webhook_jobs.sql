CREATE INDEX `deliveries_open` ON `deliveries` (`boot_id`) WHERE outcome IS NULL;--> statement-breakpoint
-- Fan-out jobs are no more: what was waiting becomes what they would have made.
INSERT INTO jobs (id, kind, lane, tenant_id, subject, run_at, created_at)
  SELECT own.id, 'webhook', target.id, own.tenant_id, own.subject || ':' || target.id, own.run_at, own.created_at
  FROM jobs AS own
  CROSS JOIN tenants ON tenants.id = own.tenant_id AND tenants.status = 'active'
  CROSS JOIN (
    SELECT id, tenant_id FROM apps WHERE is_active = 1 AND webhook_url IS NOT NULL
    UNION ALL SELECT id, tenant_id FROM triggers) AS target ON target.tenant_id = own.tenant_id
  WHERE own.kind = 'fan_out';--> statement-breakpoint
DELETE FROM jobs WHERE kind = 'fan_out';
