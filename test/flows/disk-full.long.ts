import { expect, test } from 'bun:test'
import { eventually } from '../../bench/torture/program.ts'
import { TortureStage } from '../../bench/torture/stage.ts'
import { FROM, TO, createWorld } from '../support/world.ts'

const TIMEOUT_MS = 60_000

/** Makes writes of the process beyond `bytes` of a file fail, as on a full disk. Null removes the limit. */
function limitFiles(pid: number, bytes: number | null): void {
  const limited = Bun.spawnSync(['prlimit', '--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`])
  if (!limited.success) throw new Error(limited.stderr.toString())
}

test(
  'a process that cannot write answers no false 202, makes no call without a committed attempt, and recovers by itself',
  async () => {
    await using stage = await TortureStage.open({ extensions: 1 })
    const { control, gateway, numbers } = stage
    const pid = gateway.pid ?? 0
    let recipients = 1000
    const send = (body: string): Promise<Response> =>
      stage.call('POST', '/v1/sms/send', { from: numbers[0], to: `+1555777${recipients++}`, body })
    const accepted = async (body: string): Promise<string> =>
      ((await (await send(body)).json()) as { messageId: string }).messageId
    const status = async (id: string): Promise<unknown> =>
      ((await (await stage.call('GET', `/v1/sms/status/${id}`)).json()) as { status: string }).status

    // One call is under way and another message waits for a pause of its extension when writes begin to fail.
    await control.fault({ route: 'sms', fault: { kind: 'delay', ms: 1000 } })
    await control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } })
    const underWay = await accepted('Under way')
    await eventually('The first call', 5000, async () => ((await control.counters()).smsAccepted === 1 ? true : null))
    const repeated = await accepted('Repeated')
    await eventually('The second call', 5000, async () =>
      (await control.counters()).answers['429'] === 1 ? true : null,
    )
    limitFiles(pid, 0)
    const refused = await Promise.all(Array.from({ length: 20 }, (_, number) => send(`Refused ${number}`)))
    await Bun.sleep(2500)
    const again = await send('Refused 20')
    expect([...refused, again].map((response) => response.status)).toEqual(Array.from({ length: 21 }, () => 503))
    expect(await again.json()).toEqual({ error: 'Storage unavailable' })
    expect(await status(underWay)).toBe('sending')
    expect((await control.counters()).requests['sms']).toBe(2)

    limitFiles(pid, null)
    await eventually('The result', 10_000, async () => ((await status(underWay)) === 'sent' ? true : null))
    await eventually('The repetition', 10_000, async () => ((await status(repeated)) === 'sent' ? true : null))
    const after = await accepted('After')
    await eventually('The next message', 5000, async () => ((await status(after)) === 'sent' ? true : null))
    expect(gateway.pid).toBe(pid)
    const texts = (await control.messages({ direction: 'Outbound' })).map(({ text }) => text)
    expect(texts.toSorted()).toEqual(['After', 'Repeated', 'Under way'])
    expect((await gateway.terminate()).code).toBe(0)
  },
  TIMEOUT_MS,
)

test(
  'with a database that cannot grow, accepted messages are stored and sent once, and refused ones are not stored',
  async () => {
    await using world = await createWorld({ work: false })
    const { gate } = world.gateway.database
    const limit = async (pages: number): Promise<void> => void (await gate.execute(`PRAGMA max_page_count = ${pages}`))
    await limit(1)
    const accepted: string[] = []
    let refusals = 0
    for (let number = 0; refusals < 5; number++) {
      const response = await world.call('POST', '/v1/sms/send', {
        body: { from: FROM, to: TO, body: `${number} ${'x'.repeat(900)}` },
      })
      const answer = (await response.json()) as { messageId: string }
      if (response.status === 202) accepted.push(answer.messageId)
      else refusals++
      expect([202, 503]).toContain(response.status)
    }
    const stored = await gate.execute(`SELECT id FROM messages ORDER BY seq`)
    expect(stored.rows.map((row) => row['id'])).toEqual(accepted)

    await limit(1_000_000)
    accepted.push(await world.send({ body: 'After' }))
    world.running.work()
    for (const messageId of accepted)
      expect((await world.untilStatus(messageId, ['sent', 'failed'], 20_000))['status']).toBe('sent')
    expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(accepted.length)
  },
  TIMEOUT_MS,
)
