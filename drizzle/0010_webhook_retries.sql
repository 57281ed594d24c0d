ALTER TABLE `deliveries` ADD `attempt_number` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_by_attempt` ON `deliveries` (`delivery_id`,`attempt_number`);--> statement-breakpoint
DROP INDEX `deliveries_delivery_id_unique`;--> statement-breakpoint
ALTER TABLE `jobs` ADD `is_last` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `jobs_next_attempt` ON `jobs` (`subject`) WHERE kind = 'webhook_retry';--> statement-breakpoint
CREATE INDEX `jobs_retries_due` ON `jobs` (`lane`,`tenant_id`,`due_at`) WHERE kind = 'webhook_retry';--> statement-breakpoint
ALTER TABLE `apps` ADD `webhook_retries` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `webhook_events` integer;--> statement-breakpoint
CREATE INDEX `apps_with_events` ON `apps` (`id`) WHERE webhook_events > 1;--> statement-breakpoint
ALTER TABLE `triggers` ADD `webhook_retries` text;
--> statement-breakpoint
CREATE TABLE `webhook_payloads` (
	`message_id` text NOT NULL,
	`event` text NOT NULL,
	`payload` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`message_id`, `event`)
);
--> statement-breakpoint
CREATE INDEX `webhook_payloads_by_age` ON `webhook_payloads` (`created_at`);
--> statement-breakpoint
CREATE TRIGGER `messages_status_webhooks` AFTER UPDATE OF status ON `messages`
-- A trigger covers every way in which a message ends. The first EXISTS costs nearly nothing while no app has asked for
-- more than sms_inbound. Bit 2 of webhook_events is sms_status.
WHEN new.status IN ('sent', 'failed') AND new.status <> old.status AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1)
  AND EXISTS (SELECT 1 FROM apps WHERE id = new.app_id AND webhook_events & 2 AND is_active = 1 AND webhook_url IS NOT NULL) BEGIN
  INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    VALUES (new.job_id, 'webhook', new.app_id, new.tenant_id, new.id || ':' || new.app_id || ':sms_status', 0, new.updated_at);
END;
