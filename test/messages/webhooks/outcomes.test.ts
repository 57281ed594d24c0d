import { expect, test } from 'bun:test'
import { postTestAlert } from '../../../src/operator/alerts/post-alert.ts'
import { WEBHOOK_TIMEOUT_MS } from '../../../src/core/limits.ts'
import * as to from '../../net/outbound/destinations.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts } from '../../support/provider-events.ts'
import { setRetryPolicy, setWebhookUrl, untilNoJobs } from '../../support/retries.ts'
import { createApp } from '../../../src/operator/apps.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const LONG = 'é'.repeat(1000)
const SNIPPET = 'é'.repeat(128)
const error = (errorClass: string): object => ({ errorClass, errorMessage: expect.stringMatching(/^.{1,500}$/) })
const success = (statusCode = 200): object => ({ outcome: 'success', statusCode })
const httpError = (statusCode: number, responseSnippet: string): object => ({
  outcome: 'http_error',
  statusCode,
  responseSnippet,
  errorMessage: expect.stringMatching(new RegExp(`answered ${statusCode}`)),
})
const networkError = (errorClass: string): object => ({ outcome: 'network_error', ...error(errorClass) })
const timeout = { outcome: 'timeout', ...error('TimeoutError') }

const CASES: [name: string, behaviour: to.Behaviour, fields: object][] = [
  ['200', to.says(to.response('200 OK', 'thanks')), success()],
  ['204', to.says('HTTP/1.1 204 No Content\r\n\r\n'), success(204)],
  ['302', to.says(to.response('302 Found', 'moved', 'Location: http://127.0.0.1/\r\n')), httpError(302, 'moved')],
  ['404 with JSON', to.says(to.response('404 Not Found', '{"error":"no"}')), httpError(404, '{"error":"no"}')],
  ['410 of an app', to.says(to.response('410 Gone', 'gone')), httpError(410, 'gone')],
  ['500 with a long body', to.says(to.response('500 Oops', LONG)), httpError(500, SNIPPET)],
  ['503 without a body', to.says(to.response('503 No')), httpError(503, '')],
  [
    'a failure whose body hangs',
    to.saysAndHangs('HTTP/1.1 502 Bad\r\nContent-Length: 9\r\n\r\nhalf'),
    httpError(502, 'half'),
  ],
  ['hangs', to.hangs, timeout],
  ['drips an interim response', to.drips('HTTP/1.1 103 Early Hints\r\n', 'X-A: b\r\n'), timeout],
  ['a failure whose headers drip', to.drips('HTTP/1.1 500 No\r\n', 'X-A: b\r\n'), httpError(500, '')],
  ['streams a success for ever', to.floods('HTTP/1.1 200 OK\r\n\r\n', LONG), success()],
  ['streams a failure for ever', to.floods('HTTP/1.1 500 No\r\n\r\n', LONG), httpError(500, SNIPPET)],
  ['gzip bomb', to.gzipBomb(), success()],
  ['garbage', to.says('\0\u0001\u0002garbage\r\n\r\n'), networkError('HPE_INVALID_CONSTANT')],
  ['resets', to.resets, networkError('ECONNRESET')],
  ['closes without an answer', to.closes, networkError('ECONNRESET')],
  ['endless headers', to.floods('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'.repeat(1000)), success()],
]
/** These destinations use up the time limit of a POST. */
const ENDED_BY_THE_CLOCK = [
  'a failure whose body hangs',
  'hangs',
  'drips an interim response',
  'a failure whose headers drip',
]

