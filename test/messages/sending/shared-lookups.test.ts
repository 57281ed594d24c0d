import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world.ts'

const MESSAGES = 30
/** The store is listed soon after attempts become unknown, and again after the settle time. */
const MAX_LOOKUPS = 8

test('attempts of one extension share lookups, because the provider allows few of them per minute', async () => {
  await using world = await createWorld({
    work: false,
    env: { RECONCILE_SETTLE: '300ms', RECONCILE_SETTLE_5XX: '300ms' },
  })
  world.control.fault({ route: 'sms', calls: MESSAGES, fault: { kind: 'accept-then-reset' } })
  const messageIds = await Promise.all(
    Array.from({ length: MESSAGES }, (_, n) => world.send({ to: `+1555777${1000 + n}`, body: `Message ${n}` })),
  )
  world.running.work()
  for (const messageId of messageIds) expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  const lookups = world.control
    .requests({ route: 'message-store' })
    .filter(({ path }) => path.includes('direction=Outbound'))
  expect(lookups.length).toBeGreaterThan(0)
  expect(lookups.length).toBeLessThanOrEqual(MAX_LOOKUPS)
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(MESSAGES)
})
