CREATE TABLE `media` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`content_type` text NOT NULL,
	`file_name` text NOT NULL,
	`size` integer NOT NULL,
	`sha256` text,
	`uploaded_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `media_by_tenant` ON `media` (`tenant_id`,`size`);--> statement-breakpoint
CREATE UNIQUE INDEX `media_by_content` ON `media` (`tenant_id`,`sha256`,`content_type`,`file_name`) WHERE sha256 IS NOT NULL;--> statement-breakpoint
CREATE INDEX `media_by_age` ON `media` (`uploaded_at`);--> statement-breakpoint
CREATE INDEX `media_unfinished` ON `media` (`uploaded_at`) WHERE sha256 IS NULL;--> statement-breakpoint
CREATE TABLE `media_pieces` (
	`media_id` text NOT NULL,
	`position` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`media_id`, `position`),
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `media_uses` (
	`media_id` text NOT NULL,
	`message_id` text NOT NULL,
	PRIMARY KEY(`media_id`, `message_id`),
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `media_uses_by_message` ON `media_uses` (`message_id`);--> statement-breakpoint
ALTER TABLE `phone_numbers` ADD `sends_media` integer;--> statement-breakpoint
ALTER TABLE `usage` ADD `media` integer DEFAULT 0 NOT NULL;