import { expect, test } from 'bun:test'
import { type LimitedKey, Limiter, type Slot } from '../../src/core/limiter.ts'
import { seededRandom } from '../../src/simulator/random.ts'

/** Requests slots and records who got one. */
function open(...[bounds]: ConstructorParameters<typeof Limiter>) {
  const limiter = new Limiter(bounds)
  const served: string[] = []
  const slots: Slot[] = []
  const request = (tenantId: string, name = tenantId, keys: readonly LimitedKey[] = []): (() => void) =>
    limiter.request(tenantId, keys, (slot) => {
      served.push(name)
      slots.push(slot)
    })
  return { limiter, served, slots, request }
}

test('a free slot goes to the waiting tenant that holds the fewest', () => {
  const { served, slots, request } = open({ total: 3, perTenant: 3 })
  for (let count = 0; count < 5; count++) request('a')
  request('b')
  request('b')
  slots[0]?.release()
  expect(served.slice(3)).toEqual(['b'])
  // Now `a` holds two of three slots, and one after this.
  slots[1]?.release()
  slots[2]?.release()
  expect(served.slice(4).toSorted()).toEqual(['a', 'b'])
})

test('tenants that hold as many take turns', () => {
  const { served, slots, request } = open({ total: 1, perTenant: 1 })
  for (const tenantId of ['a', 'a', 'b', 'c', 'b', 'c']) request(tenantId)
  for (let index = 0; index < 5; index++) slots[index]?.release()
  expect(served).toEqual(['a', 'a', 'b', 'c', 'b', 'c'])
})

test('a tenant has at most its own number of slots, while others have some', () => {
  const { served, request } = open({ total: 10, perTenant: 2 })
  for (let count = 0; count < 4; count++) request('a')
  request('b')
  expect(served).toEqual(['a', 'a', 'b'])
})

test('a tenant with nothing under way finds a slot even if all are taken', () => {
  const { served, request } = open({ total: 2, perTenant: 2, reservedPerTenant: 1 })
  for (const tenantId of ['a', 'a', 'a', 'b', 'b']) request(tenantId)
  expect(served).toEqual(['a', 'a', 'b'])
})

test('a waiter whose key is used up lets the others pass, and goes first when the key is free', () => {
  const { served, slots, request } = open({ total: 3, perTenant: 3 })
  const key = { name: 'host', max: 1 }
  for (const name of ['a1', 'a2', 'a3']) request('a', name, [key])
  request('a', 'other')
  expect(served).toEqual(['a1', 'other'])
  slots[0]?.release()
  expect(served).toEqual(['a1', 'other', 'a2'])
})

test('a waiter that leaves its queue gets no slot, whatever it waits for', () => {
  const { served, slots, request } = open({ total: 2, perTenant: 2 })
  const key = { name: 'host', max: 1 }
  request('a', 'first', [key])
  request('a', 'second')
  const leaving = [request('a', 'blocked', [key]), request('a', 'waiting')]
  for (const leave of leaving) leave()
  for (const slot of slots) slot.release()
  expect(served).toEqual(['first', 'second'])
})

test('a slot can hold one more key, is released once, and then frees all of its keys', () => {
  const { limiter, slots, request } = open({ total: 9, perTenant: 9 })
  const key = { name: 'host', max: 1 }
  request('a')
  expect([slots[0]?.hold(key), slots[0]?.hold(key)]).toEqual([true, true])
  const other = limiter.acquire('a')
  expect(other?.hold(key)).toBe(false)
  expect(limiter.acquire('a', [key])).toBeNull()
  slots[0]?.release()
  slots[0]?.release()
  expect(limiter.acquire('a', [key])).not.toBeNull()
})

test('in random runs no limit is exceeded, and every waiter is served', () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  for (let run = seed; run < seed + 50; run++) randomRun(run)
})

function randomRun(seed: number): void {
  const random = seededRandom(seed)
  const upTo = (max: number): number => Math.floor(random() * (max + 1))
  const bounds = { total: 1 + upTo(5), perTenant: 1 + upTo(3), reservedPerTenant: upTo(1) }
  const limiter = new Limiter(bounds)
  const held: { tenantId: string; keys: LimitedKey[]; slot: Slot }[] = []
  let waiting = 0
  const check = (tenantId: string, keys: readonly LimitedKey[]): void => {
    const ofTenant = held.filter((one) => one.tenantId === tenantId).length
    expect(ofTenant).toBeLessThanOrEqual(bounds.perTenant)
    if (held.length > bounds.total) expect(ofTenant).toBeLessThanOrEqual(bounds.reservedPerTenant)
    for (const { name, max } of keys)
      expect(held.filter((one) => one.keys.some((key) => key.name === name)).length).toBeLessThanOrEqual(max)
  }
  const request = (): void => {
    const tenantId = `tenant ${upTo(4)}`
    const keys = ['x', 'y', 'z'].filter(() => random() < 0.4).map((name) => ({ name, max: 2 }))
    waiting++
    const leave = limiter.request(tenantId, keys, (slot) => {
      waiting--
      held.push({ tenantId, keys, slot })
      check(tenantId, keys)
    })
    const before = waiting
    if (random() < 0.1 && !held.some((one) => one.keys === keys)) {
      leave()
      waiting = before - 1
    }
  }
  const release = (): void => held.splice(upTo(held.length - 1), 1)[0]?.slot.release()
  for (let step = 0; step < 300; step++) {
    if (random() < 0.5 || held.length === 0) request()
    else release()
  }
  while (held.length > 0) release()
  expect({ seed, waiting }).toEqual({ seed, waiting: 0 })
}
