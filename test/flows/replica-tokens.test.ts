import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { callbackPath, open } from '../support/connect-flow.ts'
import { HeldReplica } from '../support/held-replica.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { temporaryFolder } from '../support/process.ts'
import { FROM, TO, type World, createWorld, recordedLog, until } from '../support/world.ts'

// DURABILITY=replica: no call of the provider uses a token pair that only this machine has. Its first use would invalidate the stored pair.

const HOUR_MS = 3_600_000
const PICTURE = { contentType: 'image/png', size: 3 }

/** A world whose access token has expired, with a picture: reading it is a call that commits nothing before. */
async function expiredWorld() {
  const replica = new HeldReplica()
  const clock = manualClock()
  const world = await createWorld({ replica, clock, work: false, outside: true })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Look', attachments: [PICTURE] })
  const messageId = await until(async () => {
    const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages')
    return body.messages[0]?.messageId
  })
  const { body } = await world.json<{ attachments: { attachmentId: string }[] }>(
    'GET',
    `/v1/sms/${messageId}/attachments`,
  )
  const picture = `/v1/sms/${messageId}/attachments/${body.attachments[0]?.attachmentId}`
  clock.advance(HOUR_MS)
  world.control.clearRequests()
  return { world, replica, clock, readPicture: async () => (await world.call('GET', picture)).status }
}

/** The provider answers the next refresh, and then the replica fails. `before` runs until the gateway has the answer. */
function failAtRefresh(
  { gateway }: World,
  replica: HeldReplica,
  before: () => Promise<unknown> = async () => {},
): void {
  const { provider } = gateway
  const { refresh } = provider
  provider.refresh = async (token) => {
    const result = await refresh(token)
    provider.refresh = refresh
    replica.failure = 'the bucket is gone'
    await before()
    return result
  }
}

/** After a commit that failed, nothing more is committed. */
const noticeFault = (world: World): Promise<Response> => world.call('POST', '/v1/rc/connect-token')

const calls = (world: World): (string | null)[] => world.control.requests().map(({ route }) => route)

/** How many pairs have been requested when this time has passed, planned requests included. */
async function refreshesUntil(world: World, clock: ManualClock, ms: number): Promise<number> {
  clock.advance(ms)
  await world.gateway.tokens.stop()
  return calls(world).filter((route) => route === 'token').length
}

async function recover({ gateway }: World, replica: HeldReplica): Promise<void> {
  replica.failure = null
  expect(await gateway.database.storage?.probeIfFailing()).toBe(false)
}

test('while the replica fails, no pair is requested that could not be stored', async () => {
  const { world, replica, readPicture } = await expiredWorld()
  await using _ = world
  replica.failure = 'the bucket is gone'
  expect((await noticeFault(world)).status).toBe(503)
  expect(await readPicture()).toBe(503)
  expect(calls(world)).toEqual([])
  await recover(world, replica)
  expect(await readPicture()).toBe(200)
})

test('a pair that is committed but not stored is used by no call, and is stored and used when the replica works again', async () => {
  const { world, replica, clock, readPicture } = await expiredWorld()
  await using _ = world
  failAtRefresh(world, replica)
  for (let times = 0; times < 3; times++) expect(await readPicture()).toBe(503)
  expect(calls(world)).toEqual(['token'])
  await recover(world, replica)
  expect(await readPicture()).toBe(200)
  expect(await refreshesUntil(world, clock, 120_000)).toBe(1)
})

test('a pair whose commit was refused is kept, and committed when the replica works again, without a request for it', async () => {
  const { world, replica, clock, readPicture } = await expiredWorld()
  await using _ = world
  failAtRefresh(world, replica, () => noticeFault(world))
  expect(await readPicture()).toBe(503)
  expect(calls(world)).toEqual(['token'])
  const fault = { kind: 'respond', status: 400, body: { error: 'invalid_grant' } } as const
  world.control.fault({ route: 'token', calls: null, fault })
  await recover(world, replica)
  expect(await readPicture()).toBe(200)
  expect(await refreshesUntil(world, clock, 120_000)).toBe(1)
})

test('a pair that is kept is committed when the replica works again, also if no call needs it', async () => {
  const { world, replica, clock, readPicture } = await expiredWorld()
  await using _ = world
  failAtRefresh(world, replica, () => noticeFault(world))
  expect(await readPicture()).toBe(503)
  await recover(world, replica)
  await until(async () => {
    clock.advance(1000)
    const { body } = await world.json<{ extensions: { accessExpiresAt: string }[] }>('GET', '/v1/rc/extensions/health')
    return Date.parse(body.extensions[0]?.accessExpiresAt ?? '') > clock.now()
  })
  expect(calls(world)).toEqual(['token'])
})

test('a machine that is lost before the new pair is stored can still refresh after the restore', async () => {
  const { world, replica, clock, readPicture } = await expiredWorld()
  await using _ = world
  using stored = temporaryFolder()
  await world.gateway.database.gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  cpSync(world.folder, stored.path, { recursive: true })
  failAtRefresh(world, replica)
  expect(await readPicture()).toBe(503)
  expect(await readPicture()).toBe(503)
  // The provider voids the old refresh token 10 s after the first use of the new access token.
  clock.advance(30_000)
  await using restored = await createWorld({
    clock,
    outside: true,
    connect: false,
    work: false,
    folder: stored.path,
    env: { RC_SERVER_URL: world.gateway.config.provider.serverUrl },
  })
  world.control.clearRequests()
  const key = { tenantId: world.tenantId, extensionId: world.control.extensions()[0]?.extensionId ?? '' }
  expect(await restored.gateway.numbers.read(key)).toMatchObject({ type: 'ok' })
  expect(calls(world)).toEqual(['token', 'phone-number'])
})

test('the first pair of an authorization is used by no call before it is stored', async () => {
  const replica = new HeldReplica()
  const clock = manualClock()
  const { log, lines } = recordedLog()
  await using world = await createWorld({ replica, clock, log, connect: false, work: false })
  const path = await callbackPath(world)
  const { getExtension } = world.gateway.provider
  world.gateway.provider.getExtension = async (token) => {
    const result = await getExtension(token)
    replica.failure = 'the bucket is gone'
    return result
  }
  expect((await open(world, path)).status).toBe(503)
  world.control.clearRequests()
  world.running.work()
  // Its back-fill, which reads before it commits, has tried.
  await until(() => lines.some((line) => line.includes('"back_fill"')))
  expect(calls(world)).toEqual([])
  await recover(world, replica)
  await until(() => {
    clock.advance(1000)
    return world.control.subscriptions().some(({ status }) => status === 'Active')
  })
  expect(await (await open(world, path)).text()).toContain('Already connected')
})
