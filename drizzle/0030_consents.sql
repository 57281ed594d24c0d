CREATE TABLE `consents` (
	`seq` integer PRIMARY KEY NOT NULL,
	`contact` text NOT NULL,
	`account_id` text NOT NULL,
	`number` text NOT NULL,
	`opted_out` integer NOT NULL,
	`modified_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `consents_by_contact` ON `consents` (`contact`,`account_id`,`number`);--> statement-breakpoint
DROP TRIGGER `opt_outs_events_insert`;--> statement-breakpoint
DROP TRIGGER `opt_outs_events_update`;--> statement-breakpoint
DROP TRIGGER `opt_outs_webhooks_insert`;--> statement-breakpoint
DROP TRIGGER `opt_outs_webhooks_update`;--> statement-breakpoint
CREATE TRIGGER `opt_outs_events_insert` AFTER INSERT ON `opt_outs`
-- Triggers cover every statement that changes an opt-out. 64 is `optOut` of EVENT_KINDS in src/db/schema/events.ts. A consent that the
-- provider had already is no change.
WHEN new.opted_out = 1 AND new.changed_by != 'known_consent' BEGIN
  INSERT INTO events (kinds, subject, at, detail)
    VALUES (64, new.id, new.since, json_object('optedOut', json('true'), 'source', new.source));
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_events_update` AFTER UPDATE OF opted_out ON `opt_outs`
WHEN new.opted_out != old.opted_out AND new.changed_by != 'known_consent' BEGIN
  INSERT INTO events (kinds, subject, at, detail)
    VALUES (64, new.id, new.since, json_object('optedOut', json(iif(new.opted_out, 'true', 'false')), 'source', new.source));
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_webhooks_insert` AFTER INSERT ON `opt_outs`
-- The webhooks of an opt-out belong to the message that caused it, which a consent has not. Bit 8 of webhook_events is opt_out.
WHEN new.opted_out = 1 AND new.source != 'api' AND new.changed_by NOT IN ('consent', 'known_consent')
  AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT new.changed_by, 'opt_out', new.since, json_object('optedOut', json('true'), 'source', new.source)
    WHERE EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND webhook_events & 8) ON CONFLICT DO NOTHING;
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_webhooks_update` AFTER UPDATE OF opted_out ON `opt_outs`
WHEN new.opted_out != old.opted_out AND new.source != 'api' AND new.changed_by NOT IN ('consent', 'known_consent')
  AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT new.changed_by, 'opt_out', new.since, json_object('optedOut', json(iif(new.opted_out, 'true', 'false')), 'source', new.source)
    WHERE EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND webhook_events & 8) ON CONFLICT DO NOTHING;
END;
