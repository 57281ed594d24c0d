import type { Command } from 'commander'
import { isoTime, systemClock } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'

/** Adds the options that every list over all tenants has. */
export const addFilters = (command: Command): Command =>
  command
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--start-date <time>', 'not before: a date, a date-time with offset, or 2h for two hours ago', timeOf)
    .option('--end-date <time>', 'not after', timeOf)
    .option('--page <page>', 'from 1')
    .option('--limit <count>', 'how many on a page, 20 if absent, at most 100')

/** A time as the API takes it. `2h` is two hours ago. */
export function timeOf(text: string): string {
  const ago = parseDuration(text)
  return ago === null ? text : isoTime(systemClock.now() - ago)
}
