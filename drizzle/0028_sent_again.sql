ALTER TABLE `messages` ADD `resent_as` text;--> statement-breakpoint
UPDATE `messages` SET `resent_as` = (SELECT stored.message_id FROM idempotency_keys AS stored
    WHERE stored.app_id = messages.app_id AND stored.key = 'resend-' || messages.id)
  WHERE status = 'failed' AND id IN (SELECT substr(stored.key, 8) FROM idempotency_keys AS stored WHERE stored.key LIKE 'resend-msg%');
