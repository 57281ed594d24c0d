DROP TRIGGER `usage_of_ended_deliveries`;--> statement-breakpoint
DROP INDEX `deliveries_by_attempt`;--> statement-breakpoint
DROP INDEX `deliveries_by_tenant`;--> statement-breakpoint
DROP INDEX `deliveries_by_age`;--> statement-breakpoint
DROP INDEX `deliveries_open`;--> statement-breakpoint
ALTER TABLE `deliveries` RENAME TO `webhook_attempts`;--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_attempts_by_attempt` ON `webhook_attempts` (`delivery_id`,`attempt_number`);--> statement-breakpoint
CREATE INDEX `webhook_attempts_by_tenant` ON `webhook_attempts` (`tenant_id`,`attempted_at`);--> statement-breakpoint
CREATE INDEX `webhook_attempts_by_age` ON `webhook_attempts` (`attempted_at`);--> statement-breakpoint
CREATE INDEX `webhook_attempts_open` ON `webhook_attempts` (`boot_id`) WHERE outcome IS NULL;--> statement-breakpoint
CREATE TABLE `webhook_destinations` (
	`tenant_id` text NOT NULL,
	`target_id` text NOT NULL,
	`kind` text NOT NULL,
	`last_outcome` text NOT NULL,
	`last_status_code` integer,
	`failing_since` integer,
	`failures` integer NOT NULL,
	`ended_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `target_id`)
);
--> statement-breakpoint
CREATE INDEX `webhook_destinations_failing` ON `webhook_destinations` (`failing_since`) WHERE failing_since IS NOT NULL;--> statement-breakpoint
INSERT INTO webhook_destinations (tenant_id, target_id, kind, last_outcome, last_status_code, failing_since, failures, ended_at)
  WITH ended AS MATERIALIZED (
      SELECT tenant_id, target_id, max(seq) AS newest, coalesce(max(CASE WHEN outcome = 'success' THEN seq END), 0) AS succeeded
      FROM webhook_attempts WHERE outcome IS NOT NULL GROUP BY 1, 2),
    failed AS MATERIALIZED (
      SELECT own.tenant_id, own.target_id, min(own.attempted_at) AS since, count(*) AS failures
      FROM webhook_attempts AS own CROSS JOIN ended ON ended.tenant_id = own.tenant_id AND ended.target_id = own.target_id
      WHERE own.outcome IS NOT NULL AND own.seq > ended.succeeded GROUP BY 1, 2)
  SELECT last.tenant_id, last.target_id, last.kind, last.outcome, last.status_code, failed.since, coalesce(failed.failures, 0),
    last.attempted_at + coalesce(last.duration_ms, 0)
  FROM ended CROSS JOIN webhook_attempts AS last ON last.seq = ended.newest
  LEFT JOIN failed ON failed.tenant_id = ended.tenant_id AND failed.target_id = ended.target_id;
