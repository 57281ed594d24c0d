DROP TRIGGER `messages_segments_insert`;
--> statement-breakpoint
DROP TRIGGER `messages_segments_delete`;
--> statement-breakpoint
DROP TRIGGER `messages_segments_status`;
--> statement-breakpoint
DROP TRIGGER `messages_segments_update`;
--> statement-breakpoint
DROP TRIGGER `deliveries_segments_insert`;
--> statement-breakpoint
DROP TRIGGER `deliveries_segments_delete`;
--> statement-breakpoint
DROP TRIGGER `deliveries_segments_outcome`;
--> statement-breakpoint
DROP TRIGGER `deliveries_segments_update`;
--> statement-breakpoint
DROP TRIGGER `list_segments_delete`;
--> statement-breakpoint
DROP TRIGGER `conversation_counts_insert`;
--> statement-breakpoint
DROP TRIGGER `conversation_counts_delete`;
--> statement-breakpoint
DROP TABLE `list_segment_columns`;
--> statement-breakpoint
DROP TABLE `list_segments`;
--> statement-breakpoint
DROP TABLE `conversation_counts`;
--> statement-breakpoint
DROP INDEX `jobs_scheduled_by_tenant`;
--> statement-breakpoint
DROP INDEX `messages_by_tenant`;
--> statement-breakpoint
CREATE INDEX `messages_by_tenant` ON `messages` (`tenant_id`,`created_at`,`app_id`,`direction`,`status`,`from_number`,`to_number`,`user_id`);
