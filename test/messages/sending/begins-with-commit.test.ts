import { expect, test } from 'bun:test'
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readStatus } from '../../../src/operator/status.ts'
import { ACCEPT } from '../../../src/messages/sending/accept-rows.ts'
import { holdCalls } from '../../support/held-calls.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { newMessage } from '../../support/new-message.ts'
import { WARM_UP, readyWorld } from '../../support/ready-world.ts'
import { FROM, TO, type World, createWorld, until } from '../../support/world.ts'

// An attempt begins with the commit of its message if all slots are free.

async function rowsOf(world: World, sql: string): Promise<Record<string, unknown>[]> {
  return (await world.gateway.database.gate.execute(sql)).rows.map((row) => ({ ...row }))
}

const textsAtProvider = (world: World): string[] =>
  world.control
    .messages({ direction: 'Outbound' })
    .map(({ text }) => text ?? '')
    .filter((text) => !text.startsWith(WARM_UP))

async function sendAll(world: World, texts: readonly string[]): Promise<void> {
  for (const body of texts) await world.untilStatus(await world.send({ body }))
}

test('an attempt is open when the message is accepted, and counted as such', async () => {
  await using world = await readyWorld()
  const release = holdCalls(world, 'sendSms')
  const id = await world.send()
  expect((await world.status(id))['status']).toBe('sending')
  expect((await readStatus(world.gateway)).queue['openAttempts']).toBe(1)
  release()
  expect((await world.untilStatus(id))['status']).toBe('sent')
  expect((await readStatus(world.gateway)).queue['openAttempts']).toBe(0)
})

test.each([
  ['tenant', "UPDATE tenants SET status = 'suspended'"],
  ['extension', "UPDATE extensions SET status = 'revoked'"],
])('no attempt begins when its %s has just been stopped', async (_, sql) => {
  await using world = await readyWorld()
  await world.gateway.database.gate.execute(sql)
  await world.gateway.sending.accept(newMessage(world))
  expect(await rowsOf(world, 'SELECT 1 FROM send_attempts')).toEqual([])
  expect(textsAtProvider(world)).toEqual([])
})

test('a message is sent once if its commit reports an error but succeeds', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  const { writer } = world.gateway.database
  const row = writer.row.bind(writer)
  writer.row = async (operation, value) => {
    const answer = await row(operation, value)
    if (!Object.is(operation, ACCEPT)) return answer
    writer.row = row
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' })
  }
  const body = { from: FROM, to: TO, body: 'stored all the same' }
  expect((await world.call('POST', '/v1/sms/send', { body })).status).toBe(503)
  const [stored] = await rowsOf(world, 'SELECT id FROM messages')
  await until(async () => {
    clock.advance(1000)
    return (await world.status(String(stored?.['id'])))['status'] === 'sent'
  })
  expect(textsAtProvider(world)).toEqual(['stored all the same'])
})

test('attempts count in the rate window of their number after a restart', async () => {
  const clock = manualClock()
  const env = { FROM_LIMIT_PER_MINUTE: '2' }
  await using world = await readyWorld({ clock, env })
  await sendAll(world, ['one', 'two'])
  await world.running.stop()
  clock.advance(10_000)
  await using again = await createWorld({ clock, folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.numberWaitMs(FROM)).toBe(50_000)
})

test('attempts count after a restart although the clock was set back', async () => {
  const clock = manualClock()
  const behind = { ...clock, steady: () => clock.steady() - 3_600_000 }
  const env = { FROM_LIMIT_PER_MINUTE: '2' }
  await using world = await readyWorld({ clock, env })
  await sendAll(world, ['one', 'two'])
  await world.running.stop()
  await using again = await createWorld({ clock: behind, folder: world.folder, connect: false, work: false, env })
  expect(again.gateway.quota.numberWaitMs(FROM)).toBe(60_000)
})

test('after the clock was set back by an hour, a pause does not last an hour longer', async () => {
  const clock = manualClock()
  await using world = await readyWorld({ clock })
  await sendAll(world, ['one'])
  const pause = `UPDATE extensions SET paused_until = ${clock.now() + 30_000} RETURNING extension_id`
  const [extension] = await rowsOf(world, pause)
  await world.running.stop()
  const behind = { ...clock, now: () => clock.now() - 3_600_000, steady: () => clock.steady() - 3_600_000 }
  await using again = await createWorld({ clock: behind, folder: world.folder, connect: false, work: false })
  expect(again.gateway.quota.pauseMs(String(extension?.['extension_id']), 'medium')).toBe(60_000)
})

/** Restarts and returns the time at which the database was found to be restored, if it was. */
async function restoredAfterRestart(world: World): Promise<unknown> {
  await world.running.stop()
  await using again = await createWorld({ folder: world.folder, connect: false, work: false })
  return (await readStatus(again.gateway)).backup.restoredAt
}

test('a database that lacks an attempt of the restore mark counts as restored', async () => {
  await using world = await readyWorld()
  const copy = join(world.folder, 'copy.db')
  await world.gateway.database.gate.execute({ sql: 'VACUUM INTO ?1', args: [copy] })
  await sendAll(world, ['after the copy'])
  await world.running.stop()
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(world.folder, `sgw.db${suffix}`), { force: true })
  renameSync(copy, join(world.folder, 'sgw.db'))
  expect(await restoredAfterRestart(world)).not.toBeNull()
})

test('a database that was used without interruption does not count as restored', async () => {
  await using world = await readyWorld()
  await sendAll(world, ['one'])
  expect(await restoredAfterRestart(world)).toBeNull()
})

test('an attempt is in the restore mark before the provider is called', async () => {
  await using world = await readyWorld()
  const { provider } = world.gateway
  const attemptInMark = (): number =>
    Number(readFileSync(join(world.folder, 'sgw.db.mark'), 'utf8').trim().split(' ')[1])
  const sendSms = provider.sendSms
  let marked = NaN
  provider.sendSms = (token, message) => {
    marked = attemptInMark()
    return sendSms(token, message)
  }
  await sendAll(world, ['one'])
  expect(await rowsOf(world, 'SELECT max(seq) AS seq FROM send_attempts')).toEqual([{ seq: marked }])
})
