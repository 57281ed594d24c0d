CREATE TABLE IF NOT EXISTS `given_up_history` (
	`mark` text PRIMARY KEY NOT NULL,
	`commits` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE IF NOT EXISTS `history` (
	`position` integer PRIMARY KEY NOT NULL,
	`mark` text NOT NULL,
	`epoch` integer,
	`commits` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX IF NOT EXISTS `history_mark_unique` ON `history` (`mark`);