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
CREATE TABLE `webhook_details` (
	`message_id` text NOT NULL,
	`event` text NOT NULL,
	`at` integer NOT NULL,
	`detail` text NOT NULL,
	PRIMARY KEY(`message_id`, `event`)
);
--> statement-breakpoint
CREATE INDEX `webhook_details_by_age` ON `webhook_details` (`at`);
--> statement-breakpoint
CREATE TRIGGER `messages_status_webhooks` AFTER UPDATE OF status ON `messages`
-- A trigger covers every way in which a message ends. The first EXISTS costs nearly nothing while no app has asked for
-- more than sms_inbound. Bit 2 of webhook_events is sms_status.
WHEN new.status IN ('sent', 'failed') AND new.status <> old.status AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1)
  AND EXISTS (SELECT 1 FROM apps WHERE id = new.app_id AND webhook_events & 2 AND is_active = 1 AND webhook_url IS NOT NULL) BEGIN
  INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    VALUES (new.job_id, 'webhook', new.app_id, new.tenant_id, new.id || ':' || new.app_id || ':sms_status', 0, new.updated_at);
END;
--> statement-breakpoint
CREATE TRIGGER `webhook_details_jobs` AFTER INSERT ON `webhook_details` BEGIN
  -- Bit 4 of webhook_events is sms_delivery, for the app that sent the message; bit 8 is opt_out, for all apps of the tenant.
  INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
    SELECT messages.job_id, 'webhook', apps.id, apps.tenant_id, messages.id || ':' || apps.id || ':' || new.event, 0, new.at
    FROM messages CROSS JOIN apps ON apps.tenant_id = messages.tenant_id
    WHERE messages.id = new.message_id AND apps.is_active = 1 AND apps.webhook_url IS NOT NULL
      AND CASE new.event WHEN 'sms_delivery' THEN apps.webhook_events & 4 AND apps.id = messages.app_id
        WHEN 'opt_out' THEN apps.webhook_events & 8 END;
END;
--> statement-breakpoint
CREATE TRIGGER `events_delivery_webhooks` AFTER INSERT ON `events`
-- 32 is delivery in EVENT_KINDS of src/db/schema/events.ts.
WHEN new.kinds & 32 AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT messages.id, 'sms_delivery', new.at, coalesce(new.detail, '{}')
    FROM messages CROSS JOIN apps ON apps.id = messages.app_id AND apps.webhook_events & 4
    WHERE messages.id = new.subject ON CONFLICT DO NOTHING;
END;
