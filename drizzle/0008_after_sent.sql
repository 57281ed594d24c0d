CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`kinds` integer NOT NULL,
	`subject` text NOT NULL,
	`at` integer NOT NULL,
	`detail` text
);

--> statement-breakpoint
CREATE TRIGGER `messages_events_insert` AFTER INSERT ON `messages`
-- Triggers cover every statement that changes a message. The numbers are those of EVENT_KINDS in src/db/schema/events.ts.
WHEN new.status IN ('queued', 'sending', 'received') BEGIN
  INSERT INTO events (kinds, subject, at)
    VALUES (CASE new.status WHEN 'queued' THEN 1 WHEN 'sending' THEN 3 ELSE 16 END, new.id, new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_events_status` AFTER UPDATE OF status ON `messages`
-- A message that ends while it is queued becomes sending first, unless somebody has cancelled it.
WHEN new.status != old.status BEGIN
  INSERT INTO events (kinds, subject, at)
    VALUES (CASE new.status WHEN 'sending' THEN 2 WHEN 'sent' THEN 4 ELSE 8 END
      | (old.status = 'queued' AND new.status != 'sending' AND new.error_code IS NOT 'cancelled') * 2, new.id, new.updated_at);
END;

--> statement-breakpoint
CREATE TABLE `delivery_states` (
	`message_seq` integer PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`extension_id` text NOT NULL,
	`sent_at` integer NOT NULL,
	`conclusion` text,
	`error_code` text,
	`concluded_at` integer
);
--> statement-breakpoint
CREATE INDEX `delivery_states_open` ON `delivery_states` (`tenant_id`,`extension_id`,`sent_at`) WHERE conclusion IS NULL;

--> statement-breakpoint
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

--> statement-breakpoint
-- WITHOUT ROWID is added by hand: an upsert then searches one tree instead of two.
-- Webhook attempts end in several places, so triggers count them by destination.
CREATE TABLE `usage` (
	`tenant_id` text NOT NULL,
	`half_hour` integer NOT NULL,
	`app_id` text NOT NULL,
	`latency_ms` integer NOT NULL,
	`accepted` integer DEFAULT 0 NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`delivered` integer DEFAULT 0 NOT NULL,
	`undelivered` integer DEFAULT 0 NOT NULL,
	`segments` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant_id`, `half_hour`, `app_id`, `latency_ms`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_destinations` (
	`tenant_id` text NOT NULL,
	`half_hour` integer NOT NULL,
	`target_id` text NOT NULL,
	`duration_ms` integer NOT NULL,
	`kind` text NOT NULL,
	`url` text NOT NULL,
	`success` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant_id`, `half_hour`, `target_id`, `duration_ms`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_errors` (
	`tenant_id` text NOT NULL,
	`half_hour` integer NOT NULL,
	`error` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `half_hour`, `error`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `messages` ADD `send_at` integer;--> statement-breakpoint
CREATE INDEX `jobs_scheduled` ON `jobs` (`due_at`) WHERE kind = 'schedule';
--> statement-breakpoint
CREATE INDEX `jobs_scheduled_in_turn` ON `jobs` (`tenant_id`,`due_at`) WHERE kind = 'schedule';--> statement-breakpoint
CREATE INDEX `jobs_scheduled_by_tenant` ON `jobs` (`tenant_id`) WHERE kind = 'schedule';--> statement-breakpoint
CREATE INDEX `jobs_sends` ON `jobs` (`seq`) WHERE kind = 'send';--> statement-breakpoint
CREATE INDEX `jobs_quarantined` ON `jobs` (`tenant_id`,`lane`) WHERE is_quarantined = 1;
--> statement-breakpoint
CREATE TRIGGER `usage_of_ended_deliveries` AFTER UPDATE OF outcome ON deliveries WHEN OLD.outcome IS NULL AND NEW.outcome IS NOT NULL BEGIN
	INSERT INTO usage_destinations (tenant_id, half_hour, target_id, duration_ms, kind, url, success, failed)
	VALUES (NEW.tenant_id, (NEW.attempted_at + coalesce(NEW.duration_ms, 0)) / 1800000, NEW.target_id, CASE WHEN coalesce(NEW.duration_ms, 0) <= 5 THEN 5 WHEN NEW.duration_ms <= 10 THEN 10 WHEN NEW.duration_ms <= 15 THEN 15 WHEN NEW.duration_ms <= 20 THEN 20 WHEN NEW.duration_ms <= 30 THEN 30 WHEN NEW.duration_ms <= 40 THEN 40 WHEN NEW.duration_ms <= 50 THEN 50 WHEN NEW.duration_ms <= 75 THEN 75 WHEN NEW.duration_ms <= 100 THEN 100 WHEN NEW.duration_ms <= 150 THEN 150 WHEN NEW.duration_ms <= 200 THEN 200 WHEN NEW.duration_ms <= 300 THEN 300 WHEN NEW.duration_ms <= 400 THEN 400 WHEN NEW.duration_ms <= 500 THEN 500 WHEN NEW.duration_ms <= 750 THEN 750 WHEN NEW.duration_ms <= 1000 THEN 1000 WHEN NEW.duration_ms <= 1500 THEN 1500 WHEN NEW.duration_ms <= 2000 THEN 2000 WHEN NEW.duration_ms <= 3000 THEN 3000 WHEN NEW.duration_ms <= 4000 THEN 4000 ELSE 5000 END,
		NEW.kind, NEW.url, NEW.outcome = 'success', NEW.outcome <> 'success')
	ON CONFLICT (tenant_id, half_hour, target_id, duration_ms)
		DO UPDATE SET url = excluded.url, success = success + excluded.success, failed = failed + excluded.failed;
END;

--> statement-breakpoint
CREATE TABLE `conversation_activity` (
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`contact` text NOT NULL,
	`last_seq` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `conversation_activity_by_contact` ON `conversation_activity` (`tenant_id`,`contact`,`number`);--> statement-breakpoint
CREATE INDEX `conversation_activity_by_tenant` ON `conversation_activity` (`tenant_id`,`last_seq`);--> statement-breakpoint
CREATE INDEX `conversation_activity_by_number` ON `conversation_activity` (`tenant_id`,`number`,`last_seq`);--> statement-breakpoint
CREATE TABLE `conversation_counts` (
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `opt_outs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`contact` text NOT NULL,
	`opted_out` integer NOT NULL,
	`source` text NOT NULL,
	`since` integer NOT NULL,
	`decided_at` integer NOT NULL,
	`changed_by` text NOT NULL,
	`changes` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `opt_outs_id_unique` ON `opt_outs` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `opt_outs_by_contact` ON `opt_outs` (`tenant_id`,`contact`,`number`);--> statement-breakpoint
CREATE INDEX `opt_outs_by_tenant` ON `opt_outs` (`tenant_id`,`since`) WHERE opted_out = 1;--> statement-breakpoint
ALTER TABLE `tenants` ADD `opt_out_policy` text DEFAULT 'observe' NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_events_insert` AFTER INSERT ON `opt_outs`
-- Triggers cover every statement that changes an opt-out. 64 is `optOut` of EVENT_KINDS in src/db/schema/events.ts.
WHEN new.opted_out = 1 BEGIN
  INSERT INTO events (kinds, subject, at, detail)
    VALUES (64, new.id, new.since, json_object('optedOut', json('true'), 'source', new.source));
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_events_update` AFTER UPDATE OF opted_out ON `opt_outs`
WHEN new.opted_out != old.opted_out BEGIN
  INSERT INTO events (kinds, subject, at, detail)
    VALUES (64, new.id, new.since, json_object('optedOut', json(iif(new.opted_out, 'true', 'false')), 'source', new.source));
END;
--> statement-breakpoint
CREATE TRIGGER `conversation_counts_insert` AFTER INSERT ON `conversation_activity` BEGIN
  INSERT INTO conversation_counts (tenant_id, number, count) VALUES (new.tenant_id, new.number, 1)
    ON CONFLICT (tenant_id, number) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `conversation_counts_delete` AFTER DELETE ON `conversation_activity` BEGIN
  UPDATE conversation_counts SET count = count - 1 WHERE tenant_id = old.tenant_id AND number = old.number;
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_webhooks_insert` AFTER INSERT ON `opt_outs`
-- The webhooks of an opt-out belong to the message that caused it. Bit 8 of webhook_events is opt_out.
WHEN new.opted_out = 1 AND new.source != 'api' AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT new.changed_by, 'opt_out', new.since, json_object('optedOut', json('true'), 'source', new.source)
    WHERE EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND webhook_events & 8) ON CONFLICT DO NOTHING;
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_webhooks_update` AFTER UPDATE OF opted_out ON `opt_outs`
WHEN new.opted_out != old.opted_out AND new.source != 'api' AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT new.changed_by, 'opt_out', new.since, json_object('optedOut', json(iif(new.opted_out, 'true', 'false')), 'source', new.source)
    WHERE EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND webhook_events & 8) ON CONFLICT DO NOTHING;
END;
