ALTER TABLE `usage` ADD `cancelled` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE usage SET cancelled = min(usage.failed, ended.cancelled)
  FROM (SELECT tenant_id, CAST(updated_at / 1800000 AS INTEGER) AS half_hour, app_id, count(*) AS cancelled
    FROM messages WHERE error_code = 'cancelled' GROUP BY 1, 2, 3) AS ended
  WHERE usage.tenant_id = ended.tenant_id AND usage.half_hour = ended.half_hour AND usage.app_id = ended.app_id AND usage.latency_ms = 0;
