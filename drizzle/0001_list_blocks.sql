CREATE TABLE `list_block_columns` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `list_blocks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`list` text NOT NULL,
	`tenant_id` text NOT NULL,
	`after_at` integer NOT NULL,
	`until_at` integer NOT NULL,
	`header` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `list_blocks_by_time` ON `list_blocks` (`list`,`tenant_id`,`until_at`);
--> statement-breakpoint
CREATE TRIGGER `list_blocks_with_columns` AFTER DELETE ON `list_blocks` BEGIN
  DELETE FROM list_block_columns WHERE id >= old.id * 16 AND id < old.id * 16 + 16;
END;
--> statement-breakpoint
CREATE TRIGGER `messages_blocks_insert` AFTER INSERT ON `messages`
-- Whatever is done to a row that a block stands for, by whatever path, takes the block away in the same commit.
WHEN EXISTS (SELECT 1 FROM list_blocks WHERE list = 'messages' AND tenant_id = new.tenant_id AND until_at >= new.created_at) BEGIN
  DELETE FROM list_blocks WHERE list = 'messages' AND tenant_id = new.tenant_id AND after_at < new.created_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'messages' AND tenant_id = new.tenant_id AND until_at >= new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_blocks_delete` AFTER DELETE ON `messages` BEGIN
  DELETE FROM list_blocks WHERE list = 'messages' AND tenant_id = old.tenant_id AND after_at < old.created_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'messages' AND tenant_id = old.tenant_id AND until_at >= old.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_blocks_status` AFTER UPDATE OF status ON `messages` WHEN old.status NOT IN ('queued', 'sending') BEGIN
  DELETE FROM list_blocks WHERE list = 'messages' AND tenant_id = old.tenant_id AND after_at < old.created_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'messages' AND tenant_id = old.tenant_id AND until_at >= old.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_blocks_update` AFTER UPDATE OF seq, tenant_id, app_id, user_id, direction, from_number, to_number, created_at ON `messages` BEGIN
  DELETE FROM list_blocks WHERE list = 'messages' AND tenant_id = old.tenant_id AND after_at < old.created_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'messages' AND tenant_id = old.tenant_id AND until_at >= old.created_at);
  DELETE FROM list_blocks WHERE list = 'messages' AND tenant_id = new.tenant_id AND after_at < new.created_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'messages' AND tenant_id = new.tenant_id AND until_at >= new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_blocks_insert` AFTER INSERT ON `deliveries`
WHEN EXISTS (SELECT 1 FROM list_blocks WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND until_at >= new.attempted_at) BEGIN
  DELETE FROM list_blocks WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND after_at < new.attempted_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND until_at >= new.attempted_at);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_blocks_delete` AFTER DELETE ON `deliveries` BEGIN
  DELETE FROM list_blocks WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND after_at < old.attempted_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND until_at >= old.attempted_at);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_blocks_outcome` AFTER UPDATE OF outcome ON `deliveries` WHEN old.outcome IS NOT NULL BEGIN
  DELETE FROM list_blocks WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND after_at < old.attempted_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND until_at >= old.attempted_at);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_blocks_update` AFTER UPDATE OF seq, tenant_id, kind, target_id, message_id, attempted_at ON `deliveries` BEGIN
  DELETE FROM list_blocks WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND after_at < old.attempted_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND until_at >= old.attempted_at);
  DELETE FROM list_blocks WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND after_at < new.attempted_at
    AND until_at = (SELECT min(until_at) FROM list_blocks WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND until_at >= new.attempted_at);
END;
