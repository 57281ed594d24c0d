import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { EVENT_KINDS } from '../../src/db/schema/events.ts'
import { JOB_KINDS } from '../../src/db/schema/jobs.ts'
import { storeInbound } from '../../src/messages/inbound/store-inbound.ts'
import { readyWorld } from '../support/ready-world.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

const { queued, sending, sent, failed, received } = EVENT_KINDS

const kindsOf = async (world: World, subject: string): Promise<unknown[]> => {
  const sql = 'SELECT kinds FROM events WHERE subject = ?1 ORDER BY seq'
  const { rows } = await world.gateway.database.gate.execute({ sql, args: [subject] })
  return rows.map((row) => row['kinds'])
}

test('the commits that change a message append its events', async () => {
  await using world = await readyWorld()
  const id = await world.send()
  await world.untilStatus(id)
  expect(await kindsOf(world, id)).toEqual([queued | sending, sent])
})

test('a message that waits is queued on its own, and becomes sending before it fails', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const ended = await world.send()
  const cancelled = await world.send()
  expect(await kindsOf(world, ended)).toEqual([queued])
  await world.call('DELETE', `/v1/sms/${cancelled}`)
  world.running.work()
  await world.untilStatus(ended)
  expect(await kindsOf(world, ended)).toEqual([queued, sending | failed])
  expect(await kindsOf(world, cancelled)).toEqual([queued, failed])
})

test('an inbound message has one event, however often it comes', async () => {
  await using world = await createWorld()
  const sms = { tenantId: world.tenantId, extensionId: '1', providerMessageId: '77', from: TO, to: FROM, text: 'Hi' }
  expect([await storeInbound(world.gateway, sms), await storeInbound(world.gateway, sms)]).toEqual([true, false])
  const { rows } = await world.gateway.database.gate.execute('SELECT kinds FROM events')
  expect(rows).toEqual([{ kinds: received }])
})

test('ARCHITECTURE.md names every SQL trigger with its table, and every kind of job', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const text = await Bun.file(join(import.meta.dir, '../../ARCHITECTURE.md')).text()
  const section = (title: string): string => text.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const { rows } = await world.gateway.database.gate.execute(
    `SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'`,
  )
  const stored = rows.map((row) => `${String(row['tbl_name'])} ${String(row['name'])}`)
  const named: string[] = []
  let table = ''
  for (const [, first = '', names = ''] of section('SQL triggers').matchAll(/^\| (\S*) ?\| (`.*?) \|/gm)) {
    table = first === '' ? table : first.replaceAll('`', '')
    let whole = ''
    for (const [, name = ''] of names.matchAll(/`(\w+)`/g)) {
      whole = name.startsWith('_') ? whole.replace(/_[a-z]+$/, name) : name
      named.push(`${table} ${whole}`)
    }
  }
  expect(named.toSorted()).toEqual(stored.toSorted())
  const kinds = [...section('Jobs').matchAll(/^\| `(\w+)` \|/gm)].map(([, kind]) => kind)
  expect(kinds).toEqual([...JOB_KINDS])
})
