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