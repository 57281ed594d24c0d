import type { Command } from 'commander'

/** Adds the options that every list over all tenants has. */
export const addFilters = (command: Command): Command =>
  command
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--start-date <time>', 'not before: a date, or a date-time with offset')
    .option('--end-date <time>', 'not after')
    .option('--page <page>', 'from 1')
    .option('--limit <count>', 'how many on a page, 20 if absent, at most 100')
