import { expect, test } from 'bun:test'
import { HAS_LITESTREAM } from '../../support/litestream.ts'
import { sentTwice } from '../../support/backup-loss.ts'
import { until } from '../../support/world.ts'
import { Gateways, type MachineOfGateway } from './gateways.ts'

// Two machines whose databases went on from one another without each other. It needs Litestream 0.5.18.

/** Nobody answers there. */
const WITHOUT_STORAGE = { STANDBY: 'off', DURABILITY: 'disk', LITESTREAM_ENDPOINT: 'http://127.0.0.1:9' }

const texts = (label: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${label} ${at}`)

/**
 * The first machine continues without the storage, which comes back; then the second one takes over from the storage. Returns what each has
 * accepted alone.
 */
async function fork([one, two]: readonly [MachineOfGateway, MachineOfGateway], counts: { one: number; two: number }) {
  await one.startUntil('ready')
  await one.connect()
  const both = await one.send(...texts('both', 3))
  await one.stop()
  await one.json('lease', 'abandon', '--yes')
  await one.startUntil('ready', WITHOUT_STORAGE)
  const ofOne = await one.send(...texts('one', counts.one))
  await one.kill()
  await two.startUntil('ready')
  const ofTwo = await two.send(...texts('two', counts.two))
  await two.stop()
  return { both, ofOne, ofTwo }
}

async function untilDrained(machine: MachineOfGateway): Promise<void> {
  const waits = async (): Promise<unknown[]> => {
    const answer = await machine.call('/v1/sms/messages?direction=outbound&state=waiting')
    return ((await answer.json()) as { messages: unknown[] }).messages
  }
  await until(async () => (await waits()).length === 0, 40_000)
}

interface Choice {
  chosen: string
  kept: string
  messages: { messageId: string; to: string; createdAt: string; status: string }[]
}

if (HAS_LITESTREAM) {
  for (const counts of [
    { one: 9, two: 2 },
    { one: 2, two: 9 },
  ])
    for (const side of ['local', 'copy'] as const)
      test(`of ${counts.one} messages on one machine and ${counts.two} on the other none is given up before a person has chosen: ${side}`, async () => {
        await using gateways = await Gateways.create()
        const [one, two] = [gateways.machine('one'), gateways.machine('two')]
        const { both, ofOne, ofTwo } = await fork([one, two], counts)
        const refused = await one.enter()
        expect([refused.code, refused.stderr]).toEqual([
          78,
          expect.stringContaining('each have changes that the other lacks'),
        ])
        expect(refused.stderr).toMatch(
          /sgw\.db \(last message 20\S+Z\) and the copy at s3:\S+ \S+ \(last message 20\S+Z\)/,
        )

        const choice = await one.json<Choice>('restore', '--choose', side)
        const [kept, given] = side === 'local' ? [ofOne, ofTwo] : [ofTwo, ofOne]
        expect(choice.messages.map(({ messageId }) => messageId)).toEqual(given)
        expect(choice).toMatchObject({ chosen: side, kept: expect.stringContaining('sgw.db.not-chosen') })
        await one.startUntil('ready')
        expect([await one.missing([...both, ...kept]), await one.missing(given)]).toEqual([0, given.length])
        const after = await one.send('after')
        await one.stop()
        // The other machine has the abandoned history, or the start of the continued one.
        await two.startUntil('ready')
        expect(await two.missing([...both, ...kept, ...after])).toBe(0)
      }, 180_000)

  test('two histories are found while the holder is healthy: on the standby that has one of them, and on the holder', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    const { ofTwo } = await fork([one, two], { one: 2, two: 2 })
    await two.startUntil('ready')
    await one.startUntil('standby')
    const says = async (machine: MachineOfGateway, check: string): Promise<boolean> =>
      new RegExp(`"check":"${check}","ok":false[^}]*each have changes that the other lacks`).test(
        (await machine.sgw('doctor')).stdout,
      )
    await until(() => says(one, 'same configuration'), 40_000)
    // It reads each minute what standbys say.
    await until(() => says(two, 'standby'), 100_000)
    expect([await one.state(), await two.state(), await two.missing(ofTwo)]).toEqual(['standby', 'ready', 0])
  }, 240_000)

  test('what was accepted without STANDBY lies at the location itself, and is not given up for an older epoch', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const before = await one.send(...texts('with', 2))
    await one.stop()
    await one.startUntil('ready', { STANDBY: 'off', DURABILITY: 'disk' })
    const alone = await one.send(...texts('without', 7))
    await one.stop()
    await two.startUntil('ready')
    expect(await two.missing([...before, ...alone])).toBe(0)
    await untilDrained(two)
    const after = await two.send('after')
    await two.stop()
    // Now the location itself has less than the newest epoch.
    await one.startUntil('ready')
    expect(await one.missing([...before, ...alone, ...after])).toBe(0)
    await untilDrained(one)
    expect(await sentTwice(gateways.deployment)).toEqual([])
  }, 180_000)

  test('a moment that was restored is no part of the newest copy: its start names the choice, and goes on from there after it', async () => {
    await using gateways = await Gateways.create()
    const [one, two] = [gateways.machine('one'), gateways.machine('two')]
    await one.startUntil('ready')
    await one.connect()
    const early = await one.send('early')
    await Bun.sleep(1500)
    const moment = new Date().toISOString()
    await Bun.sleep(1500)
    const late = await one.send('late')
    await one.stop()
    await two.json('restore', '--timestamp', moment)
    const refused = await two.enter()
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringContaining('sgw restore --choose local')])
    await two.json('restore', '--choose', 'local')
    await two.startUntil('ready')
    expect([await two.missing(early), await two.missing(late)]).toEqual([0, 1])
    await two.stop()
    await one.startUntil('ready')
    expect([await one.missing(early), await one.missing(late)]).toEqual([0, 1])
  }, 180_000)
}
