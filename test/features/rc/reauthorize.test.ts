import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { createWorld, until } from '../../support/world.ts'

test('a lookup that waited for the authorization of its extension goes on as soon as it is given', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  // The message was sent, and nobody heard of it.
  world.control.fault({ route: 'sms', calls: 1, fault: { kind: 'accept-then-respond', status: 500 } })
  const id = await world.send({ body: 'once' })
  const { gate } = world.gateway.database
  const lookup = async (): Promise<number> => {
    const { rows } = await gate.execute(`SELECT due_at FROM jobs WHERE kind = 'lookup'`)
    return Number(rows[0]?.['due_at'] ?? 0)
  }
  await until(async () => (await lookup()) > 0)
  const first = await lookup()
  world.control.revokeTokens({ extensionId })
  clock.advance(first - clock.steady())
  await until(async () => (await lookup()) > first)
  expect((await world.status(id))['status']).toBe('sending')
  await world.connect({ extensionId })
  await world.untilStatus(id, ['sent'])
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(1)
})
