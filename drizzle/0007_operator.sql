CREATE TABLE `erased_messages` (
	`id_hash` text PRIMARY KEY NOT NULL,
	`erased_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `erased_messages_by_age` ON `erased_messages` (`erased_at`);--> statement-breakpoint
ALTER TABLE `apps` ADD `registered_by` text;--> statement-breakpoint
CREATE INDEX `apps_active` ON `apps` (`tenant_id`) WHERE is_active = 1;