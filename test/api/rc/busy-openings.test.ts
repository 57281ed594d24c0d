import { expect, test } from 'bun:test'
import { operate } from '../../support/operator.ts'
import { createWorld, until } from '../../support/world.ts'

const WAITING = 120

test('a connection and a disconnection do not wait for the sockets of all other extensions', async () => {
  await using world = await createWorld({
    outside: true,
    connect: false,
    env: { RC_EVENTS: 'websocket', PROVIDER_TIMEOUT: '1s' },
  })
  const { control, tenantId } = world
  control.setLimits({ enabled: false })
  const jwts = Array.from({ length: WAITING + 1 }, (_, index) => {
    const number = `+1555556${String(1000 + index)}`
    const { extensionId } = control.addExtension({ name: `Extension ${index}`, numbers: [number] })
    return { extensionId, jwt: control.addJwt({ extensionId }).jwt }
  })
  const [last, ...others] = jwts.toReversed()
  // A firewall that drops wss:// connections.
  control.faultSockets({ kind: 'hang', calls: null })
  const connect = (jwt: string) => operate(world, 'POST', '/v1/operator/extensions', { tenantId, jwt })
  const connecting = Promise.all(others.map(({ jwt }) => connect(jwt)))
  await until(() => control.requests({ route: 'wstoken' }).length > 0)

  expect(await connect(last?.jwt ?? '')).toMatchObject({ status: 200, body: { receiving: false } })
  const ended = await world.call('DELETE', `/v1/rc/extensions/${last?.extensionId}`)
  expect(ended.status).toBe(200)
  // The others still wait for their turn.
  expect(control.requests({ route: 'wstoken' }).length).toBeLessThan(WAITING)
  await connecting
}, 60_000)
