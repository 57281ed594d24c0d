import { expect, test } from 'bun:test'
import { eventStream } from '../../src/operator/events.ts'
import { manualClock } from '../support/manual-clock.ts'
import { receiveText } from '../support/provider-events.ts'
import { createWorld, until } from '../support/world.ts'

const quiet = { connect: false, work: false }

test('the stream begins with ready, then has the events of one tenant, and an empty line every 30 s', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  const reader = eventStream(world.gateway, world.tenantId).getReader()
  const line = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
  expect(await line()).toMatch(/^\{"type":"ready","cursor":"[\w-]{50,64}"\}\n$/)
  await receiveText(world, 'foreign', (await world.otherTenant()).tenantId)
  await receiveText(world, 'own')
  expect(JSON.parse(await line())).toMatchObject({ type: 'sms_inbound', tenantId: world.tenantId, body: 'own' })
  for (let beat = 0; beat < 3; beat++) {
    clock.advance(30_000)
    expect(await line()).toBe('\n')
  }
  await reader.cancel()
  clock.advance(120_000)
  await receiveText(world, 'nobody reads')
  expect(world.gateway.hub.hasListeners).toBe(false)
})

test('without a tenant the stream has the events of all', async () => {
  await using world = await createWorld(quiet)
  const reader = eventStream(world.gateway, null).getReader()
  const line = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
  await line()
  const { tenantId } = await world.otherTenant()
  await receiveText(world, 'foreign', tenantId)
  await receiveText(world, 'own')
  expect(JSON.parse(await line())).toMatchObject({ tenantId, body: 'foreign' })
  expect(JSON.parse(await line())).toMatchObject({ tenantId: world.tenantId, body: 'own' })
  await reader.cancel()
})

test('a client that does not read is disconnected', async () => {
  await using world = await createWorld(quiet)
  const { gate, writer } = world.gateway.database
  await receiveText(world, 'repeated')
  const reader = eventStream(world.gateway, world.tenantId).getReader()
  await reader.read()
  const repeat = `INSERT INTO events (kinds, subject, at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT kinds, subject, at FROM events, n`
  await writer.write([{ sql: repeat, args: [] }])
  await until(() => !world.gateway.hub.hasListeners)
  expect((await gate.execute('SELECT count(*) AS rows FROM events')).rows[0]?.['rows']).toBe(20_001)
  let lines = 0
  while (!(await reader.read()).done) lines++
  expect(lines).toBe(10_000)
})
