import { type Command, InvalidArgumentError, Option } from 'commander'
import type { z } from 'zod'
import { wordsOf } from '../api/fields/named-enums.ts'
import { isoTime, systemClock } from '../core/clock.ts'
import { parseDuration } from '../core/duration.ts'

/** How a filter of the API becomes an option: its flags, if they differ from its name, and its help, if it differs from the API's description. */
interface FilterOption {
  flags?: string
  says?: string
  parse?: (text: string) => string
}

/** Settings for some filters of a query. */
export type FilterOptions<Query extends z.ZodObject> = { [Name in keyof Query['shape']]?: FilterOption }

/** Options of every list over all tenants. An operator belongs to no tenant, so `--tenant` is not a filter of the API. */
const addCommon = (command: Command): Command =>
  command
    .option('--tenant <tenant>', 'only this tenant')
    .option('--start-date <time>', 'not before: a date, a date-time with offset, or 2h for two hours ago', timeOf)
    .option('--end-date <time>', 'not after', timeOf)
    .option('--page <page>', 'from 1', countOf)
    .option('--limit <count>', 'results per page, at most 100; 20 by default', countOf)
const COMMON: readonly string[] = ['tenantId', 'startDate', 'endDate', 'page', 'limit']

/** Adds an option for each filter of a list over all tenants, `known` first. Returns a function that turns options into the API's query. */
export function addFilters<Query extends z.ZodObject>(
  command: Command,
  { shape }: Query,
  known: FilterOptions<Query>,
): (given: Readonly<Record<string, string>>) => Record<string, string | undefined> {
  addCommon(command)
  const names = new Set([...Object.keys(known), ...Object.keys(shape)].filter((name) => !COMMON.includes(name)))
  const attributes = [...names].map((name) => {
    const option = optionOf(name, shape[name] as z.ZodType, known[name] ?? {})
    command.addOption(option)
    return [name, option.attributeName()] as const
  })
  const common = COMMON.filter((name) => name !== 'tenantId').map((name) => [name, name] as const)
  return (given) => Object.fromEntries([...attributes, ...common].map(([name, option]) => [name, given[option]]))
}

function optionOf(name: string, filter: z.ZodType, { flags = flagsOf(name), says, parse }: FilterOption): Option {
  const option = new Option(flags, says ?? plainText(filter.description ?? ''))
  const words = wordsOf(filter)
  if (words !== null) option.choices(words)
  return parse === undefined ? option : option.argParser(parse)
}

/** `userId` is `--user-id <id>`. */
function flagsOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return `--${words} <${words.split('-').at(-1)}>`
}

/** An API description in the style of help: lower case, unless it begins with a name such as RingCentral. */
const plainText = (text: string): string =>
  text.replace(/^[A-Z](?=[a-z]*\b)/, (letter) => letter.toLowerCase()).replaceAll('`', '')

/** Who a command acts as: an app, or any app of a tenant. */
export interface Owner {
  app?: string
  tenant?: string
}

export const addOwner = (command: Command): Command =>
  command
    .option('--app <app>', 'act as this app of the tenant (sgw app list)')
    .option('--tenant <tenant>', 'act for this tenant, instead of an app (sgw tenant list)')

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

/** A whole number from 1, as text. The API treats anything else as absent, so a typo would go unnoticed. */
export function countOf(text: string): string {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 1 or more.')
  return text
}
