import { expect, test } from 'bun:test'
import { readStatus } from '../../../src/operator/status.ts'
import { TortureStage } from '../../../bench/torture/stage.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts } from '../../support/provider-events.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createWorld, recordedLog, until } from '../../support/world.ts'

const INTERRUPTED = {
  outcome: 'network_error',
  errorClass: 'Interrupted',
  errorMessage: 'The request was interrupted; it may have arrived',
  attemptNumber: 1,
}

test('an attempt is stored before the destination is dialled, and listed when it has ended', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const { gate } = world.gateway.database
  const seen: unknown[] = []
  receiver.answer = async () => {
    const { rows } = await gate.execute('SELECT outcome FROM webhook_attempts')
    seen.push(...rows.map((row) => row['outcome']), (await attempts(world)).length)
    return new Response('ok')
  }
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  await world.control.injectSms({ text: 'hello' })
  await until(async () => (await attempts(world)).length === 1)
  expect(seen).toEqual([null, 0])
})

test('after kill -9 during POSTs, begun attempts are Interrupted and never repeated, and waiting deliveries are sent', async () => {
  await using receiver = startReceiver()
  receiver.answer = () => new Promise(() => {})
  await using stage = await TortureStage.open({ extensions: 1, numbersPerExtension: 1, webhookUrl: receiver.url })
  const inject = (text: string): Promise<unknown> => stage.control.injectSms({ text })
  for (let index = 0; index < 6; index++) await inject(`before ${index}`)
  // Four POSTs of an app run at once, and two wait.
  await receiver.received(4)
  await stage.gateway.kill()
  receiver.answer = () => new Response('ok')
  await stage.gateway.start()
  await inject('after')
  await receiver.received(7, 10_000)
  await stage.drained()

  const { attempts: log } = (await (await stage.call('GET', '/v1/webhook-deliveries')).json()) as {
    attempts: Record<string, unknown>[]
  }
  expect(log).toHaveLength(7)
  const begun = new Set(receiver.requests.slice(0, 4).map((request) => request.headers['webhook-id']))
  for (const attempt of log) {
    expect(attempt).toMatchObject(
      begun.has(String(attempt['deliveryId'])) ? INTERRUPTED : { outcome: 'success', statusCode: 200 },
    )
    expect(Object.keys(attempt)).not.toContain('responseSnippet')
  }
  expect(receiver.requests).toHaveLength(7)
  expect(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size).toBe(7)
})

test('an attempt whose outcome could not be stored becomes Interrupted, and its POST is not repeated', async () => {
  await using receiver = startReceiver()
  const { log: recorder, lines } = recordedLog()
  const clock = manualClock()
  await using world = await createWorld({ clock, log: recorder })
  const { gate } = world.gateway.database
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  receiver.answer = async () => {
    await gate.execute(
      "CREATE TRIGGER broken BEFORE UPDATE OF outcome ON webhook_attempts BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    return new Response('ok')
  }
  await world.control.injectSms({ text: 'hello' })
  await receiver.received(1)
  await until(() => lines.some((line) => line.includes('job failed')))
  await gate.execute('DROP TRIGGER broken')
  const log = await until(async () => {
    clock.advance(100)
    const found = await attempts(world)
    return found.length === 1 ? found : null
  })
  expect(log).toMatchObject([INTERRUPTED])
  expect((await readStatus(world.gateway)).interruptedWebhooks?.count).toBe(1)
  expect(receiver.requests).toHaveLength(1)
})
