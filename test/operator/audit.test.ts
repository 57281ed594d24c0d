import { expect, test } from 'bun:test'
import { MAX_LINES_PER_MINUTE } from '../../src/core/log.ts'
import { operate, signIn } from '../support/operator.ts'
import { createWorld, recordedLog } from '../support/world.ts'

const CHANGES = MAX_LINES_PER_MINUTE + 40
const quiet = { connect: false, work: false }

/** The fields of all lines with this text. */
const linesOf = (lines: readonly string[], text: string): Record<string, unknown>[] =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === text)

test('however many changes a session makes, each leaves its line; a refused call leaves none', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const { sessionId, token } = await signIn(world)
  const appId = world.app.appId
  const own = { path: `/v1/apps/${appId}`, headers: { 'sgw-app': appId }, body: { webhookUrl: null } }
  const operators = { path: `/v1/operator/tenants/${world.tenantId}`, headers: {}, body: { status: 'active' } }
  const expected: object[] = []
  for (let time = 0; time < CHANGES; time++) {
    const { path, headers, body } = time % 2 === 0 ? own : operators
    expect((await world.call('PUT', path, { key: token, headers, body })).status).toBe(200)
    if (time < 5) expect((await world.call('PUT', path, { key: token, headers, body: '{' })).status).toBe(400)
    expected.push({ session: sessionId, method: 'PUT', path, ...(path === own.path ? { appId } : {}) })
  }
  const ofSession = linesOf(lines, 'an operator made a change').filter(({ session }) => session === sessionId)
  expect(ofSession).toHaveLength(CHANGES)
  expect(ofSession).toMatchObject(expected)
})

test('however many changes the command line makes, each leaves its lines', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  for (let time = 0; time < CHANGES; time++) {
    const { status } = await operate(world, 'POST', '/v1/operator/erase', { phone: '+15555550177' })
    expect(status).toBe(200)
  }
  expect(linesOf(lines, 'an operator made a change')).toHaveLength(CHANGES)
  expect(linesOf(lines, 'a number was erased')).toHaveLength(CHANGES)
})

test('however many operators sign in, each leaves a line', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const sessions: string[] = []
  for (let time = 0; time < CHANGES; time++) sessions.push((await signIn(world)).sessionId)
  expect(linesOf(lines, 'an operator signed in').map(({ session }) => session)).toEqual(sessions)
})
