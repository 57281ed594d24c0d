CREATE TABLE `events` (
	`seq` integer PRIMARY KEY NOT NULL,
	`kinds` integer NOT NULL,
	`subject` text NOT NULL,
	`at` integer NOT NULL,
	`detail` text
);

--> statement-breakpoint
CREATE TRIGGER `messages_events_insert` AFTER INSERT ON `messages`
-- Triggers cover every statement that changes a message. The numbers are those of EVENT_KINDS in src/db/schema/events.ts.
WHEN new.status IN ('queued', 'sending', 'received') BEGIN
  INSERT INTO events (kinds, subject, at)
    VALUES (CASE new.status WHEN 'queued' THEN 1 WHEN 'sending' THEN 3 ELSE 16 END, new.id, new.created_at);
END;
--> statement-breakpoint
CREATE TRIGGER `messages_events_status` AFTER UPDATE OF status ON `messages`
-- A message that ends while it is queued becomes sending first, unless somebody has cancelled it.
WHEN new.status != old.status BEGIN
  INSERT INTO events (kinds, subject, at)
    VALUES (CASE new.status WHEN 'sending' THEN 2 WHEN 'sent' THEN 4 ELSE 8 END
      | (old.status = 'queued' AND new.status != 'sending' AND new.error_code IS NOT 'cancelled') * 2, new.id, new.updated_at);
END;
