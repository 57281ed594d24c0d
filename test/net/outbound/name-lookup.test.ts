import { RESERVED_WEBHOOKS_PER_TENANT } from '../../../src/core/limits.ts'
import { expect, test } from 'bun:test'
import { NameLookup } from '../../../src/net/outbound/name-lookup.ts'
import { type Resolver, systemResolver } from '../../../src/net/outbound/system-resolver.ts'
import { startDnsServer } from './dns-server.ts'
import { manualClock } from '../../support/manual-clock.ts'

const noSignal = new AbortController().signal
const SILENT_NAMES = 100

/** A resolver that answers when a test calls `answer`, and ends when a lookup is aborted. */
class HeldLookups {
  readonly started: string[] = []
  readonly #answers = new Map<string, (address: string) => void>()

  readonly resolver: Resolver = (hostname, signal) =>
    new Promise((resolve, reject) => {
      this.started.push(hostname)
      this.#answers.set(hostname, (address) => resolve([{ address, family: 4 }]))
      signal.addEventListener('abort', () => reject(Object.assign(new Error('Given up'), { code: 'ETIMEOUT' })))
    })

  answer(hostname: string): void {
    this.#answers.get(hostname)?.('192.0.2.1')
  }
}

/** Waits until all pending promises have been handled. */
const promisesHandled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function heldLookups() {
  const clock = manualClock()
  const held = new HeldLookups()
  const names = new NameLookup(held.resolver, clock)
  const outcomes = new Map<string, string>()
  const find = (hostname: string, tenantId: string, signal = noSignal): void =>
    void names.find(hostname, tenantId, signal).then((result) => {
      outcomes.set(hostname, result.ok ? result.addresses.join() : result.errorClass)
    })
  const findMany = (tenantId: string, count: number): void => {
    for (let index = 0; index < count; index++) find(`${tenantId}-${index}.test`, tenantId)
  }
  const startedOf = (tenantId: string): number =>
    held.started.filter((hostname) => hostname.startsWith(`${tenantId}-`)).length
  return { clock, held, names, outcomes, find, findMany, startedOf }
}

test('a name that hangs fails after 2 s, and for 5 more seconds without another lookup', async () => {
  const { clock, held, names } = heldLookups()
  const both = [1, 2].map(() => names.find('slow.example', 'a', noSignal))
  clock.advance(2000)
  expect(await Promise.all(both)).toMatchObject([{ errorClass: 'ETIMEOUT' }, { errorClass: 'ETIMEOUT' }])
  clock.advance(4999)
  expect(await names.find('slow.example', 'a', noSignal)).toMatchObject({ errorClass: 'ETIMEOUT' })
  expect(held.started).toHaveLength(1)
  clock.advance(1)
  expect(await names.find('slow.example', 'a', AbortSignal.abort())).toMatchObject({ errorClass: 'TimeoutError' })
  expect(held.started).toHaveLength(2)
})

test("a tenant's names that hang leave slots for other tenants", async () => {
  const { clock, held, outcomes, find, findMany, startedOf } = heldLookups()
  findMany('a', SILENT_NAMES)
  expect(startedOf('a')).toBe(64)
  find('good.test', 'b')
  held.answer('good.test')
  await promisesHandled()
  expect(outcomes).toEqual(new Map([['good.test', '192.0.2.1']]))
  clock.advance(2000)
  await promisesHandled()
  expect(startedOf('a')).toBe(SILENT_NAMES)
})

test('a name for which two tenants wait is looked up for each', async () => {
  const { held, outcomes, find, findMany } = heldLookups()
  findMany('a', 64)
  find('shared.test', 'a')
  find('shared.test', 'b')
  expect(held.started.filter((name) => name === 'shared.test')).toHaveLength(1)
  held.answer('shared.test')
  await promisesHandled()
  expect(outcomes.get('shared.test')).toBe('192.0.2.1')
})

test('at most 256 lookups run at once, besides a few of each further tenant, which also get the next free slots', async () => {
  const { held, findMany, startedOf } = heldLookups()
  for (const tenantId of ['a', 'b', 'c', 'd', 'e']) findMany(tenantId, 70)
  expect(held.started).toHaveLength(256 + RESERVED_WEBHOOKS_PER_TENANT)
  for (let index = 0; index < 6; index++) held.answer(`a-${index}.test`)
  await promisesHandled()
  // The first four only make up for those that were started in addition.
  expect([startedOf('a'), startedOf('e')]).toEqual([64, RESERVED_WEBHOOKS_PER_TENANT + 2])
})

test('a lookup that finds no slot for 5 s fails and leaves the queue', async () => {
  const { clock, held, outcomes, find, findMany, startedOf } = heldLookups()
  findMany('a', 4 * 64)
  for (const expected of [2, 3]) {
    clock.advance(2000)
    await promisesHandled()
    expect(startedOf('a')).toBe(expected * 64)
  }
  expect(outcomes.size).toBe(2 * 64)
  clock.advance(1000)
  await promisesHandled()
  expect(outcomes.get('a-255.test')).toBe('ETIMEOUT')
  expect(outcomes.size).toBe(3 * 64)
  clock.advance(1000)
  await promisesHandled()
  expect(startedOf('a')).toBe(3 * 64)
  find('later.test', 'a')
  expect(held.started).toContain('later.test')
})

test('100 names that a DNS server does not answer hold neither other names nor the worker threads', async () => {
  await using server = await startDnsServer({ 'good.example.com': { A: ['192.0.2.1'] } }, 'silence')
  const clock = manualClock()
  const names = new NameLookup(systemResolver({ servers: [server.address], searchPath: '/nonexistent' }), clock)
  let ended = 0
  const silent = Array.from({ length: SILENT_NAMES }, (_, index) =>
    names.find(`silent-${index}.example.com`, 'a', noSignal).then(() => ended++),
  )
  expect(await names.find('good.example.com', 'b', noSignal)).toEqual({ ok: true, addresses: ['192.0.2.1'] })
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt'])
  await crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, new Uint8Array(1))
  expect(ended).toBe(0)
  for (let round = 0; round < 2; round++) {
    clock.advance(2000)
    await Promise.race(silent)
    await promisesHandled()
  }
  await Promise.all(silent)
})
