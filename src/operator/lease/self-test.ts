import type { ObjectStore } from './object-store.ts'

/**
 * Why a lease in this storage would be worthless: it writes although a write's condition does not hold, or a read returns something older than
 * the last write. Null if the storage is suitable. Errors: `StoreError`.
 */
export async function testStore(store: ObjectStore): Promise<string | null> {
  const key = `check-${crypto.randomUUID()}.json`
  try {
    const first = await store.put(key, '1', 'nothing')
    if (first === null) return 'it refuses a new object (If-None-Match: *)'
    if ((await store.put(key, '2', 'nothing')) !== null) return 'it ignores If-None-Match: * and overwrites an object'
    const second = await store.put(key, '3', { etag: first })
    if (second === null) return 'it refuses a write with the right If-Match'
    if ((await store.put(key, '4', { etag: first })) !== null)
      return 'it ignores If-Match and overwrites a newer object'
    const found = await store.get(key)
    if (found?.text !== '3') return LAGS.read
    if (!(await store.list(key)).some((listed) => listed.key === key)) return LAGS.list
    return null
  } finally {
    await store.delete(key).catch(() => undefined)
  }
}

const LAGS = {
  read: 'it does not answer a read with the last write',
  list: 'it does not list what was just written',
}

/** Whether the fault may pass: the storage does what it is asked, but late. */
export const isLag = (reason: string): boolean => Object.values(LAGS).includes(reason)

/** Says what a failed test means. */
export const describeUnfit = (reason: string): string =>
  `This storage cannot hold the lease: ${reason}. Two gateways could work at once, so take a storage with conditional writes (docs/beyond-one-machine.md)`
