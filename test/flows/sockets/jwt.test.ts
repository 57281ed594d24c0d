import { expect, test } from 'bun:test'
import { connectJwt } from '../../../src/operator/connect-jwt.ts'
import { until } from '../../support/world.ts'
import { MINUTE, SECOND, SocketCase } from './socket-case.ts'

// A JWT opens another session whenever one is lost or ends. The socket goes along.

async function openWithJwt(issueRefreshTokens: boolean): Promise<SocketCase> {
  const it = await SocketCase.open({ connect: false })
  it.control.configure({ issueRefreshTokens })
  const extensionId = it.control.extensions()[0]?.extensionId ?? ''
  const { jwt } = it.control.addJwt({ extensionId })
  const connected = await connectJwt(it.world.gateway, { tenantId: it.world.tenantId, jwt }, 'req_test')
  expect(connected).toMatchObject({ extensionId, receiving: true, fixes: [] })
  await until(async () => (await it.shown()).health === 'active')
  return it
}

test('without refresh tokens a session an hour is opened, and the socket follows before its own one ends', async () => {
  await using it = await openWithJwt(false)
  for (let hour = 0; hour < 6; hour++) {
    await it.run(61 * MINUTE)
    await it.text(`hour ${hour}`)
    await it.arrives(`hour ${hour}`)
  }
  expect(it.lines.filter((line) => line.includes('event socket has closed'))).toEqual([])
  expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active', reason: null })
  await until(() => it.sockets() === 1)
}, 60_000)

test('a session that ends behind an open socket is replaced within ten minutes, without a person', async () => {
  await using it = await openWithJwt(true)
  await it.run(31 * SECOND)
  it.control.revokeTokens({ extensionId: it.control.extensions()[0]?.extensionId ?? '' })
  await it.text('unheard')
  await it.pass(10 * MINUTE + 5 * SECOND, async () => (await it.bodies()).includes('unheard'))
  await until(() => it.sockets() === 1)
  await it.text('heard')
  await it.arrives('heard')
  expect(await it.bodies()).toEqual(['heard', 'unheard'])
  expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active', reason: null })
}, 30_000)

test('a second tenant of a user whose logins of a minute are used up reads so, and its events begin by themselves', async () => {
  await using it = await openWithJwt(true)
  const { gateway, key } = it.world
  const extensionId = it.control.extensions()[0]?.extensionId ?? ''
  const other = await it.world.otherTenant()
  const { jwt } = it.control.addJwt({ extensionId })
  const connected = await connectJwt(gateway, { tenantId: other.tenantId, jwt }, 'req_test')
  const [fix = 'no sentence'] = connected.fixes
  const [, seconds] = LOGINS_USED_UP.exec(fix) ?? []
  expect({ ...connected, seconds: Number(seconds) > 0 }).toMatchObject({
    receiving: false,
    fixes: [fix],
    seconds: true,
  })
  const healthOf = async (apiKey: string) => {
    const { body } = await it.world.json<{ extensions: Record<string, unknown>[] }>('GET', '/v1/rc/extensions/health', {
      key: apiKey,
    })
    return body.extensions[0]
  }
  expect(await healthOf(other.apiKey)).toMatchObject({
    reason: 'Its events have not begun yet, so its messages arrive up to a minute late',
    fix,
    subscription: { status: 'pending' },
  })
  expect(await healthOf(key)).toMatchObject({ reason: null, fix: null })
  expect(await it.doctor()).toContain(fix)
  // As long as the sentence says, and the opening itself.
  await it.pass((Number(seconds) + 1) * SECOND, async () => (await healthOf(other.apiKey))?.['reason'] === null)
  expect(await it.shown()).toMatchObject({ status: [2, 0], reason: null })
}, 30_000)

const LOGINS_USED_UP =
  /^RingCentral allows a user five logins a minute: its events start without your help within (\d+) s\.$/
