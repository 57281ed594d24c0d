import { expect, test } from 'bun:test'
import { MAX_OPERATOR_SESSIONS } from '../../src/core/limits.ts'
import { expectError } from '../support/expect-error.ts'
import { manualClock } from '../support/manual-clock.ts'
import { type SignedIn, signIn } from '../support/operator.ts'
import { listenTo } from '../support/socket.ts'
import { type World, createWorld, recordedLog } from '../support/world.ts'

const SESSION = '/v1/operator/session'
const quiet = { connect: false, work: false }

const statusOf = async (world: World, { token }: SignedIn): Promise<number> =>
  (await world.call('GET', '/v1/operator/status', { key: token })).status

/** Signs in this many times, one after the other. */
async function signInTimes(world: World, times: number): Promise<SignedIn[]> {
  const sessions: SignedIn[] = []
  for (let time = 0; time < times; time++) sessions.push(await signIn(world))
  return sessions
}

/** A socket of this session. */
async function socketOf(world: World, { token }: SignedIn) {
  const headers = { 'sgw-app': world.app.appId }
  const ticket = await world.json<{ token: string }>('POST', '/v1/ws/token', { key: token, headers })
  return listenTo(world.url, { token: ticket.body.token })
}

test('twenty sessions are live; one more ends the oldest, and closes its sockets as signing out does', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ ...quiet, log })
  const [oldest, second, ...others] = await signInTimes(world, MAX_OPERATOR_SESSIONS)
  if (oldest === undefined || second === undefined) throw new Error('There are at least two')
  await using mine = await socketOf(world, oldest)
  await using staying = await socketOf(world, second)
  const newest = await signIn(world)
  expect((await mine.closed).code).toBe(1008)
  expect(mine.messages.at(-1)).toEqual({ type: 'auth_error', error: 'Invalid API key' })
  await expectError(await world.call('GET', '/v1/operator/status', { key: oldest.token }), 401, 'Invalid API key')
  for (const session of [second, ...others, newest]) expect(await statusOf(world, session)).toBe(200)
  expect(staying.isOpen).toBe(true)
  const ended = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'the oldest session of an operator ended: too many are open')
  expect(ended).toMatchObject([{ session: oldest.sessionId, by: newest.sessionId }])
})

test('sessions that were ended or have expired make room', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  await signInTimes(world, MAX_OPERATOR_SESSIONS)
  clock.advance(12 * 3_600_000)
  const sessions = await signInTimes(world, MAX_OPERATOR_SESSIONS)
  const [first, second] = sessions
  if (first === undefined || second === undefined) throw new Error('There are at least two')
  expect(await statusOf(world, first)).toBe(200)
  await world.call('DELETE', SESSION, { key: second.token })
  await signIn(world)
  expect(await statusOf(world, first)).toBe(200)
})

test('fifty sign-ins at once, after a clock that was set back, leave the twenty that were last', async () => {
  const clock = manualClock()
  await using world = await createWorld({ ...quiet, clock })
  const [old] = await signInTimes(world, 1)
  clock.advance(-3_600_000)
  const login = world.gateway.operatorSessions.createDevelopmentLogin()
  const opened = await Promise.all(
    Array.from({ length: 50 }, () => world.json<SignedIn>('POST', SESSION, { key: null, body: { login } })),
  )
  const statuses = await Promise.all(opened.map(({ body }) => statusOf(world, body)))
  expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_OPERATOR_SESSIONS)
  if (old === undefined) throw new Error('There is one')
  expect(await statusOf(world, old)).toBe(401)
})

test('a database with more sessions, of an earlier release, keeps them until somebody signs in', async () => {
  await using world = await createWorld(quiet)
  const [oldest] = await signInTimes(world, MAX_OPERATOR_SESSIONS)
  if (oldest === undefined) throw new Error('There is one')
  const { gate } = world.gateway.database
  for (let more = 0; more < 3; more++)
    await gate.execute(`INSERT INTO operator_sessions SELECT 'more_${more}', 'hash_${more}', created_at, expires_at
      FROM operator_sessions LIMIT 1`)
  const refused = await world.call('POST', SESSION, { key: null, body: { login: 'sgwlogin_wrong' } })
  await expectError(refused, 401, 'Invalid or expired login')
  expect(await statusOf(world, oldest)).toBe(200)
  await signIn(world)
  expect(await statusOf(world, oldest)).toBe(401)
  const { rows } = await gate.execute(
    `SELECT id FROM operator_sessions WHERE expires_at > ${world.gateway.clock.now()}`,
  )
  expect(rows).toHaveLength(MAX_OPERATOR_SESSIONS)
})
