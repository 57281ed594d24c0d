import { expect, test } from 'bun:test'
import { sentTexts } from '../../support/backup-loss.ts'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// Messages that wait in a database while another gateway may have sent them. It needs Litestream 0.5.18.

const TEXTS = ['one', 'two', 'three', 'four']
const ALONE = { STANDBY: 'off', DURABILITY: 'disk' }
/** Nobody answers there. */
const WITHOUT_STORAGE = { ...ALONE, LITESTREAM_ENDPOINT: 'http://127.0.0.1:9' }
const LOOKS_UP = 'another gateway may have sent messages that wait here'
const SENT_MS = 60_000

/** The machine holds the lease, and has accepted and stored texts that RingCentral does not take yet. */
async function holderWithTexts(gateways: Gateways, one: MachineOfGateway): Promise<void> {
  await one.startUntil('ready')
  await one.connect()
  const fault = { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } }
  await gateways.deployment.simulator.control('fault', { route: 'sms', calls: null, fault })
  await one.send(...TEXTS)
}

async function untilSent(machine: MachineOfGateway): Promise<void> {
  const waits = async (): Promise<unknown[]> => {
    const answer = await machine.call('/v1/sms/messages?direction=outbound&state=waiting')
    return ((await answer.json()) as { messages: unknown[] }).messages
  }
  await until(async () => (await waits()).length === 0, SENT_MS).catch((error: unknown) => {
    throw new Error(`${machine.name} does not send: ${machine.output()}`, { cause: error })
  })
}

const sent = async ({ deployment }: Gateways): Promise<string[]> => (await sentTexts(deployment)).toSorted()

if (HAS_LITESTREAM) {
  /** How the lease was left. A minute and more passes before another gateway takes it. */
  const LEFT: Readonly<Record<string, (gateways: Gateways, one: MachineOfGateway) => Promise<void>>> = {
    'the holder was killed': async (gateways, one) => {
      await one.kill()
      gateways.leaseWrittenAt(Date.now() - 65_000)
    },
    'the holder stopped while they waited': async (gateways, one) => {
      await one.stop()
      expect(gateways.lease.holder).toBe('')
      gateways.leaseWrittenAt(Date.now() - 65_000)
    },
    'the storage does not say when the lease was written': async (gateways, one) => {
      await one.kill()
      gateways.leaseWrittenAt(Number.NaN)
    },
    'the lease was deleted': async (gateways, one) => {
      await one.kill()
      gateways.stub.bucket.delete('sgw/lease.json')
    },
  }

  for (const [how, leave] of Object.entries(LEFT))
    test(`what a machine sent alone is not sent again from the copy: ${how}`, async () => {
      await using gateways = await Gateways.create()
      const [one, two] = [gateways.machine('one'), gateways.machine('two')]
      await holderWithTexts(gateways, one)
      await leave(gateways, one)
      await gateways.deployment.simulator.control('clearFaults')
      await one.json('lease', 'abandon', '--yes')
      await one.startUntil('ready', WITHOUT_STORAGE)
      await untilSent(one)
      await one.kill()

      await two.startUntil('ready')
      await two.send('after')
      await untilSent(two)
      expect(await sent(gateways)).toEqual([...TEXTS, 'after'].toSorted())
      expect(two.output()).toContain(LOOKS_UP)
    }, 240_000)

  test('a gateway that dies before its first copy leaves it to the next one to look up what waits', async () => {
    await using gateways = await Gateways.create()
    const [one, two, three] = [gateways.machine('one'), gateways.machine('two'), gateways.machine('three')]
    await holderWithTexts(gateways, one)
    await one.kill()
    gateways.leaseWrittenAt(Date.now() - 65_000)
    await gateways.deployment.simulator.control('clearFaults')
    await one.json('lease', 'abandon', '--yes')
    await one.startUntil('ready', WITHOUT_STORAGE)
    await untilSent(one)
    await one.kill()

    gateways.stub.refuses = ({ method, url }) => method === 'PUT' && url.includes('/sgw/e2/')
    two.start()
    await until(() => two.output().includes('making the first copy'), 30_000)
    await two.kill()
    await three.startUntil('ready')
    await untilSent(three)
    expect(gateways.lease.epoch).toBe(3)
    expect(await sent(gateways)).toEqual(TEXTS.toSorted())
  }, 240_000)

  /** The settings with which a machine continues alone. */
  const LONE = {
    'the storage is away': WITHOUT_STORAGE,
    'there is no backup any more': { ...ALONE, LITESTREAM_REPLICA_URL: '' },
  }

  for (const [how, settings] of Object.entries(LONE))
    test(`what a healthy takeover has sent at once is not sent again by a machine that goes on alone: ${how}`, async () => {
      await using gateways = await Gateways.create()
      const [one, two] = [gateways.machine('one'), gateways.machine('two')]
      await holderWithTexts(gateways, one)
      await two.startUntil('standby')
      await one.kill()
      await gateways.deployment.simulator.control('clearFaults')
      await two.untilState('ready')
      await untilSent(two)
      expect(two.output()).not.toContain(LOOKS_UP)
      await two.stop()

      await one.json('lease', 'abandon', '--yes')
      await one.startUntil('ready', settings)
      await untilSent(one)
      await one.send('after')
      await untilSent(one)
      expect(await sent(gateways)).toEqual([...TEXTS, 'after'].toSorted())
      // It has left the lease, and knows what it has sent since.
      await one.stop()
      await one.startUntil('ready', settings)
      expect(one.output()).not.toContain(LOOKS_UP)
    }, 240_000)
}
