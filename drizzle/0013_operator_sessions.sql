CREATE TABLE `operator_links` (
	`login_hash` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `operator_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `operator_sessions_token_hash_unique` ON `operator_sessions` (`token_hash`);--> statement-breakpoint
ALTER TABLE `extensions` ADD `status_since` integer;--> statement-breakpoint
ALTER TABLE `extensions` ADD `extension_number` text;--> statement-breakpoint
ALTER TABLE `extensions` ADD `name` text;--> statement-breakpoint
ALTER TABLE `ws_tokens` ADD `session_id` text;