test('every kind of destination leads to its outcome within 5 s, with the right fields', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, env: { MAX_APPS_PER_TENANT: '200' } })
  await using stack = new AsyncDisposableStack()
  const expected = new Map<string, { name: string; url: string; fields: object }>()
  const add = async (name: string, url: string, fields: object): Promise<void> => {
    const { appId } = await createApp(world.gateway, { tenantId: world.tenantId, name, webhookUrl: url, role: 'app' })
    expected.set(appId, { name, url, fields })
  }
  for (const [name, behaviour, fields] of CASES)
    await add(name, urlOf(stack.use(await to.startDestination(behaviour))), fields)
  const gone = await to.startDestination(to.hangs)
  await gone[Symbol.asyncDispose]()
  await add('refuses', urlOf(gone), networkError('ECONNREFUSED'))
  await add('does not resolve', 'https://nowhere.invalid/hook', networkError('ENOTFOUND'))
  const secure = stack.use(await to.startTlsDestination(to.says(to.response('200 OK'))))
  await add('fails TLS', urlOf(secure, 'https'), networkError('DEPTH_ZERO_SELF_SIGNED_CERT'))
  await add('speaks no TLS', urlOf(stack.use(await to.startDestination(to.says('HTTP/1.1 200 OK\r\n\r\n'))), 'https'), {
    outcome: 'network_error',
  })

  await world.control.injectSms({ text: 'to everybody' })
  const logged = (count: number): Promise<Record<string, unknown>[]> =>
    until(async () => {
      const found = await attempts(world)
      return found.length >= count ? found : null
    })
  await logged(expected.size - ENDED_BY_THE_CLOCK.length)
  clock.advance(WEBHOOK_TIMEOUT_MS - 1)
  expect(await attempts(world)).toHaveLength(expected.size - ENDED_BY_THE_CLOCK.length)
  clock.advance(1)
  const log = await logged(expected.size)
  for (const attempt of log) {
    const { name, url, fields } = expected.get(String(attempt['appId']))!
    if (name !== 'speaks no TLS') expect({ name, ...attempt }).toEqual({ name, ...common(attempt, url), ...fields })
    if (fields === timeout) expect(attempt['durationMs']).toBe(WEBHOOK_TIMEOUT_MS)
    expect(String(attempt['errorMessage'])).not.toContain('127.0.0.1')
  }
  expect(new Set(log.map((attempt) => attempt['correlationId'])).size).toBe(1)
})

test('a destination that answers 200 with a header twice has the message: it is not posted again', async () => {
  const doubled = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'
  await using destination = await to.startDestination(to.says(doubled))
  await using world = await createWorld()
  await setWebhookUrl(world, urlOf(destination))
  await setRetryPolicy(world, 'short')
  await world.control.injectSms({ text: 'once' })
  const [attempt] = await until(async () => ((await attempts(world)).length > 0 ? attempts(world) : null))
  expect(attempt).toMatchObject(success())
  expect(attempt).not.toHaveProperty('errorClass')
  await untilNoJobs(world)
  const tested = await world.call('POST', `/v1/apps/${world.app.appId}/test-webhook`)
  expect(await tested.json()).toEqual({ ok: true, body: '' })
  expect(await postTestAlert(world.gateway, urlOf(destination))).toMatchObject(success())
  expect(destination.received).toHaveLength(3)
})

const urlOf = (destination: to.Destination, scheme = 'http'): string => `${scheme}://127.0.0.1:${destination.port}/hook`

const common = (attempt: Record<string, unknown>, url: string): Record<string, unknown> => ({
  tenantId: expect.stringMatching(/^tenant_/),
  kind: 'app',
  appId: attempt['appId'],
  messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/),
  url,
  durationMs: expect.any(Number),
  attemptedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  deliveryId: `${String(attempt['messageId'])}:${String(attempt['appId'])}`,
  attemptNumber: 1,
  correlationId: expect.stringMatching(/^cor_[0-9a-f]{16}$/),
})

test('100 hanging destinations of a tenant do not delay its other destinations', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, env: { MAX_APPS_PER_TENANT: '200' } })
  await using stack = new AsyncDisposableStack()
  const hanging = await hangingApps(world, stack, 100)
  const healthy = stack.use(await to.startDestination(to.says(to.response('200 OK'))))
  await createApp(world.gateway, { tenantId: world.tenantId, name: 'Healthy', webhookUrl: urlOf(healthy), role: 'app' })
  await world.control.injectSms({ text: 'to everybody' })
  await until(() => healthy.received.length === 1, 10_000)
  await until(() => reached(hanging) === hanging.length, 10_000)
})

const reached = (destinations: readonly to.Destination[]): number =>
  destinations.filter(({ received }) => received.length > 0).length

async function hangingApps(world: World, stack: AsyncDisposableStack, count: number): Promise<to.Destination[]> {
  const destinations: to.Destination[] = []
  for (let index = 0; index < count; index++) {
    const destination = stack.use(await to.startDestination(to.hangs))
    const webhookUrl = urlOf(destination)
    destinations.push(destination)
    await createApp(world.gateway, { tenantId: world.tenantId, name: `Hanging ${index}`, webhookUrl, role: 'app' })
  }
  return destinations
}
