import { MIGRATIONS, type Migration } from '../../../../src/db/migrations.ts'

// A preload for a gateway of a later version: SGW_NEXT_MIGRATIONS says how many migrations it has more than this one.

/** Changes every message, and takes about half a second however few there are, so that the drill can kill it in that time. */
const nextMigration = (number: number): Migration => ({
  name: `${9000 + number}_next`,
  sql: `ALTER TABLE messages ADD note_${number} integer;
--> statement-breakpoint
UPDATE messages SET note_${number} = length(body);
--> statement-breakpoint
CREATE TABLE next_${number} AS WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000000)
  SELECT count(*) AS count FROM numbers;
--> statement-breakpoint
CREATE INDEX messages_by_note_${number} ON messages (tenant_id, note_${number});`,
})

const count = Number(process.env['SGW_NEXT_MIGRATIONS'] ?? 0)
const migrations = MIGRATIONS as Migration[]
migrations.push(...Array.from({ length: count }, (_, at) => nextMigration(at + 1)))
