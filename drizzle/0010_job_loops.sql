DROP INDEX `jobs_retries_due`;--> statement-breakpoint
DROP INDEX `jobs_by_lane`;--> statement-breakpoint
CREATE INDEX `jobs_by_due_time` ON `jobs` (`kind`,`lane`,`tenant_id`,`due_at`) WHERE kind = 'webhook' OR kind = 'webhook_retry' OR kind = 'lookup' OR kind = 'back_fill';--> statement-breakpoint
CREATE INDEX `jobs_by_lane` ON `jobs` (`kind`,`lane`,`tenant_id`) WHERE kind = 'send' OR kind = 'schedule';--> statement-breakpoint
-- Fan-out jobs are no more: each becomes the jobs of the destinations that it had left. Its subject was `<messageId>:<seq of the next one>`.
INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
  SELECT messages.job_id, 'webhook', target.id, messages.tenant_id, messages.id || ':' || target.id, 0, messages.created_at
  FROM jobs AS own
  CROSS JOIN messages ON messages.id = substr(own.subject, 1, instr(own.subject, ':') - 1) AND messages.tenant_id = own.tenant_id
  CROSS JOIN (
    SELECT 'app' AS kind, seq, id, tenant_id FROM apps
      WHERE is_active = 1 AND webhook_url IS NOT NULL AND (webhook_events IS NULL OR webhook_events & 1)
    UNION ALL SELECT 'trigger', seq, id, tenant_id FROM triggers) AS target
    ON target.tenant_id = own.tenant_id AND target.kind = own.lane
    AND target.seq >= CAST(substr(own.subject, instr(own.subject, ':') + 1) AS INTEGER)
  WHERE own.kind = 'fan_out'
  ORDER BY messages.seq, target.seq;--> statement-breakpoint
DELETE FROM jobs WHERE kind = 'fan_out';
