import { expect, test } from 'bun:test'
import type { Fault } from '../../../src/simulator/faults.ts'
import type { SocketFaultKind } from '../../../src/core/provider-changes.ts'
import { MINUTE, SECOND, SocketCase } from './socket-case.ts'

// What keeps a socket from being opened. Texts come by back-fill meanwhile, a minute late at most, each once.

const LACKS_PERMISSION =
  'The RingCentral app lacks the permission WebSocketsSubscription: add it in the developer console, then connect again: sgw extensions invite --tenant TENANT.'
const NEEDS_WSS =
  'This machine must be able to open wss:// connections to the provider; the gateway reopens a closed one.'

const error = (status: number, errorCode: string, headers: Record<string, string> = {}): Fault => ({
  kind: 'respond',
  status,
  headers,
  body: { errorCode, message: 'No', errors: [{ errorCode, message: 'No' }] },
})

const inTenant = ({ world }: SocketCase, fix: string): string => fix.replace('TENANT', world.tenantId)

interface Refusal {
  name: string
  socket?: SocketFaultKind
  ticket?: Fault
  /** Of `POST /restapi/v1.0/subscription` over the socket. */
  subscription?: Fault
  /** Real time until a call counts as unanswered. */
  timeoutMs?: number
  fix?: string
}

const REFUSALS: Refusal[] = [
  { name: 'the upgrade is refused with 503', socket: 'refuse' },
  { name: 'the upgrade is refused with 401', socket: 'unauthorized' },
  { name: 'the upgrade is never answered', socket: 'hang', timeoutMs: 300 },
  { name: 'the gateway answers with an error', socket: 'error' },
  { name: 'the gateway never greets', socket: 'no-details', timeoutMs: 300 },
  {
    name: 'no ticket is given, with 401',
    ticket: error(401, 'OAU-213'),
    fix: 'RingCentral refuses its access token, although it was just refreshed: connect it again (sgw extensions invite --tenant TENANT), and check that the RingCentral app is still active.',
  },
  { name: 'no ticket is given, with 403', ticket: error(403, 'CMN-401'), fix: LACKS_PERMISSION },
  {
    name: 'no ticket is given, with 403 of a proxy',
    ticket: { kind: 'respond', status: 403, body: '<html>' },
    fix: 'Something between this machine and RingCentral (a proxy, a firewall, a CDN) answered with status 403: let calls to RC_SERVER_URL pass.',
  },
  {
    name: 'no ticket is given, with 429',
    ticket: error(429, 'CMN-301', { 'retry-after': '30' }),
    fix: 'RingCentral asked the gateway to wait 30 s; calls work again after that.',
  },
  { name: 'no ticket is given, with 503', ticket: error(503, 'CMN-201') },
  { name: 'no ticket is given, by silence', ticket: { kind: 'hang' }, timeoutMs: 300 },
  { name: 'the ticket has no address', ticket: { kind: 'respond', status: 200, body: { expires_in: 30 } } },
  {
    name: 'the subscription is refused with SUB-405',
    subscription: error(403, 'SUB-405'),
    fix: 'The RingCentral app lacks the permission ReadMessages: add it in the developer console, then connect again: sgw extensions invite --tenant TENANT. (RingCentral answered 403.)',
  },
  {
    name: 'there are too many subscriptions',
    subscription: error(400, 'SUB-505'),
    fix: 'This user and app have too many subscriptions at RingCentral: delete those that you do not need.',
  },
]

test('a pause that RingCentral asks for hides no permission that is missing', async () => {
  await using it = await SocketCase.open({})
  it.fault('wstoken', error(403, 'CMN-401'), null)
  it.control.faultSockets({ kind: 'cut' })
  await it.noticed()
  await it.pass(MINUTE, async () => (await it.shown()).fix === inTenant(it, LACKS_PERMISSION))
  it.control.clearFaults()
  it.fault('wstoken', error(429, 'CMN-301', { 'retry-after': '60' }), null)
  const tickets = () => it.control.calls().filter(({ route }) => route === 'wstoken').length
  const before = tickets()
  await it.pass(3 * MINUTE, () => tickets() > before)
  await it.run(5 * SECOND)
  expect(await it.shown()).toMatchObject({ health: 'pending', fix: inTenant(it, LACKS_PERMISSION) })
  expect(await it.doctor()).toContain(inTenant(it, LACKS_PERMISSION))
  it.control.clearFaults()
  await it.reopened(3 * MINUTE)
  expect(await it.doctor()).toBe('ok: every active extension has one')
}, 30_000)

test.each(REFUSALS)(
  '$name',
  async ({ socket, ticket, subscription, timeoutMs, fix }) => {
    await using it = await SocketCase.open(timeoutMs === undefined ? {} : { timeoutMs })
    await it.run(31 * SECOND)
    if (socket !== undefined) it.control.faultSockets({ kind: socket, calls: null })
    if (ticket !== undefined) it.fault('wstoken', ticket, null)
    if (subscription !== undefined) it.fault('subscription-create', subscription, null)
    if (socket === undefined && ticket === undefined) it.control.faultSockets({ kind: 'forget', calls: null })
    it.control.faultSockets({ kind: 'cut' })
    await it.noticed()
    await it.text('a')
    await it.run(4 * SECOND)
    const shown = await it.shown()
    expect(shown).toMatchObject({ status: [0, 1], health: 'pending', fix: inTenant(it, fix ?? NEEDS_WSS) })
    const said = await it.doctor()
    expect(said).toStartWith('warn: Extension ')
    expect(said).toEndWith(` does not receive events. ${shown.reason}. ${shown.fix}`)
    await it.pass(MINUTE, async () => (await it.bodies()).includes('a'))

    await it.text('b')
    it.control.reset()
    await it.reopened(121 * SECOND)
    await it.arrives('b')
    await it.text('c')
    await it.arrives('c')
    expect(await it.bodies()).toEqual(['a', 'b', 'c'])
    await it.run(SECOND)
    expect(await it.shown()).toMatchObject({ status: [1, 0], health: 'active', reason: null })
    expect(await it.doctor()).toBe('ok: every active extension has one')
    expect(await it.world.untilStatus(await it.world.send())).toMatchObject({ status: 'sent' })
  },
  30_000,
)
