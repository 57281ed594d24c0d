CREATE TABLE `connect_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer
);
--> statement-breakpoint
CREATE INDEX `connect_tokens_by_tenant` ON `connect_tokens` (`tenant_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `extensions` (
	`tenant_id` text NOT NULL,
	`extension_id` text NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`connected_at` integer NOT NULL,
	`access_token` text NOT NULL,
	`access_expires_at` integer NOT NULL,
	`refresh_token` text NOT NULL,
	`refresh_expires_at` integer NOT NULL,
	`refreshed_at` integer NOT NULL,
	`refresh_failures` integer DEFAULT 0 NOT NULL,
	`next_refresh_at` integer,
	`paused_until` integer,
	`numbers_read_at` integer,
	`inbound_seen_at` integer,
	PRIMARY KEY(`tenant_id`, `extension_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `oauth_states` (
	`state_hash` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`code_verifier` text NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer
);
--> statement-breakpoint
CREATE TABLE `phone_numbers` (
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`extension_id` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `number`),
	FOREIGN KEY (`tenant_id`,`extension_id`) REFERENCES `extensions`(`tenant_id`,`extension_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`extension_id` text NOT NULL,
	`provider_id` text,
	`token_hash` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`checked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_provider_id_unique` ON `subscriptions` (`provider_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_token_hash_unique` ON `subscriptions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `subscriptions_by_extension` ON `subscriptions` (`tenant_id`,`extension_id`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`lane` text NOT NULL,
	`tenant_id` text NOT NULL,
	`subject` text NOT NULL,
	`run_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_by_lane` ON `jobs` (`kind`,`lane`,`tenant_id`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`app_id` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`message_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`app_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `messages` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`job_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`app_id` text NOT NULL,
	`user_id` text,
	`direction` text NOT NULL,
	`from_number` text NOT NULL,
	`to_number` text NOT NULL,
	`body` text NOT NULL,
	`status` text NOT NULL,
	`rc_message_id` text,
	`error` text,
	`receiving_extension_id` text,
	`attempt_id` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_id_unique` ON `messages` (`id`);--> statement-breakpoint
CREATE INDEX `messages_by_tenant` ON `messages` (`tenant_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `messages_by_recipient` ON `messages` (`tenant_id`,`to_number`,`created_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `messages_by_provider_id` ON `messages` (`rc_message_id`,`tenant_id`,`direction`) WHERE rc_message_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `send_attempts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`message_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`extension_id` text NOT NULL,
	`from_number` text NOT NULL,
	`to_number` text NOT NULL,
	`text_hash` text NOT NULL,
	`number` integer NOT NULL,
	`boot_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`outcome` text,
	`settle_at` integer,
	`http_status` integer,
	`code` text,
	`request_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `send_attempts_open` ON `send_attempts` (`extension_id`,`from_number`,`to_number`,`text_hash`) WHERE outcome IS NULL;--> statement-breakpoint
CREATE INDEX `send_attempts_by_message` ON `send_attempts` (`message_id`);--> statement-breakpoint
CREATE TABLE `apps` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`name` text NOT NULL,
	`webhook_url` text,
	`role` text NOT NULL,
	`is_active` integer NOT NULL,
	`key_hash` text NOT NULL,
	`key_prefix` text NOT NULL,
	`webhook_secret` text NOT NULL,
	`last_used_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_id_unique` ON `apps` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `apps_key_hash_unique` ON `apps` (`key_hash`);--> statement-breakpoint
CREATE INDEX `apps_by_tenant` ON `apps` (`tenant_id`);--> statement-breakpoint
CREATE TABLE `blocked_addresses` (
	`address` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `facts` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tenants` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `deliveries` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
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
CREATE INDEX `ws_tokens_by_age` ON `ws_tokens` (`expires_at`);