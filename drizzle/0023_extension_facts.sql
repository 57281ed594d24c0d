ALTER TABLE `extensions` ADD `first_connected_at` integer;--> statement-breakpoint
ALTER TABLE `extensions` ADD `refresh_refusal` text;--> statement-breakpoint
ALTER TABLE `extensions` ADD `refusals` text;