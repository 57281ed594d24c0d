CREATE TABLE `conversation_activity` (
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`contact` text NOT NULL,
	`last_seq` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `conversation_activity_by_contact` ON `conversation_activity` (`tenant_id`,`contact`,`number`);--> statement-breakpoint
CREATE INDEX `conversation_activity_by_tenant` ON `conversation_activity` (`tenant_id`,`last_seq`);--> statement-breakpoint
CREATE INDEX `conversation_activity_by_number` ON `conversation_activity` (`tenant_id`,`number`,`last_seq`);--> statement-breakpoint
CREATE TABLE `conversation_counts` (
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `opt_outs` (
	`seq` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`number` text NOT NULL,
	`contact` text NOT NULL,
	`opted_out` integer NOT NULL,
	`source` text NOT NULL,
	`since` integer NOT NULL,
	`decided_at` integer NOT NULL,
	`changed_by` text NOT NULL,
	`changes` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `opt_outs_id_unique` ON `opt_outs` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `opt_outs_by_contact` ON `opt_outs` (`tenant_id`,`contact`,`number`);--> statement-breakpoint
CREATE INDEX `opt_outs_by_tenant` ON `opt_outs` (`tenant_id`,`since`) WHERE opted_out = 1;--> statement-breakpoint
ALTER TABLE `tenants` ADD `opt_out_policy` text DEFAULT 'observe' NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_events_insert` AFTER INSERT ON `opt_outs`
-- Triggers cover every statement that changes an opt-out. 64 is `optOut` of EVENT_KINDS in src/db/schema/events.ts.
WHEN new.opted_out = 1 BEGIN
  INSERT INTO events (kinds, subject, at, detail)
    VALUES (64, new.id, new.since, json_object('optedOut', json('true'), 'source', new.source));
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_events_update` AFTER UPDATE OF opted_out ON `opt_outs`
WHEN new.opted_out != old.opted_out BEGIN
  INSERT INTO events (kinds, subject, at, detail)
    VALUES (64, new.id, new.since, json_object('optedOut', json(iif(new.opted_out, 'true', 'false')), 'source', new.source));
END;
--> statement-breakpoint
CREATE TRIGGER `conversation_counts_insert` AFTER INSERT ON `conversation_activity` BEGIN
  INSERT INTO conversation_counts (tenant_id, number, count) VALUES (new.tenant_id, new.number, 1)
    ON CONFLICT (tenant_id, number) DO UPDATE SET count = count + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `conversation_counts_delete` AFTER DELETE ON `conversation_activity` BEGIN
  UPDATE conversation_counts SET count = count - 1 WHERE tenant_id = old.tenant_id AND number = old.number;
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_webhooks_insert` AFTER INSERT ON `opt_outs`
-- The webhooks of an opt-out belong to the message that caused it. Bit 8 of webhook_events is opt_out.
WHEN new.opted_out = 1 AND new.source != 'api' AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT new.changed_by, 'opt_out', new.since, json_object('optedOut', json('true'), 'source', new.source)
    WHERE EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND webhook_events & 8) ON CONFLICT DO NOTHING;
END;
--> statement-breakpoint
CREATE TRIGGER `opt_outs_webhooks_update` AFTER UPDATE OF opted_out ON `opt_outs`
WHEN new.opted_out != old.opted_out AND new.source != 'api' AND EXISTS (SELECT 1 FROM apps WHERE webhook_events > 1) BEGIN
  INSERT INTO webhook_details (message_id, event, at, detail)
    SELECT new.changed_by, 'opt_out', new.since, json_object('optedOut', json(iif(new.opted_out, 'true', 'false')), 'source', new.source)
    WHERE EXISTS (SELECT 1 FROM apps WHERE tenant_id = new.tenant_id AND webhook_events & 8) ON CONFLICT DO NOTHING;
END;
