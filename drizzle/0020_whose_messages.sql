ALTER TABLE `phone_numbers` ADD `usage_type` text;--> statement-breakpoint
ALTER TABLE `phone_numbers` ADD `owner_id` text;--> statement-breakpoint
ALTER TABLE `phone_numbers` ADD `shown_at` integer;--> statement-breakpoint
-- The first start reads the numbers of all extensions.
UPDATE `extensions` SET `numbers_read_at` = NULL;