-- The number of a call queue has a row for each extension that lists it. Before, the extension whose list was read last took it over.
CREATE TABLE `new_phone_numbers` (
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`extension_id` text NOT NULL,
	`usage_type` text,
	`owner_id` text,
	`shown_at` integer,
	PRIMARY KEY(`tenant_id`, `number`, `extension_id`),
	FOREIGN KEY (`tenant_id`,`extension_id`) REFERENCES `extensions`(`tenant_id`,`extension_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `new_phone_numbers` (`tenant_id`, `number`, `extension_id`, `usage_type`, `owner_id`, `shown_at`)
  SELECT `tenant_id`, `number`, `extension_id`, `usage_type`, `owner_id`, `shown_at` FROM `phone_numbers`;--> statement-breakpoint
DROP TABLE `phone_numbers`;--> statement-breakpoint
ALTER TABLE `new_phone_numbers` RENAME TO `phone_numbers`;--> statement-breakpoint
-- The first start reads the numbers of all extensions, because the other extensions of such a number are not known.
UPDATE `extensions` SET `numbers_read_at` = NULL;
