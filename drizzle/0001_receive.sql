CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`delivery_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`target_id` text NOT NULL,
	`message_id` text NOT NULL,
	`correlation_id` text NOT NULL,
	`url` text NOT NULL,
	`boot_id` text NOT NULL,
	`attempted_at` integer NOT NULL,
	`outcome` text,
	`status_code` integer,
	`error_class` text,
	`error_message` text,
	`response_snippet` text,
	`duration_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_delivery_id_unique` ON `deliveries` (`delivery_id`);--> statement-breakpoint
CREATE INDEX `deliveries_by_tenant` ON `deliveries` (`tenant_id`,`attempted_at`);--> statement-breakpoint
CREATE INDEX `deliveries_by_age` ON `deliveries` (`attempted_at`);--> statement-breakpoint
CREATE TABLE `triggers` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`callback_url` text NOT NULL,
	`secret` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `triggers_id_unique` ON `triggers` (`id`);--> statement-breakpoint
CREATE INDEX `triggers_by_tenant` ON `triggers` (`tenant_id`);--> statement-breakpoint
CREATE TABLE `ws_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`app_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer
);
--> statement-breakpoint
CREATE INDEX `ws_tokens_by_age` ON `ws_tokens` (`expires_at`);--> statement-breakpoint
ALTER TABLE `extensions` ADD `inbound_seen_at` integer;--> statement-breakpoint
CREATE INDEX `messages_by_recipient` ON `messages` (`tenant_id`,`to_number`,`created_at`);