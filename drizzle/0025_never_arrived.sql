ALTER TABLE `webhook_attempts` ADD `is_unresolved` integer;--> statement-breakpoint
UPDATE webhook_attempts SET is_unresolved = 1 WHERE outcome <> 'success'
  AND NOT EXISTS (SELECT 1 FROM webhook_attempts AS later
    WHERE later.delivery_id = webhook_attempts.delivery_id AND later.attempt_number > webhook_attempts.attempt_number);--> statement-breakpoint
CREATE INDEX `webhook_attempts_unresolved` ON `webhook_attempts` (`tenant_id`,`attempted_at`,`target_id`,`kind`,`delivery_id`) WHERE is_unresolved = 1;