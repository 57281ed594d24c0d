-- Which messages may have been sent since a backup. They are found by their order of insertion, no longer by a column of their jobs.
INSERT INTO facts (name, value)
  SELECT 'quarantine', json_object('first', min(messages.seq), 'last', max(messages.seq),
    'sendAt', max(coalesce(messages.send_at, 0)),
    'attempt', (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'send_attempts'))
  FROM jobs JOIN messages ON messages.id = jobs.subject WHERE jobs.is_quarantined = 1 HAVING count(*) > 0;
--> statement-breakpoint
DROP INDEX `jobs_quarantined`;--> statement-breakpoint
ALTER TABLE `jobs` DROP COLUMN `is_quarantined`;--> statement-breakpoint
ALTER TABLE `send_attempts` ADD `duration_ms` integer;--> statement-breakpoint
ALTER TABLE `send_attempts` ADD `message` text;--> statement-breakpoint
DROP TRIGGER `conversations_follow`;--> statement-breakpoint
DROP INDEX `conversations_by_contact`;--> statement-breakpoint
ALTER TABLE `conversations` RENAME TO `contact_owners`;--> statement-breakpoint
CREATE UNIQUE INDEX `contact_owners_by_contact` ON `contact_owners` (`contact`,`number`,`tenant_id`);--> statement-breakpoint
CREATE TRIGGER `contact_owners_follow` AFTER INSERT ON `messages`
-- The only app of its tenant needs no row: what nobody else has written to is the oldest app's.
WHEN new.direction = 'outbound' AND EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND id != new.app_id) BEGIN
  INSERT INTO contact_owners (contact, number, tenant_id, app_id, written_at)
    VALUES (new.to_number, new.from_number, new.tenant_id, new.app_id, new.created_at)
    ON CONFLICT (contact, number, tenant_id) DO UPDATE SET app_id = excluded.app_id, written_at = excluded.written_at
      WHERE app_id != excluded.app_id OR written_at < excluded.written_at - 3600000;
END;
