import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { attempts } from '../../support/provider-events.ts'
import {
  advanceInSteps,
  setRetryPolicy,
  setWebhookUrl,
  attemptsEnded,
  startFailingReceiver,
} from '../../support/retries.ts'
import { type World, createWorld } from '../../support/world.ts'

const MINUTE = 60_000

/** Runs `prepare` in a first world and restarts with the same database. */
async function restarted(
  clock: ManualClock,
  options: { work: boolean },
  prepare: (first: World) => Promise<unknown>,
  between: (database: string) => void = () => {},
  later: ManualClock = clock,
) {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-test-'))
  const first = await createWorld({ clock, folder, ...options })
  await prepare(first)
  await first[Symbol.asyncDispose]()
  between(join(folder, 'sgw.db'))
  const second = await createWorld({ clock: later, folder, connect: false })
  return {
    world: second,
    log: () => attempts(second, '', first.key),
    async [Symbol.asyncDispose]() {
      await second[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Stores the open attempt `number` of a process that was killed during its POST. */
const storeOpenAttempt = (world: World, number: number): Promise<unknown> =>
  world.gateway.database.gate.execute({
    sql: `INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at)
      SELECT subject, ?1, tenant_id, 'app', lane, substr(subject, 1, 16), 'cor_0', '', 'boot_before', ?2
      FROM jobs WHERE kind IN ('webhook', 'webhook_retry')`,
    args: [number, world.gateway.clock.now()],
  })

const POLICIES = [
  ['none', [1]],
  ['short', [2, 1]],
] as const

for (const [policy, numbers] of POLICIES) {
  test(`after kill -9 during the first attempt, with ${policy}: the attempt is Interrupted, and only a schedule continues`, async () => {
    const clock = manualClock()
    await using receiver = startFailingReceiver()
    receiver.answer = () => new Response('ok')
    await using second = await restarted(clock, { work: false }, async (first) => {
      await setWebhookUrl(first, receiver.url)
      await setRetryPolicy(first, policy)
      await first.control.injectSms({ text: 'interrupted' })
      await storeOpenAttempt(first, 1)
    })
    await attemptsEnded(second.world, clock)
    expect(receiver.requests).toEqual([])
    await advanceInSteps(second.world, clock, 10_000, 1000)
    const log = await second.log()
    expect(log.map((attempt) => attempt['attemptNumber'])).toEqual([...numbers])
    expect(log.at(-1)).toMatchObject({
      outcome: 'network_error',
      errorClass: 'Interrupted',
      errorMessage: 'The request was interrupted; it may have arrived',
    })
  })

  test(`after a restore, with ${policy}: waiting attempts are Interrupted, and only a schedule continues`, async () => {
    const clock = manualClock()
    await using receiver = startFailingReceiver()
    receiver.answer = () => new Response('ok')
    const prepare = async (first: World): Promise<void> => {
      await setWebhookUrl(first, receiver.url)
      await setRetryPolicy(first, policy)
      await first.control.injectSms({ text: 'copied' })
    }
    await using second = await restarted(clock, { work: false }, prepare, (path) => rmSync(`${path}.mark`))
    await attemptsEnded(second.world, clock)
    expect(receiver.requests).toEqual([])
    await advanceInSteps(second.world, clock, 10_000, 1000)
    const log = await second.log()
    expect(log.map((attempt) => attempt['attemptNumber']).toSorted()).toEqual([...numbers].toSorted())
    expect(log.find((attempt) => attempt['attemptNumber'] === 1)).toMatchObject({
      outcome: 'network_error',
      errorClass: 'Interrupted',
      errorMessage: 'The database was restored from a backup; the request may have been made before',
    })
  })
}

test('after kill -9 during a retry, the schedule continues with its next step, and nothing is posted twice at once', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using second = await restarted(clock, { work: true }, async (first) => {
    await setWebhookUrl(first, receiver.url)
    await setRetryPolicy(first, 'short')
    await first.control.injectSms({ text: 'twice unlucky' })
    await receiver.received(1)
    await attemptsEnded(first, clock)
    await storeOpenAttempt(first, 2)
  })
  await advanceInSteps(second.world, clock, 26_000, 1000)
  expect(receiver.requests).toHaveLength(1)
  await advanceInSteps(second.world, clock, 8000, 1000)
  expect(receiver.requests).toHaveLength(2)
  expect((await second.log()).map((attempt) => attempt['attemptNumber']).toSorted()).toEqual([1, 2, 3])
  expect(receiver.overlaps).toEqual([])
})

test('a restart does not change the time of a retry', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using second = await restarted(clock, { work: true }, async (first) => {
    await setWebhookUrl(first, receiver.url)
    await setRetryPolicy(first, 'standard')
    await first.control.injectSms({ text: 'patient' })
    await receiver.received(1)
    await attemptsEnded(first, clock)
    clock.advance(6000)
    await receiver.received(2)
    await attemptsEnded(first, clock)
  })
  await advanceInSteps(second.world, clock, 4 * MINUTE, MINUTE)
  expect(receiver.requests).toHaveLength(2)
  await advanceInSteps(second.world, clock, 2 * MINUTE, MINUTE)
  expect(receiver.requests).toHaveLength(3)
})

test('a retry waits no longer than its schedule allows, even if the clock was set back by a year', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using second = await restarted(clock, { work: true }, async (first) => {
    await setWebhookUrl(first, receiver.url)
    await setRetryPolicy(first, 'short')
    await first.control.injectSms({ text: 'from the future' })
    await receiver.received(1)
    await attemptsEnded(first, clock)
    await first.gateway.database.gate.execute(`UPDATE jobs SET due_at = due_at + ${365 * 24 * 60 * MINUTE}`)
  })
  await receiver.received(2)
  expect((await second.log()).length).toBeGreaterThan(0)
})

test('a retry does not wait for a day more if the clock was set back by a day before the start', async () => {
  const clock = manualClock()
  const behind = manualClock(clock.now() - 24 * 60 * MINUTE)
  await using receiver = startFailingReceiver()
  const prepare = async (first: World): Promise<void> => {
    await setWebhookUrl(first, receiver.url)
    await setRetryPolicy(first, 'standard')
    await first.control.injectSms({ text: 'from tomorrow' })
    await receiver.received(1)
    await attemptsEnded(first, clock)
  }
  await using _second = await restarted(clock, { work: true }, prepare, undefined, behind)
  await receiver.received(2)
})
