import { type Command, InvalidArgumentError } from 'commander'
import { isoTime, systemClock } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'

/** Adds the options that every list over all tenants has. */
export const addFilters = (command: Command): Command =>
  command
    .option('--tenant <tenant>', 'only of this tenant')
    .option('--start-date <time>', 'not before: a date, a date-time with offset, or 2h for two hours ago', timeOf)
    .option('--end-date <time>', 'not after', timeOf)
    .option('--page <page>', 'from 1', countOf)
    .option('--limit <count>', 'how many on a page, 20 if absent, at most 100', countOf)

/** In whose name a command acts: an app, or any app of a tenant. */
export interface Owner {
  app?: string
  tenant?: string
}

export const addOwner = (command: Command): Command =>
  command
    .option('--app <app>', 'an app of the tenant, in whose name it is done (sgw app list)')
    .option('--tenant <tenant>', 'the tenant, instead of an app (sgw tenant list)')

/** Ends the command as commander does for a missing option, unless one of the two is given. */
export function requireOwner(command: Command, { app, tenant }: Owner): void {
  if (app === undefined && tenant === undefined)
    command.error("error: required option '--app <app>' or '--tenant <tenant>' not specified", { exitCode: 2 })
}

/** A time as the API takes it. `2h` is two hours ago. */
export function timeOf(text: string): string {
  const ago = parseDuration(text)
  return ago === null ? text : isoTime(systemClock.now() - ago)
}

/** The values of an option that may be repeated. */
export const collected = (value: string, before: string[] = []): string[] => [...before, value]

/** A whole number from 1, as text. The API reads anything else as absent, and a slip would go unnoticed. */
export function countOf(text: string): string {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.')
  return text
}
