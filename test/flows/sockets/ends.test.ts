import { expect, test } from 'bun:test'
import type { SocketFaultKind } from '../../../src/core/provider-changes.ts'
import { MINUTE, SECOND, SocketCase } from './socket-case.ts'

// What ends a socket, or leaves it open and dead. Whatever it is: no text is lost, none is stored twice, and people see it meanwhile.

interface End {
  kind: SocketFaultKind
  /** Within how much time of the clock the gateway notices it. */
  noticedMs: number
  /** Real time until a call counts as unanswered. */
  timeoutMs?: number
  reason: string
}

const ENDS: End[] = [
  { kind: 'close', noticedMs: 0, reason: '"code":1000,"reason":null' },
  { kind: 'cut', noticedMs: 0, reason: '"code":1006,"reason":null' },
  { kind: 'idle', noticedMs: 0, reason: '"reason":"WSG-902"' },
  { kind: 'absolute', noticedMs: 0, reason: '"reason":"WSG-903"' },
  { kind: 'silent', noticedMs: 75 * SECOND, timeoutMs: 400, reason: '"reason":"silent"' },
  { kind: 'no-json', noticedMs: 0, reason: '"reason":"unreadable frame"' },
  { kind: 'huge', noticedMs: 0, reason: '"reason":"unreadable frame"' },
  { kind: 'no-body', noticedMs: 0, reason: '"reason":"unreadable frame"' },
]

test.each(ENDS)(
  'a socket that ends by $kind is opened again',
  async ({ kind, noticedMs, timeoutMs, reason }) => {
    await using it = await SocketCase.open(timeoutMs === undefined ? {} : { timeoutMs })
    await it.text('a')
    await it.arrives('a')
    await it.run(31 * SECOND)
    it.control.faultSockets({ kind })
    await it.text('b')
    await it.noticed(noticedMs)
    const shown = await it.shown()
    expect(shown).toEqual({
      status: [0, 1],
      health: 'pending',
      reason: 'It has no active subscription, so its messages arrive up to a minute late',
      fix: 'This machine must be able to open wss:// connections to the provider; the gateway reopens a closed one.',
    })
    expect(await it.doctor()).toEndWith(` does not receive events. ${shown.reason}. ${shown.fix}`)
    expect(it.lines.filter((line) => line.includes('event socket has closed')).join()).toContain(reason)
    expect(await it.reopened(3 * SECOND)).toBeLessThanOrEqual(2 * SECOND)
    await it.arrives('b')
    await it.text('c')
    await it.arrives('c')
    expect(await it.bodies()).toEqual(['a', 'b', 'c'])
    expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active', reason: null })
    expect(await it.doctor()).toBe('ok: every active extension has one')
  },
  30_000,
)

test('a heartbeat of the provider changes nothing, and silence alone ends no socket', async () => {
  await using it = await SocketCase.open()
  it.control.faultSockets({ kind: 'heartbeat' })
  await it.run(9 * MINUTE)
  expect(it.lines.filter((line) => line.includes('event socket'))).toHaveLength(1)
  await it.text('still there')
  await it.arrives('still there')
}, 30_000)

test('sockets that die at once are opened after 1, 10, 20, 40, 80 and 120 s, until one has lived for 30 s', async () => {
  await using it = await SocketCase.open()
  it.world.control.setLimits({ enabled: true })
  await it.run(MINUTE)
  const pauses: number[] = []
  for (let end = 0; end < 7; end++) {
    it.control.faultSockets({ kind: 'cut' })
    await it.noticed()
    pauses.push(await it.reopened(3 * MINUTE))
  }
  const expected = [1, 10, 20, 40, 80, 120, 120]
  for (const [index, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual((expected[index] ?? 0) * SECOND)
    expect(pause).toBeLessThanOrEqual((expected[index] ?? 0) * SECOND + 2 * SECOND)
  }
  await it.run(31 * SECOND)
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  expect(await it.reopened(3 * SECOND)).toBeLessThanOrEqual(2 * SECOND)
  expect(it.control.requests({ route: 'wstoken' }).filter(({ status }) => status === 429)).toEqual([])
}, 60_000)
