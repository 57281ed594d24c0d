ALTER TABLE `messages` ADD `first_attempt_extension_id` text;--> statement-breakpoint
ALTER TABLE `messages` ADD `first_attempt_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `messages_open` ON `messages` (`first_attempt_extension_id`,`from_number`,`to_number`,`body`) WHERE first_attempt_extension_id IS NOT NULL AND status = 'sending';--> statement-breakpoint
INSERT INTO facts (name, value) VALUES ('begun', '0');--> statement-breakpoint
INSERT INTO facts (name, value) SELECT 'windows_after', coalesce(max(seq), 0) FROM messages;--> statement-breakpoint
INSERT INTO facts (name, value) SELECT 'windows_next', coalesce(max(seq), 0) FROM messages;
