import { expect, test } from 'bun:test'
import { eventually } from '../../bench/torture/program.ts'
import { TortureStage } from '../../bench/torture/stage.ts'
import type { Fault } from '../../src/simulator/faults.ts'
import { TO } from '../support/world.ts'

const TIMEOUT_MS = 60_000
/** Far beyond `PROVIDER_TIMEOUT` of 1 s. */
const PAUSE_MS = 2500
/** By then the request has arrived and is not answered. */
const UNDER_WAY_MS = 100

const CALLS: [name: string, fault: Fault, requests: number][] = [
  ['the provider accepted the message and answered meanwhile', { kind: 'delay', ms: 800 }, 1],
  ['the provider accepted the message and its answer was lost', { kind: 'accept-then-hang', ms: 1500 }, 1],
  ['the provider never accepted the message', { kind: 'hang', ms: 1500 }, 2],
]

test.concurrent.each(CALLS)(
  'a process that is paused during a call does not send twice: %s',
  async (_name, fault, requests) => {
    await using stage = await TortureStage.open({
      extensions: 1,
      env: { PROVIDER_TIMEOUT: '1s', RECONCILE_SETTLE: '1s' },
    })
    const { control, gateway, numbers } = stage
    await control.fault({ route: 'sms', fault })
    const response = await stage.call('POST', '/v1/sms/send', { from: numbers[0], to: TO, body: 'Hello' })
    const { messageId } = (await response.json()) as { messageId: string }
    const until = (wanted: string): Promise<true> =>
      eventually(`Status ${wanted}`, 20_000, async () => {
        const { status } = (await (await stage.call('GET', `/v1/sms/status/${messageId}`)).json()) as { status: string }
        return status === wanted ? true : null
      })
    await until('sending')
    await Bun.sleep(UNDER_WAY_MS)
    gateway.signal('SIGSTOP')
    await Bun.sleep(PAUSE_MS)
    gateway.signal('SIGCONT')
    await until('sent')
    expect(await control.messages({ direction: 'Outbound' })).toHaveLength(1)
    expect((await control.counters()).requests['sms']).toBe(requests)
  },
  TIMEOUT_MS,
)
