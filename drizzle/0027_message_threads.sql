ALTER TABLE `extensions` ADD `threads_seen_at` integer;--> statement-breakpoint
ALTER TABLE `extensions` ADD `threads_token` text;--> statement-breakpoint
ALTER TABLE `phone_numbers` ADD `inbound_source` text;--> statement-breakpoint
ALTER TABLE `phone_numbers` ADD `source_changed_at` integer;--> statement-breakpoint
ALTER TABLE `subscriptions` ADD `topic` text DEFAULT 'messages' NOT NULL;