import { quarantineWaiting } from '../../src/db/restore-mark.ts'
import type { World } from './world.ts'

/** Quarantines the messages that wait, as after a restore: they may have been sent after the backup was made. */
export async function quarantine({ gateway }: Pick<World, 'gateway'>): Promise<void> {
  const { database, clock, sending } = gateway
  await database.gate.execute(quarantineWaiting(clock.now()))
  for (const queue of sending.scheduler.queues.all()) for (const entry of queue.waiting) entry.isQuarantined = true
}
