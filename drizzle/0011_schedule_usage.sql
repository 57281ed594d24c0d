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
CREATE TRIGGER `usage_of_ended_deliveries` AFTER UPDATE OF outcome ON deliveries WHEN OLD.outcome IS NULL AND NEW.outcome IS NOT NULL BEGIN
	INSERT INTO usage_destinations (tenant_id, half_hour, target_id, duration_ms, kind, url, success, failed)
	VALUES (NEW.tenant_id, (NEW.attempted_at + coalesce(NEW.duration_ms, 0)) / 1800000, NEW.target_id, CASE WHEN coalesce(NEW.duration_ms, 0) <= 5 THEN 5 WHEN NEW.duration_ms <= 10 THEN 10 WHEN NEW.duration_ms <= 15 THEN 15 WHEN NEW.duration_ms <= 20 THEN 20 WHEN NEW.duration_ms <= 30 THEN 30 WHEN NEW.duration_ms <= 40 THEN 40 WHEN NEW.duration_ms <= 50 THEN 50 WHEN NEW.duration_ms <= 75 THEN 75 WHEN NEW.duration_ms <= 100 THEN 100 WHEN NEW.duration_ms <= 150 THEN 150 WHEN NEW.duration_ms <= 200 THEN 200 WHEN NEW.duration_ms <= 300 THEN 300 WHEN NEW.duration_ms <= 400 THEN 400 WHEN NEW.duration_ms <= 500 THEN 500 WHEN NEW.duration_ms <= 750 THEN 750 WHEN NEW.duration_ms <= 1000 THEN 1000 WHEN NEW.duration_ms <= 1500 THEN 1500 WHEN NEW.duration_ms <= 2000 THEN 2000 WHEN NEW.duration_ms <= 3000 THEN 3000 WHEN NEW.duration_ms <= 4000 THEN 4000 ELSE 5000 END,
		NEW.kind, NEW.url, NEW.outcome = 'success', NEW.outcome <> 'success')
	ON CONFLICT (tenant_id, half_hour, target_id, duration_ms)
		DO UPDATE SET url = excluded.url, success = success + excluded.success, failed = failed + excluded.failed;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_of_interrupted_deliveries` AFTER INSERT ON deliveries WHEN NEW.outcome IS NOT NULL BEGIN
	INSERT INTO usage_destinations (tenant_id, half_hour, target_id, duration_ms, kind, url, success, failed)
	VALUES (NEW.tenant_id, (NEW.attempted_at + coalesce(NEW.duration_ms, 0)) / 1800000, NEW.target_id, CASE WHEN coalesce(NEW.duration_ms, 0) <= 5 THEN 5 WHEN NEW.duration_ms <= 10 THEN 10 WHEN NEW.duration_ms <= 15 THEN 15 WHEN NEW.duration_ms <= 20 THEN 20 WHEN NEW.duration_ms <= 30 THEN 30 WHEN NEW.duration_ms <= 40 THEN 40 WHEN NEW.duration_ms <= 50 THEN 50 WHEN NEW.duration_ms <= 75 THEN 75 WHEN NEW.duration_ms <= 100 THEN 100 WHEN NEW.duration_ms <= 150 THEN 150 WHEN NEW.duration_ms <= 200 THEN 200 WHEN NEW.duration_ms <= 300 THEN 300 WHEN NEW.duration_ms <= 400 THEN 400 WHEN NEW.duration_ms <= 500 THEN 500 WHEN NEW.duration_ms <= 750 THEN 750 WHEN NEW.duration_ms <= 1000 THEN 1000 WHEN NEW.duration_ms <= 1500 THEN 1500 WHEN NEW.duration_ms <= 2000 THEN 2000 WHEN NEW.duration_ms <= 3000 THEN 3000 WHEN NEW.duration_ms <= 4000 THEN 4000 ELSE 5000 END,
		NEW.kind, NEW.url, NEW.outcome = 'success', NEW.outcome <> 'success')
	ON CONFLICT (tenant_id, half_hour, target_id, duration_ms)
		DO UPDATE SET url = excluded.url, success = success + excluded.success, failed = failed + excluded.failed;
END;
