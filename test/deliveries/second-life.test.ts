import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { attempts } from '../support/provider-events.ts'
import { pass, setPolicy, setUrl, settled, startFailingReceiver } from '../support/retries.ts'
import { type World, createWorld } from '../support/world.ts'

const MINUTE = 60_000

/** A world and a second one with the same database; `leave` is what the first one does. */
async function twoLives(
  clock: ManualClock,
  options: { work: boolean },
  leave: (first: World) => Promise<unknown>,
  between: (database: string) => void = () => {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const first = await createWorld({ clock, folder, ...options })
  await leave(first)
  await first[Symbol.asyncDispose]()
  between(join(folder, 'sgw.db'))
  const second = await createWorld({ clock, folder, connect: false })
  return {
    world: second,
    log: () => attempts(second, '', first.key),
    async [Symbol.asyncDispose]() {
      await second[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The attempt `number`, as a process that was killed during its POST leaves it. */
const leaveOpen = (world: World, number: number): Promise<unknown> =>
  world.gateway.database.gate.execute({
    sql: `INSERT INTO deliveries (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at)
      SELECT subject, ?1, tenant_id, 'app', lane, substr(subject, 1, 16), 'cor_0', '', 'boot_before', 0
      FROM jobs WHERE kind IN ('webhook', 'webhook_retry')`,
    args: [number],
  })

const POLICIES = [
  ['none', [1]],
  ['short', [2, 1]],
] as const

for (const [policy, numbers] of POLICIES) {
  test(`after kill -9 during the first attempt, with ${policy}: it is Interrupted, and only a schedule goes on`, async () => {
    const clock = manualClock()
    await using receiver = startFailingReceiver()
    receiver.answer = () => new Response('ok')
    await using lives = await twoLives(clock, { work: false }, async (first) => {
      await setUrl(first, receiver.url)
      await setPolicy(first, policy)
      await first.control.injectSms({ text: 'interrupted' })
      await leaveOpen(first, 1)
    })
    await settled(lives.world, clock)
    expect(receiver.requests).toEqual([])
    await pass(lives.world, clock, 10_000, 1000)
    const log = await lives.log()
    expect(log.map((attempt) => attempt['attemptNumber'])).toEqual([...numbers])
    expect(log.at(-1)).toMatchObject({
      outcome: 'network_error',
      errorClass: 'Interrupted',
      errorMessage: 'The request was interrupted; it may have arrived',
    })
  })

  test(`after a restore, with ${policy}: what waited is Interrupted, and only a schedule goes on`, async () => {
    const clock = manualClock()
    await using receiver = startFailingReceiver()
    receiver.answer = () => new Response('ok')
    const leave = async (first: World): Promise<void> => {
      await setUrl(first, receiver.url)
      await setPolicy(first, policy)
      await first.control.injectSms({ text: 'copied' })
    }
    await using lives = await twoLives(clock, { work: false }, leave, (path) => rmSync(`${path}.mark`))
    await settled(lives.world, clock)
    expect(receiver.requests).toEqual([])
    await pass(lives.world, clock, 10_000, 1000)
    const log = await lives.log()
    expect(log.map((attempt) => attempt['attemptNumber']).toSorted()).toEqual([...numbers].toSorted())
    expect(log.find((attempt) => attempt['attemptNumber'] === 1)).toMatchObject({
      outcome: 'network_error',
      errorClass: 'Interrupted',
      errorMessage: 'The database was restored from a backup; the request may have been made before',
    })
  })
}

test('after kill -9 during a retry the schedule goes on with its next step, and nothing is posted twice at once', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using lives = await twoLives(clock, { work: true }, async (first) => {
    await setUrl(first, receiver.url)
    await setPolicy(first, 'short')
    await first.control.injectSms({ text: 'twice unlucky' })
    await receiver.received(1)
    await settled(first, clock)
    await leaveOpen(first, 2)
  })
  await pass(lives.world, clock, 26_000, 1000)
  expect(receiver.requests).toHaveLength(1)
  await pass(lives.world, clock, 8000, 1000)
  expect(receiver.requests).toHaveLength(2)
  expect((await lives.log()).map((attempt) => attempt['attemptNumber']).toSorted()).toEqual([1, 2, 3])
  expect(receiver.overlaps).toEqual([])
})

test('a restart keeps the time of a retry', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using lives = await twoLives(clock, { work: true }, async (first) => {
    await setUrl(first, receiver.url)
    await setPolicy(first, 'standard')
    await first.control.injectSms({ text: 'patient' })
    await receiver.received(1)
    await settled(first, clock)
    clock.advance(6000)
    await receiver.received(2)
    await settled(first, clock)
  })
  await pass(lives.world, clock, 4 * MINUTE, MINUTE)
  expect(receiver.requests).toHaveLength(2)
  await pass(lives.world, clock, 2 * MINUTE, MINUTE)
  expect(receiver.requests).toHaveLength(3)
})

test('a clock that was set back by a year makes no retry wait longer than a schedule can', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using lives = await twoLives(clock, { work: true }, async (first) => {
    await setUrl(first, receiver.url)
    await setPolicy(first, 'short')
    await first.control.injectSms({ text: 'from the future' })
    await receiver.received(1)
    await settled(first, clock)
    await first.gateway.database.gate.execute(`UPDATE jobs SET due_at = due_at + ${365 * 24 * 60 * MINUTE}`)
  })
  await receiver.received(2)
  expect((await lives.log()).length).toBeGreaterThan(0)
})
