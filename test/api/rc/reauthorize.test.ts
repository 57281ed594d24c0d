import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { isSnoozed, untilSnoozed } from '../../support/snoozed.ts'
import { createWorld, until } from '../../support/world.ts'

test('a lookup that waits for the authorization of its extension runs as soon as the extension is authorized', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  // The provider sends the message and answers 500.
  world.control.fault({ route: 'sms', calls: 1, fault: { kind: 'accept-then-respond', status: 500 } })
  const id = await world.send({ body: 'once' })
  await untilSnoozed(world, 'lookup')
  world.control.revokeTokens({ extensionId })
  const isRevoked = async (): Promise<boolean> => {
    // Time stands still while the lookup runs: on a busy machine its calls would time out again and again.
    if (await isSnoozed(world, 'lookup')) clock.advance(500)
    const { rows } = await world.gateway.database.gate.execute(`SELECT 1 FROM extensions WHERE status = 'revoked'`)
    return rows.length > 0
  }
  await until(isRevoked)
  await untilSnoozed(world, 'lookup')
  expect((await world.status(id))['status']).toBe('sending')
  await world.connect({ extensionId })
  await world.untilStatus(id, ['sent'])
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(1)
})
