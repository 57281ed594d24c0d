import type { Gateway } from '../../gateway.ts'

/** SQL for the time of a row of `messages`, as JSON. */
const TIME = 'CAST(messages.created_at AS INTEGER)'

/** Returns when the newest message to any of these numbers was stored, epoch milliseconds; null if there is none. */
export async function readLastInbound(
  { database }: Gateway,
  tenantId: string,
  numbers: readonly string[],
): Promise<number | null> {
  // The list of messages is counted from segments, so this stays cheap for a tenant with very many.
  const pages = numbers.map((number) =>
    database.lists.page({
      list: 'messages',
      tenantId,
      equal: { direction: 'inbound', to_number: number },
      prefix: null,
      since: 0,
      until: Number.MAX_SAFE_INTEGER,
      offset: 0,
      limit: 1,
      item: TIME,
    }),
  )
  const times = (await Promise.all(pages)).flatMap(({ items }) => (items === '' ? [] : [Number(items)]))
  return times.length === 0 ? null : Math.max(...times)
}
