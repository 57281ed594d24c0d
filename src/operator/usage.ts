import { setImmediate as nextTick } from 'node:timers/promises'
import { isoTime } from '../core/clock.ts'
import { parseDate } from '../core/date-time.ts'
import { DAY_MS } from '../core/limits.ts'
import type { Gateway } from '../messages/gateway.ts'
import { type AppUsage, dayOfAll } from '../messages/usage/daily.ts'

const COUNTS = ['sent', 'failed', 'received', 'segments', 'media'] as const

/** How a month is written. */
export interface MonthFormat {
  begin: string
  /** Some of a day, or some of the totals: these have no date. */
  write(usages: readonly AppUsage[], date?: string): string
  separator: string
  /** After the totals, before the days. */
  between: string
  end: string
}

/**
 * Writes the usage of a month (`2026-11`): the totals of each app that has days, by the names of tenants and apps, and the days, newest first.
 * The totals are sums of the days, so both always agree. Rows become text page by page, so that no tick of the event loop takes
 * long. Returns the portions.
 */
export async function writeMonth({ database }: Gateway, month: string, format: MonthFormat): Promise<string[]> {
  const totals = new Map<string, AppUsage>()
  const days: string[] = []
  for (const day of daysOf(month).toReversed()) {
    const date = isoTime(day * DAY_MS).slice(0, DATE_LENGTH)
    for await (const page of dayOfAll({ database }, day)) {
      const texts = await inPortions(page, (usages) => {
        for (const usage of usages) addTo(totals, usage)
        return format.write(usages, date)
      })
      days.push(...texts)
    }
  }
  const { begin, separator, between, end } = format
  const separated = (texts: readonly string[]) => texts.map((text, index) => (index === 0 ? text : separator + text))
  const sums = await inPortions(await inOrder({ database }, totals), (usages) => format.write(usages))
  return [begin, ...separated(sums), between, ...separated(days), end]
}

export const currentMonth = ({ clock }: Gateway): string => isoTime(clock.now()).slice(0, MONTH_LENGTH)

/** JSON without the names. */
export const JSON_FORMAT: MonthFormat = {
  begin: '{"totals":[',
  write: (usages, date) =>
    JSON.stringify(
      usages.map(({ tenantId, appId, sent, failed, received, segments, media }) => {
        return { date, tenantId, appId, sent, failed, received, segments, media }
      }),
    ).slice(1, -1),
  separator: ',',
  between: '],"days":[',
  end: ']}',
}

const MONTH_LENGTH = '2026-11'.length
const DATE_LENGTH = '2026-11-29'.length

/** The days of a month, by their numbers since the epoch. */
function daysOf(month: string): number[] {
  const next = new Date(parseDate(`${month}-01`) ?? Number.NaN)
  const first = next.getTime() / DAY_MS
  next.setUTCMonth(next.getUTCMonth() + 1)
  return Array.from({ length: next.getTime() / DAY_MS - first }, (_, index) => first + index)
}

function addTo(totals: Map<string, AppUsage>, usage: AppUsage): void {
  const total = totals.get(usage.place)
  if (total === undefined) totals.set(usage.place, { ...usage })
  else for (const count of COUNTS) total[count] += usage[count]
}

/** The reader sorts them, as it does the apps of a day. */
async function inOrder(
  { database }: Pick<Gateway, 'database'>,
  totals: ReadonlyMap<string, AppUsage>,
): Promise<AppUsage[]> {
  const sql = 'SELECT value AS place FROM json_each(?1) ORDER BY 1'
  const rows = await database.reader.longRead('operator', sql, [JSON.stringify([...totals.keys()])])
  return rows.flatMap(({ place }) => totals.get(String(place)) ?? [])
}

/** Usages that are written in one tick of the event loop. */
const PER_TICK = 250

async function inPortions(
  usages: readonly AppUsage[],
  write: (usages: readonly AppUsage[]) => string,
): Promise<string[]> {
  const texts: string[] = []
  for (let from = 0; from < usages.length; from += PER_TICK) {
    await nextTick()
    texts.push(write(usages.slice(from, from + PER_TICK)))
  }
  return texts
}
