import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { silentLog } from '../../src/core/log.ts'
import { runCommand } from '../../src/operator/run-command.ts'
import { writeMessageRows } from '../support/message-rows.ts'
import { FROM, type World, createWorld, until } from '../support/world.ts'

const PERSON = '+15555550188'

const erase = (world: World, phone: string) =>
  runCommand({ gateway: world.gateway, simulator: null }, 'erase', { phone }, silentLog)

test('deletes every message to and from the number, of all tenants, and nothing else', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send({ to: PERSON, body: 'For the person' }))
  const other = await world.send({ body: 'For somebody else' })
  await world.untilStatus(other)
  await world.control.injectSms({ to: FROM, from: PERSON, text: 'From the person' })
  const stranger = await world.otherTenant()
  const ofTheirs = { count: 4, since: 0, tenantId: stranger.tenantId, appId: stranger.appId, phone: PERSON }
  await writeMessageRows(world.gateway.database.gate, ofTheirs)
  await until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total === 3)
  expect(await erase(world, PERSON)).toEqual({
    ok: true,
    result: { messages: 6, attempts: 4, deliveries: 1, waiting: 0 },
  })
  expect(
    (await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages')).body.messages.map(
      (one) => one.messageId,
    ),
  ).toEqual([other])
})

test('leaves no trace in the file once it is compacted', async () => {
  await using world = await createWorld()
  // Which of several apps wrote to the person is a trace as well.
  await world.secondApp()
  await world.untilStatus(await world.send({ to: PERSON, body: 'A very private text' }))
  await erase(world, PERSON)
  const compact = () => runCommand({ gateway: world.gateway, simulator: null }, 'compact', {}, silentLog)
  expect(await compact()).toMatchObject({ ok: false, error: expect.stringContaining('stop it') })
  await world.gateway.jobs.stop()
  world.gateway.lifecycle.working = false
  expect(await compact()).toMatchObject({ ok: true })
  const bytes = ['', '-wal'].map((suffix) => readFileSync(`${world.folder}/sgw.db${suffix}`, 'latin1')).join('')
  expect(bytes.includes('A very private text')).toBe(false)
  expect(bytes.includes(PERSON)).toBe(false)
})

test('says how many messages still wait, and leaves them', async () => {
  await using world = await createWorld({ work: false })
  const waiting = await world.send({ to: PERSON })
  expect(await erase(world, PERSON)).toMatchObject({ result: { messages: 0, waiting: 1 } })
  expect(await world.status(waiting)).toMatchObject({ status: 'queued' })
})

test('refuses a number of its own, and what is no number', async () => {
  await using world = await createWorld()
  expect(await erase(world, FROM)).toMatchObject({ ok: false, error: expect.stringContaining('connected extension') })
  expect(await erase(world, '12345')).toEqual({
    ok: false,
    error: '--phone must be a phone number such as +15555550100',
  })
})
