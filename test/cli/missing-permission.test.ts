import { expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { manualClock } from '../support/manual-clock.ts'
import { openOperatorSocket, operate } from '../support/operator.ts'
import { restarted } from '../support/restarted.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

// The permission SMS is only needed to send, so nothing but a refused message shows that it is missing.

setDefaultTimeout(60_000)

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

async function authorizationOf(world: World): Promise<{ level: string; detail: string }> {
  const { body } = await operate<{ check: string; level: string; detail: string }[]>(
    world.running,
    'GET',
    '/v1/operator/doctor',
  )
  const found = body.find(({ check }) => check === 'authorization')
  if (found === undefined) throw new Error('There is no such check')
  return { level: found.level, detail: found.detail }
}

async function healthOf(world: World): Promise<{ reason: string | null; fix: string | null }> {
  const { body } = await world.json<{ extensions: { reason: string | null; fix: string | null }[] }>(
    'GET',
    '/v1/rc/extensions/health',
  )
  const [{ reason, fix } = { reason: null, fix: null }] = body.extensions
  return { reason, fix }
}

const missing = (tenantId: string): string =>
  `The RingCentral app lacks the permission SMS: add it in the developer console, then connect again: sgw extensions invite --tenant ${tenantId}.`

test.concurrent('after a message that was refused because the app lacks SMS, doctor, health, list, status and the message name the fix, until one is sent', async () => {
  await using world = await createWorld()
  const operator = openOperatorSocket(world)
  const { control, tenantId } = world
  control.configure({ permissions: ['ReadAccounts', 'ReadMessages', 'SubscriptionWebhook'] })
  expect(await authorizationOf(world)).toMatchObject({ level: 'ok' })
  const refused = await world.send()
  await world.untilStatus(refused, ['failed'])
  const fix = missing(tenantId)
  expect(await authorizationOf(world)).toMatchObject({ level: 'fail', detail: expect.stringContaining(fix) })
  expect(await healthOf(world)).toEqual({ reason: 'The provider refused to pass its messages on (403 CMN-401)', fix })
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await sgwIn(world.folder, words)
    return flat(`${stdout}${stderr}`)
  }
  for (const words of [
    ['extensions', 'list'],
    ['messages', 'list'],
    ['messages', 'show', refused],
    ['send', '--from', FROM, '--to', TO, '--wait', 'Hello'],
  ])
    expect(await run(...words)).toContain(fix)
  const status = await run('status')
  const parts = [fix, 'Then list them, and send them again:', 'sgw messages resend']
  const at = parts.map((part) => status.indexOf(part))
  expect(at).toEqual(at.toSorted((one, other) => one - other))
  expect(at).not.toContain(-1)
  control.configure({ permissions: ['ReadAccounts', 'ReadMessages', 'SubscriptionWebhook', 'SMS'] })
  await world.untilStatus(await world.send(), ['sent'])
  expect(await authorizationOf(world)).toMatchObject({ level: 'ok' })
  expect(await healthOf(world)).toEqual({ reason: null, fix: null })
  expect(await run('status')).not.toContain(fix)
  await operator.stop()
})

test.concurrent('a user that lacks OutboundSMS is told of like an app that lacks SMS; a refusal of one message is no trouble of its extension', async () => {
  await using world = await createWorld()
  const refusal = (errorCode: string) =>
    ({ kind: 'respond', status: 403, body: { errors: [{ errorCode, message: 'No' }] } }) as const
  world.control.fault({ route: 'sms', calls: 1, fault: refusal('MSG-240') })
  await world.untilStatus(await world.send(), ['failed'])
  expect(await healthOf(world)).toEqual({ reason: null, fix: null })
  world.control.fault({ route: 'sms', calls: 1, fault: refusal('CMN-408') })
  await world.untilStatus(await world.send(), ['failed'])
  expect(await healthOf(world)).toEqual({
    reason: 'The provider refused to pass its messages on (403 CMN-408)',
    fix: "The user lacks the permission OutboundSMS: give it to the user's role in the RingCentral admin portal.",
  })
})

test('a missing permission is told after a restart, too', async () => {
  const clock = manualClock()
  const first = await createWorld({ clock, seed: () => ({}) })
  first.control.configure({ permissions: ['ReadAccounts', 'ReadMessages', 'SubscriptionWebhook'] })
  const refused = await first.send()
  await first.untilStatus(refused, ['failed'])
  const before = await healthOf(first)
  expect(before.fix).toBe(missing(first.tenantId))
  clock.advance(3_600_000)
  await until(async () => (await healthOf(first)).fix === before.fix)
  await using second = await restarted(first, clock)
  expect(await healthOf(second)).toEqual(before)
})

test.concurrent('another connection ends what was refused before it, and where a JWT connects the extension the fix names that command', async () => {
  await using world = await createWorld()
  const { control, tenantId } = world
  const { extensionId = '' } = control.extensions()[0] ?? {}
  control.configure({ permissions: ['ReadAccounts', 'ReadMessages', 'SubscriptionWebhook'] })
  await world.untilStatus(await world.send(), ['failed'])
  expect((await healthOf(world)).fix).toBe(missing(tenantId))
  const { jwt } = control.addJwt({ extensionId })
  expect((await operate(world, 'POST', '/v1/operator/extensions', { tenantId, jwt })).status).toBe(200)
  expect(await healthOf(world)).toEqual({ reason: null, fix: null })
  await world.untilStatus(await world.send(), ['failed'])
  expect((await healthOf(world)).fix).toEndWith(`sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE.`)
})
