DROP TRIGGER `messages_blocks_insert`;
--> statement-breakpoint
DROP TRIGGER `messages_blocks_delete`;
--> statement-breakpoint
DROP TRIGGER `messages_blocks_status`;
--> statement-breakpoint
DROP TRIGGER `messages_blocks_update`;
--> statement-breakpoint
DROP TRIGGER `deliveries_blocks_insert`;
--> statement-breakpoint
DROP TRIGGER `deliveries_blocks_delete`;
--> statement-breakpoint
DROP TRIGGER `deliveries_blocks_outcome`;
--> statement-breakpoint
DROP TRIGGER `deliveries_blocks_update`;
--> statement-breakpoint
DROP TABLE `list_block_columns`;
--> statement-breakpoint
DROP TABLE `list_blocks`;
--> statement-breakpoint
CREATE TABLE `list_segment_columns` (
	`segment_id` integer NOT NULL,
	`name` text NOT NULL,
	`data` blob NOT NULL,
	`dictionary_text` text,
	`dictionary_ends` blob,
	PRIMARY KEY(`segment_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `list_segments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`list` text NOT NULL,
	`tenant_id` text NOT NULL,
	`after_at` integer NOT NULL,
	`until_at` integer NOT NULL,
	`row_count` integer,
	`open_count` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `list_segments_by_time` ON `list_segments` (`list`,`tenant_id`,`until_at`);
--> statement-breakpoint
CREATE TRIGGER `list_segments_delete` AFTER DELETE ON `list_segments` BEGIN
  DELETE FROM list_segment_columns WHERE segment_id = old.id;
END;
--> statement-breakpoint
CREATE TRIGGER `messages_segments_insert` AFTER INSERT ON `messages`
-- A change to a row of a segment, by whatever statement, deletes the segment in the same commit.
WHEN EXISTS (SELECT 1 FROM list_segments WHERE list = 'messages' AND tenant_id = new.tenant_id AND until_at >= new.created_at) BEGIN
  DELETE FROM list_segments WHERE after_at < new.created_at AND id =
    (SELECT id FROM list_segments WHERE list = 'messages' AND tenant_id = new.tenant_id AND until_at >= new.created_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_segments_delete` AFTER DELETE ON `messages` BEGIN
  DELETE FROM list_segments WHERE after_at < old.created_at AND id =
    (SELECT id FROM list_segments WHERE list = 'messages' AND tenant_id = old.tenant_id AND until_at >= old.created_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_segments_status` AFTER UPDATE OF status ON `messages`
-- The state of an open row may change: it is read from the row.
WHEN old.status NOT IN ('queued', 'sending') BEGIN
  DELETE FROM list_segments WHERE after_at < old.created_at AND id =
    (SELECT id FROM list_segments WHERE list = 'messages' AND tenant_id = old.tenant_id AND until_at >= old.created_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_segments_update` AFTER UPDATE OF seq, tenant_id, app_id, user_id, direction, from_number, to_number, created_at ON `messages` BEGIN
  DELETE FROM list_segments WHERE after_at < old.created_at AND id =
    (SELECT id FROM list_segments WHERE list = 'messages' AND tenant_id = old.tenant_id AND until_at >= old.created_at ORDER BY until_at LIMIT 1);
  DELETE FROM list_segments WHERE after_at < new.created_at AND id =
    (SELECT id FROM list_segments WHERE list = 'messages' AND tenant_id = new.tenant_id AND until_at >= new.created_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_segments_insert` AFTER INSERT ON `deliveries`
WHEN EXISTS (SELECT 1 FROM list_segments WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND until_at >= new.attempted_at) BEGIN
  DELETE FROM list_segments WHERE after_at < new.attempted_at AND id =
    (SELECT id FROM list_segments WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND until_at >= new.attempted_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_segments_delete` AFTER DELETE ON `deliveries` BEGIN
  DELETE FROM list_segments WHERE after_at < old.attempted_at AND id =
    (SELECT id FROM list_segments WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND until_at >= old.attempted_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_segments_outcome` AFTER UPDATE OF outcome ON `deliveries`
WHEN old.outcome IS NOT NULL BEGIN
  DELETE FROM list_segments WHERE after_at < old.attempted_at AND id =
    (SELECT id FROM list_segments WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND until_at >= old.attempted_at ORDER BY until_at LIMIT 1);
END;
--> statement-breakpoint
CREATE TRIGGER `deliveries_segments_update` AFTER UPDATE OF seq, tenant_id, kind, target_id, attempted_at ON `deliveries` BEGIN
  DELETE FROM list_segments WHERE after_at < old.attempted_at AND id =
    (SELECT id FROM list_segments WHERE list = 'deliveries' AND tenant_id = old.tenant_id AND until_at >= old.attempted_at ORDER BY until_at LIMIT 1);
  DELETE FROM list_segments WHERE after_at < new.attempted_at AND id =
    (SELECT id FROM list_segments WHERE list = 'deliveries' AND tenant_id = new.tenant_id AND until_at >= new.attempted_at ORDER BY until_at LIMIT 1);
END;
