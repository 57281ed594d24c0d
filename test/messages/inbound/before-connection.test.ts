import { expect, test } from 'bun:test'
import { copyFileSync, rmSync } from 'node:fs'
import { disconnectExtension } from '../../../src/api/rc/disconnect.ts'
import { backFill } from '../../../src/messages/inbound/back-fill.ts'
import { connectJwt } from '../../../src/operator/connect-jwt.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { restarted } from '../../support/restarted.ts'
import { type World, createWorld } from '../../support/world.ts'

const MINUTE_MS = 60_000
const SENDER = '+15558880001'

/** A world whose first tenant has been connected for an hour, and whose clock only the test moves. No event arrives: only back-fills bring texts. */
async function open() {
  const clock = manualClock()
  const world = await createWorld({ clock, work: false })
  clock.advance(60 * MINUTE_MS)
  return { world, clock }
}

/** A text that reaches RingCentral now, and a minute that passes. */
async function text(world: World, clock: ManualClock, body: string): Promise<void> {
  await world.control.injectSms({ from: SENDER, text: body, deliver: false })
  clock.advance(MINUTE_MS)
}

/** Back-fills the extension of the tenant as the timers do: at once, and again a minute later. Returns all texts that the tenant has. */
async function textsOf({ gateway }: World, clock: ManualClock, tenantId: string): Promise<unknown[]> {
  for (let times = 0; times < 2; times++) {
    const [row] = (await gateway.directory.tenant(tenantId)).extensions.values()
    if (row === undefined) throw new Error('No extension is connected')
    expect(await backFill(gateway, row)).not.toBeNull()
    clock.advance(MINUTE_MS)
  }
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT body FROM messages WHERE tenant_id = ?1 AND direction = 'inbound' ORDER BY seq`,
    args: [tenantId],
  })
  return rows.map(({ body }) => body)
}

for (const how of ['link', 'JWT'] as const)
  test(`a second tenant that connects the same extension with a ${how} gets no text from before, and every one from then on`, async () => {
    const { world, clock } = await open()
    await using _ = world
    const { extensionId = '' } = world.control.extensions()[0] ?? {}
    const { tenantId } = await world.otherTenant()
    await text(world, clock, 'before')
    if (how === 'link') expect((await world.connect({ tenantId, extensionId })).status).toBe(200)
    else await connectJwt(world.gateway, { tenantId, jwt: world.control.addJwt({ extensionId }).jwt }, 'req')
    await text(world, clock, 'after')
    expect(await textsOf(world, clock, tenantId)).toEqual(['after'])
    expect(await textsOf(world, clock, world.tenantId)).toEqual(['before', 'after'])
  })

test('another authorization fetches what came meanwhile, however often, and nothing from before the first one', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, work: false, connect: false })
  await text(world, clock, 'before')
  await world.connect()
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  const key = { tenantId: world.tenantId, extensionId }
  await text(world, clock, 'connected')
  for (const body of ['revoked', 'revoked again']) {
    world.control.revokeTokens({ extensionId })
    await world.gateway.tokens.refresh(key)
    expect((await world.gateway.directory.extension(key.tenantId, extensionId))?.status).toBe('revoked')
    await text(world, clock, body)
    await world.connect()
  }
  expect(await textsOf(world, clock, world.tenantId)).toEqual(['connected', 'revoked', 'revoked again'])
})

test('a gateway restored from a copy fetches what came since the copy, and nothing from before the first connection', async () => {
  const clock = manualClock()
  const first = await createWorld({ clock, work: false, connect: false, outside: true })
  const { folder, tenantId } = first
  await text(first, clock, 'before')
  await first.connect()
  await text(first, clock, 'connected')
  await first.gateway.database.gate.execute({ sql: 'VACUUM INTO ?1', args: [`${folder}/copy.db`] })
  await text(first, clock, 'after the copy')
  expect(await textsOf(first, clock, tenantId)).toEqual(['connected', 'after the copy'])
  await using restored = await restarted(first, clock, () => {
    for (const end of ['', '-wal', '-shm', '.mark']) rmSync(`${folder}/sgw.db${end}`, { force: true })
    copyFileSync(`${folder}/copy.db`, `${folder}/sgw.db`)
  })
  await text(restored, clock, 'restored')
  expect(await textsOf(restored, clock, tenantId)).toEqual(['connected', 'after the copy', 'restored'])
})

for (const aheadMs of [-4 * MINUTE_MS, -20_000, 20_000, 4 * MINUTE_MS])
  test(`the first connection counts by RingCentral's clock, also if this machine's is ${aheadMs / 1000} s ahead of it`, async () => {
    const theirs = manualClock()
    const first = await createWorld({ clock: theirs, work: false, connect: false, outside: true })
    const ours = manualClock(theirs.now() + aheadMs)
    const both = { ...ours, advance: (ms: number) => (theirs.advance(ms), ours.advance(ms)) }
    await using world = await restarted(first, ours)
    await text(world, both, 'before')
    await world.connect()
    await world.control.injectSms({ from: SENDER, text: 'at once', deliver: false })
    both.advance(2 * MINUTE_MS)
    await text(world, both, 'later')
    expect(await textsOf(world, both, world.tenantId)).toEqual(['at once', 'later'])
  })

test('a disconnection fetches what came until then; a later connection begins anew, without what came in between', async () => {
  const { world, clock } = await open()
  await using _ = world
  const { tenantId } = world
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  await text(world, clock, 'connected')
  await disconnectExtension(world.gateway, { tenantId }, extensionId)
  await text(world, clock, 'disconnected')
  await world.connect({ extensionId })
  await text(world, clock, 'connected again')
  expect(await textsOf(world, clock, tenantId)).toEqual(['connected', 'connected again'])
})

test('an extension that an earlier release has connected loses nothing: its next back-fill goes on as before', async () => {
  const { world, clock } = await open()
  await using _ = world
  await world.gateway.database.gate.execute('UPDATE extensions SET first_connected_at = NULL')
  world.gateway.directory.forget(world.tenantId)
  await text(world, clock, 'connected')
  expect(await textsOf(world, clock, world.tenantId)).toEqual(['connected'])
  await world.connect()
  await text(world, clock, 'authorized again')
  expect(await textsOf(world, clock, world.tenantId)).toEqual(['connected', 'authorized again'])
})

test('a provider that does not answer delays a disconnection by no more than its calls, and it is complete', async () => {
  const { world, clock } = await open()
  await using _ = world
  const { extensionId = '' } = world.control.extensions()[0] ?? {}
  world.control.fault({ route: 'message-store', calls: null, fault: { kind: 'reset' } })
  expect(await disconnectExtension(world.gateway, { tenantId: world.tenantId }, extensionId)).toEqual({ ok: true })
  expect(await world.gateway.database.gate.values('SELECT * FROM extensions')).toEqual([])
  expect(world.control.sessions({ extensionId })).toEqual([])
  clock.advance(MINUTE_MS)
})
