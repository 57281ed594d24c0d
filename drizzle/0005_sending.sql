-- Every attempt becomes a row of send_attempts and every message that has not ended a row of jobs, in the order of acceptance.
CREATE TABLE `new_send_attempts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`message_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`extension_id` text NOT NULL,
	`from_number` text NOT NULL,
	`to_number` text NOT NULL,
	`boot_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`provider_started_at` integer,
	`outcome` text,
	`absent_after` integer,
	`closed_at` integer,
	`resolution` text,
	`http_status` integer,
	`error_code` text,
	`request_id` text
);
--> statement-breakpoint
INSERT INTO new_send_attempts (seq, message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at, outcome, absent_after,
    closed_at, resolution, http_status, error_code, request_id)
  SELECT seq, message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at,
    CASE WHEN settle_at IS NOT NULL OR outcome IN ('absent', 'unconfirmed') THEN 'unknown' ELSE outcome END,
    settle_at, CASE WHEN outcome IS NOT NULL THEN coalesce(ended_at, started_at) END,
    CASE WHEN outcome = 'accepted' AND settle_at IS NOT NULL THEN 'sent' WHEN outcome IN ('absent', 'unconfirmed') THEN outcome END,
    http_status, code, request_id
  FROM send_attempts;
--> statement-breakpoint
-- Of several open attempts in one conversation the first stays open. The messages of the others are quarantined below.
UPDATE new_send_attempts SET outcome = 'unknown', closed_at = started_at
  WHERE closed_at IS NULL AND seq NOT IN (SELECT min(open.seq) FROM new_send_attempts AS open
    JOIN messages ON messages.id = open.message_id AND messages.status IN ('queued', 'sending')
    WHERE open.closed_at IS NULL GROUP BY open.from_number, open.to_number);
--> statement-breakpoint
CREATE UNIQUE INDEX `new_send_attempts_open` ON `new_send_attempts` (`from_number`,`to_number`) WHERE closed_at IS NULL;
--> statement-breakpoint
INSERT INTO new_send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at)
  SELECT id, tenant_id, first_attempt_extension_id, from_number, to_number, '', first_attempt_at FROM messages
  WHERE first_attempt_extension_id IS NOT NULL AND status = 'sending' ORDER BY seq
  ON CONFLICT DO NOTHING;
--> statement-breakpoint
-- First attempts of the last minutes had no rows: the rate windows are counted from them.
INSERT INTO new_send_attempts (message_id, tenant_id, extension_id, from_number, to_number, boot_id, started_at, outcome, closed_at)
  SELECT id, tenant_id, first_attempt_extension_id, from_number, to_number, '', first_attempt_at, 'accepted', max(first_attempt_at, updated_at)
  FROM messages
  WHERE seq > coalesce((SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'windows_after'), 0)
    AND first_attempt_extension_id IS NOT NULL AND status = 'sent' ORDER BY seq;
--> statement-breakpoint
CREATE TABLE `new_jobs` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`lane` text NOT NULL,
	`tenant_id` text NOT NULL,
	`subject` text NOT NULL,
	`contact` text,
	`due_at` integer,
	`is_quarantined` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO new_jobs (id, kind, lane, tenant_id, subject, contact, is_quarantined, created_at)
  SELECT messages.job_id, 'send', messages.from_number, messages.tenant_id, messages.id, messages.to_number,
    messages.id IN (SELECT subject FROM jobs WHERE kind = 'fence')
      OR (messages.id IN (SELECT message_id FROM send_attempts WHERE outcome IS NULL
          UNION SELECT id FROM messages WHERE first_attempt_extension_id IS NOT NULL AND status = 'sending')
        AND messages.id NOT IN (SELECT message_id FROM new_send_attempts WHERE closed_at IS NULL)),
    messages.created_at
  FROM messages
  WHERE messages.id IN (SELECT subject FROM jobs WHERE kind IN ('send', 'settle', 'fence')
      UNION SELECT id FROM messages WHERE first_attempt_extension_id IS NOT NULL AND status = 'sending')
    AND messages.status IN ('queued', 'sending')
  ORDER BY messages.seq;
--> statement-breakpoint
INSERT INTO new_jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT id, kind, lane, tenant_id, subject, run_at, created_at FROM jobs WHERE kind NOT IN ('send', 'settle', 'fence') ORDER BY seq;
--> statement-breakpoint
-- The number of attempts goes on where the restore mark beside the database has it, first attempts without rows included.
-- The fact `begun`, how many those were, stays: the mark is compared with it.
DELETE FROM sqlite_sequence WHERE name = 'new_send_attempts';
--> statement-breakpoint
INSERT INTO sqlite_sequence (name, seq)
  SELECT 'new_send_attempts', max(
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'send_attempts'), 0)
      + coalesce((SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'begun'), 0),
    coalesce((SELECT max(seq) FROM new_send_attempts), 0));
--> statement-breakpoint
DROP TABLE `send_attempts`;
--> statement-breakpoint
DROP INDEX `new_send_attempts_open`;
--> statement-breakpoint
ALTER TABLE `new_send_attempts` RENAME TO `send_attempts`;
--> statement-breakpoint
CREATE UNIQUE INDEX `send_attempts_open` ON `send_attempts` (`from_number`,`to_number`) WHERE closed_at IS NULL;
--> statement-breakpoint
CREATE INDEX `send_attempts_by_message` ON `send_attempts` (`message_id`);
--> statement-breakpoint
DROP TABLE `jobs`;
--> statement-breakpoint
ALTER TABLE `new_jobs` RENAME TO `jobs`;
--> statement-breakpoint
CREATE INDEX `jobs_by_lane` ON `jobs` (`kind`,`lane`,`tenant_id`);
--> statement-breakpoint
DROP INDEX `messages_open`;
--> statement-breakpoint
DROP INDEX `messages_unconfirmed`;
--> statement-breakpoint
ALTER TABLE `messages` DROP COLUMN `attempt_id`;
--> statement-breakpoint
ALTER TABLE `messages` DROP COLUMN `first_attempt_extension_id`;
--> statement-breakpoint
ALTER TABLE `messages` DROP COLUMN `first_attempt_at`;
--> statement-breakpoint
ALTER TABLE `messages` ADD `error_code` text;
--> statement-breakpoint
UPDATE messages SET error_code = CASE
    WHEN error = 'Telephony provider not connected for this tenant' THEN 'not_connected'
    WHEN error LIKE 'Phone number %' THEN 'unknown_number'
    WHEN error LIKE 'Extension not connected %' THEN 'revoked'
    WHEN error = 'Message expired before it could be sent' THEN 'expired'
    WHEN error = 'Cancelled before sending' THEN 'cancelled'
    WHEN error = 'Delivery could not be confirmed with the provider' THEN 'unconfirmed'
    ELSE 'rejected' END
  WHERE status = 'failed';
--> statement-breakpoint
DELETE FROM facts WHERE name IN ('windows_after', 'windows_next');
