import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// Webhooks of a holder that dies during their POSTs. It needs Litestream 0.5.18.

/** At most four POSTs of an app are under way at once. */
const UNDER_WAY = 4

interface Interrupted {
  interruptedWebhooks: { count: number; since: string } | null
}

const interrupted = async (machine: MachineOfGateway): Promise<Interrupted['interruptedWebhooks']> =>
  (await machine.json<Interrupted>('status')).interruptedWebhooks

if (HAS_LITESTREAM)
  test('after kill -9 of a holder the next one says how many webhooks were never posted, and a recovery posts just these', async () => {
    await using receiver = startReceiver()
    await using alerts = startReceiver()
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const { appId } = (await (await one.call('/v1/me')).json()) as { appId: string }
    await one.json('app', 'update', appId, '--webhook-url', receiver.url)
    const events = JSON.stringify({ events: ['sms_status'] })
    const asked = await one.call(`/v1/apps/${appId}/webhook-events`, { method: 'PUT', body: events })
    expect(asked.status).toBe(200)
    receiver.answer = () => new Promise(() => {})
    const ids = await one.send('one', 'two', 'three', 'four')
    await receiver.received(UNDER_WAY, 10_000)
    await two.startUntil('standby', { ALERT_URL: alerts.url })
    await one.kill()
    receiver.answer = () => new Response('ok')
    await two.untilState('ready')

    const found = await interrupted(two)
    expect(found).toEqual({ count: UNDER_WAY, since: expect.stringMatching(/^20\S+Z$/) })
    const told = () => alerts.requests.map(({ body }) => body).filter(({ alert }) => alert === 'webhooks_interrupted')
    await until(() => told().length > 0, 20_000)
    expect(told()).toMatchObject([{ state: 'firing', since: found?.since, detail: { webhooks: UNDER_WAY } }])
    expect(await two.json('webhooks', 'recover', '--since', found?.since ?? '')).toEqual({ scheduled: UNDER_WAY })
    await until(() => receiver.requests.length === 2 * UNDER_WAY, 10_000)
    const posted = receiver.requests.slice(UNDER_WAY).map(({ body }) => String(body['messageId']))
    expect(posted.toSorted()).toEqual(ids.toSorted())
    expect(await interrupted(two)).toBeNull()
    await until(() => told().length > 1, 20_000)
    expect(told().map(({ state }) => state)).toEqual(['firing', 'resolved'])
  }, 180_000)
