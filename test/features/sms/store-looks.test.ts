import { expect, test } from 'bun:test'
import { FROM, TO, createWorld } from '../../support/world.ts'

const MESSAGES = 30
/** Each attempt looks soon after it became unclear, and again at its settle time. */
const MAX_LOOKS = 8

test('attempts of one extension share their looks into the provider store, of which it allows few a minute', async () => {
  await using world = await createWorld({
    work: false,
    env: { RECONCILE_SETTLE: '300ms', RECONCILE_SETTLE_5XX: '300ms' },
  })
  world.control.fault({ route: 'sms', calls: MESSAGES, fault: { kind: 'accept-then-reset' } })
  const numbers = Array.from({ length: MESSAGES }, (_, number) => number)
  const messageIds = await Promise.all(
    numbers.map((number) => world.send({ from: FROM, to: TO, body: `Message ${number}` })),
  )
  world.running.work()
  for (const messageId of messageIds) expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  const looks = world.control
    .requests({ route: 'message-store' })
    .filter(({ path }) => path.includes('direction=Outbound'))
  expect(looks.length).toBeGreaterThan(0)
  expect(looks.length).toBeLessThanOrEqual(MAX_LOOKS)
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(MESSAGES)
})
