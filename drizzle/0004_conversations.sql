CREATE TABLE `conversations` (
	`seq` integer PRIMARY KEY NOT NULL,
	`contact` text NOT NULL,
	`number` text NOT NULL,
	`tenant_id` text NOT NULL,
	`app_id` text NOT NULL,
	`written_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_by_contact` ON `conversations` (`contact`,`number`,`tenant_id`);--> statement-breakpoint
INSERT INTO conversations (contact, number, tenant_id, app_id, written_at)
  SELECT to_number, from_number, tenant_id, app_id, created_at
  FROM (SELECT to_number, from_number, tenant_id, app_id, created_at, max(seq) FROM messages
    WHERE direction = 'outbound' AND tenant_id IN (SELECT tenant_id FROM apps GROUP BY tenant_id HAVING count(*) > 1)
    GROUP BY to_number, from_number, tenant_id);--> statement-breakpoint
CREATE TRIGGER `conversations_follow` AFTER INSERT ON `messages`
-- The only app of its tenant needs no row: what nobody else has written to is the oldest app's.
WHEN new.direction = 'outbound' AND EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND id != new.app_id) BEGIN
  INSERT INTO conversations (contact, number, tenant_id, app_id, written_at)
    VALUES (new.to_number, new.from_number, new.tenant_id, new.app_id, new.created_at)
    ON CONFLICT (contact, number, tenant_id) DO UPDATE SET app_id = excluded.app_id, written_at = excluded.written_at
      WHERE app_id != excluded.app_id OR written_at < excluded.written_at - 3600000;
END;
--> statement-breakpoint
DROP INDEX `messages_by_recipient`;--> statement-breakpoint
CREATE INDEX `messages_unconfirmed` ON `messages` (`from_number`,`to_number`) WHERE error = 'Delivery could not be confirmed with the provider';
