CREATE TABLE `connected_jwts` (
	`hash` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
ALTER TABLE `extensions` ADD `jwt` text;--> statement-breakpoint
ALTER TABLE `extensions` ADD `jwt_expires_at` integer;