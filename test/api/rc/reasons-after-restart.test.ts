import { expect, test } from 'bun:test'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { restarted } from '../../support/restarted.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const lacksIn = ({ tenantId }: World): string =>
  `The RingCentral app lacks the permission WebSocketsSubscription: add it in the developer console, then connect again: sgw extensions invite --tenant ${tenantId}.`
const TOO_MANY = { kind: 'respond', status: 429, headers: { 'Retry-After': '60' } } as const

type Permission = 'ReadAccounts' | 'ReadMessages' | 'SMS' | 'WebSocketsSubscription'

interface Health {
  status: string
  reason: string | null
  fix: string | null
  since: string | null
}

async function healthOf(world: World): Promise<Health> {
  const { body } = await world.json<{ extensions: Health[] }>('GET', '/v1/rc/extensions/health')
  const [health] = body.extensions
  if (health === undefined) throw new Error('No extension is connected')
  const { status, reason, fix, since } = health
  return { status, reason, fix, since }
}

/** What all lines of the doctor say. */
async function doctorOf(world: World): Promise<string> {
  const { body } = await operate<{ detail: string }[]>(world.running, 'GET', '/v1/operator/doctor')
  return body.map(({ detail }) => detail).join('\n')
}

const open = (clock: ManualClock, permissions: readonly Permission[]): Promise<World> =>
  createWorld({
    clock,
    env: { RC_EVENTS: 'websocket' },
    seed: (control) => {
      control.configure({ permissions: [...permissions] })
      return {}
    },
  })

test('after a restart whose first tries are answered 429, a missing permission is still the reason, since when it was', async () => {
  const clock = manualClock()
  const first = await open(clock, ['ReadAccounts', 'ReadMessages', 'SMS'])
  const before = await until(async () => {
    const health = await healthOf(first)
    return health.fix === lacksIn(first) && health
  })
  clock.advance(5000)
  await using second = await restarted(first, clock, () =>
    first.control.fault({ route: 'wstoken', calls: null, fault: TOO_MANY }),
  )
  expect(await healthOf(second)).toEqual(before)
  second.running.work()
  clock.advance(0)
  await until(() =>
    second.control.calls().some(({ route, response }) => route === 'wstoken' && response?.status === 429),
  )
  expect(await healthOf(second)).toEqual(before)
  expect(await doctorOf(second)).toContain(lacksIn(second))
})

test('the reason of a refresh that failed is told after a restart, long before the next try, and a 429 does not hide it', async () => {
  const clock = manualClock()
  const first = await open(clock, ['ReadAccounts', 'ReadMessages', 'SMS', 'WebSocketsSubscription'])
  const { extensionId = '' } = first.control.extensions()[0] ?? {}
  const key = { tenantId: first.tenantId, extensionId }
  first.control.setExtensionStatus({ extensionId, status: 'Disabled' })
  await first.gateway.tokens.refresh(key)
  const before = await healthOf(first)
  expect(before).toMatchObject({
    status: 'refresh_failed',
    fix: expect.stringContaining('refuses this user for now (OAU-236)'),
  })
  await using second = await restarted(first, clock)
  expect(await healthOf(second)).toEqual(before)
  second.control.fault({ route: 'token', calls: null, fault: TOO_MANY })
  await second.gateway.tokens.refresh(key)
  expect((await healthOf(second)).fix).toContain('refuses this user for now (OAU-236)')
  second.control.clearFaults()
  second.control.setExtensionStatus({ extensionId, status: 'Enabled' })
  clock.advance(60_000)
  await second.gateway.tokens.refresh(key)
  expect(await healthOf(second)).toMatchObject({ status: 'active' })
  expect(await second.gateway.database.gate.values('SELECT refresh_refusal FROM extensions')).toEqual([[null]])
})

for (const [name, lacking, refused] of [
  ['numbers', 'ReadAccounts', 'list its phone numbers'],
  ['messages', 'ReadMessages', 'list its inbound messages'],
] as const)
  test(`what RingCentral refuses of its ${name} stands after a restart until it is granted`, async () => {
    const clock = manualClock()
    const all: Permission[] = ['ReadAccounts', 'ReadMessages', 'SMS', 'WebSocketsSubscription']
    const first = await open(clock, all)
    const path = name === 'numbers' ? 'phone-number' : 'message-store'
    const refusal = {
      errorCode: 'CMN-401',
      message: 'In order to call this API endpoint of +15558887777, application needs permission',
      permissionName: lacking,
    }
    first.control.fault({
      route: path,
      calls: null,
      fault: { kind: 'respond', status: 403, body: { ...refusal, errors: [refusal] } },
    })
    await first.gateway.database.gate.execute('UPDATE extensions SET numbers_read_at = NULL')
    first.gateway.directory.forget(first.tenantId)
    const before = await until(async () => {
      clock.advance(60_000)
      const health = await healthOf(first)
      return health.reason?.includes(refused) === true && health
    })
    const [[stored] = []] = await until(async () => {
      const rows = await first.gateway.database.gate.values('SELECT refusals FROM extensions')
      return rows[0]?.[0] !== null && rows
    })
    // An answer may name a person, whom `sgw erase` would not find here.
    expect(String(stored)).not.toContain('+15558887777')
    await using second = await restarted(first, clock)
    expect(await healthOf(second)).toEqual(before)
    second.control.clearFaults()
    second.running.work()
    await until(async () => {
      clock.advance(60_000)
      return (await healthOf(second)).reason === null
    })
    // It is known at once, and stored a moment later.
    await until(
      async () => (await second.gateway.database.gate.values('SELECT refusals FROM extensions'))[0]?.[0] === null,
    )
  })
