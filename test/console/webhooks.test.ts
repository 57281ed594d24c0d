import { expect, test } from 'bun:test'
import type { App, DeliveryAttempt, Overview, OverviewDestination } from '../../src/client/client.ts'
import {
  type Sources,
  destinationsOf,
  fineText,
  stateText,
  withAddresses,
} from '../../src/console/page/webhooks/destination.ts'
import { filterOf } from '../../src/console/page/search/filters.ts'
import { WORDS, openedOf, queryOf } from '../../src/console/page/webhooks/filters.ts'
import { adviceOf, eventOf, redeliverAsCurl, retryText, shortReason } from '../../src/console/page/webhooks/words.ts'

const NOW = Date.parse('2026-11-27T14:00:00Z')

const app = (appId: string, name: string, webhookUrl: string | null, isActive = true): App => ({
  appId,
  name,
  webhookUrl,
  isActive,
  tenantId: 'tenant_1',
  role: 'app',
  apiKeyPrefix: 'sgw_',
  lastUsedAt: null,
  createdAt: '',
  updatedAt: '',
})

const used = (appId: string, changes: Partial<OverviewDestination> = {}): OverviewDestination => ({
  url: `https://${appId}.example/old`,
  kind: 'app',
  appId,
  success: 10,
  failed: 0,
  p95Ms: 90,
  failingSince: null,
  failures: 0,
  lastOutcome: 'success',
  lastStatusCode: 200,
  neverArrived: 0,
  neverArrivedSince: null,
  ...changes,
})

const FAILING: Partial<OverviewDestination> = {
  failed: 3,
  failingSince: '2026-11-27T13:58:00Z',
  failures: 3,
  lastOutcome: 'http_error',
  lastStatusCode: 500,
}

const sources = (apps: App[], destinations: OverviewDestination[], triggers: Sources['triggers'] = []): Sources => ({
  overview: { destinations } as unknown as Overview,
  apps,
  triggers,
})

test('destinations are what is in use and what was used; what fails stands first, what is left behind last', () => {
  const found = destinationsOf(
    sources(
      [
        app('app_a', 'alpha', 'https://a.example/new'),
        app('app_b', 'beta', 'https://b.example/'),
        app('app_c', 'no address', null),
        app('app_d', 'ended', 'https://d.example/', false),
      ],
      [used('app_a'), used('app_b', FAILING), used('app_d')],
      [{ triggerId: 'trg_1', callbackUrl: 'https://t.example/', createdAt: '' }],
    ),
  )
  expect(found.map(({ id, isInUse }) => [id, isInUse])).toEqual([
    ['app_b', true],
    ['app_a', true],
    ['trg_1', true],
    ['app_d', false],
  ])
  expect(found.map((each) => stateText(each, NOW))).toEqual([
    expect.stringMatching(/^answers 500 since .*, 3 attempts failed$/),
    '10 delivered in 24 hours',
    'nothing posted in 24 hours',
    'no webhooks are posted there now',
  ])
})

test('of two destinations that fail as often the one that began earlier stands first, as in the heading', () => {
  const apps = [app('app_a', 'alpha', 'https://a.example/'), app('app_b', 'beta', 'https://b.example/')]
  const earlier = used('app_b', { ...FAILING, failingSince: '2026-11-27T13:00:00Z' })
  expect(destinationsOf(sources(apps, [used('app_a', FAILING), earlier])).map(({ id }) => id)).toEqual([
    'app_b',
    'app_a',
  ])
})

test('the row of the destination that the heading tells says its figures, and not the fault again', () => {
  const [worst] = destinationsOf(sources([app('app_a', 'alpha', 'https://a.example/')], [used('app_a', FAILING)]))
  if (worst === undefined) throw new Error('There is no destination')
  expect(stateText(worst, NOW, true)).toBe('10 delivered, 3 failed in 24 hours')
  expect(stateText(worst, NOW)).toMatch(/^answers 500 since /)
})

test('a destination where a delivery never arrived stands before one that is well, also if it was not used for a day', () => {
  const apps = [app('app_a', 'alpha', 'https://a.example/'), app('app_b', 'beta', 'https://b.example/')]
  const unused = { success: 0, failed: 0, p95Ms: null }
  const lost = used('app_b', { ...unused, neverArrived: 4, neverArrivedSince: '2026-11-27T11:47:00Z' })
  const found = destinationsOf(sources(apps, [used('app_a'), lost]))
  expect(found.map(({ id }) => id)).toEqual(['app_b', 'app_a'])
  expect(found.map((each) => stateText(each, NOW))).toEqual([
    expect.stringMatching(/^4 never arrived, since .*47/),
    '10 delivered in 24 hours',
  ])
  expect(found.map((each) => stateText(each, NOW, true))).toEqual([
    'nothing posted in 24 hours',
    '10 delivered in 24 hours',
  ])
  expect(fineText(found)).toBe('The destination answers: 10 delivered in 24 hours, none failed.')
})

test('a destination is named by its address of now, also where another one was used last', () => {
  const known = sources([app('app_a', 'alpha', 'https://a.example/new')], [used('app_a', FAILING)])
  const [shown] = destinationsOf(known)
  expect(shown?.url).toBe('https://a.example/new')
  expect(withAddresses(known.overview, destinationsOf(known)).destinations[0]?.url).toBe('https://a.example/new')
})

test('the heading claims nothing that is not known', () => {
  const alpha = app('app_a', 'alpha', 'https://a.example/')
  const text = (...given: Parameters<typeof sources>) => fineText(destinationsOf(sources(...given)))
  expect(fineText(null)).toBe('Webhooks')
  expect(text([], [])).toBe('No webhook address is set.')
  expect(text([alpha], [])).toBe('No webhooks in 24 hours.')
  expect(text([alpha], [used('app_a')])).toBe('The destination answers: 10 delivered in 24 hours, none failed.')
  expect(text([alpha], [used('app_a', { failed: 2 })])).toBe(
    'The destination answers now; 2 of 12 attempts failed in 24 hours.',
  )
})

const attempt = (changes: Partial<DeliveryAttempt>): DeliveryAttempt => ({
  tenantId: 'tenant_1',
  kind: 'app',
  appId: 'app_a',
  messageId: 'msg_1',
  url: 'https://a.example/',
  outcome: 'http_error',
  durationMs: 5,
  attemptedAt: '2026-11-27T13:58:00Z',
  deliveryId: 'msg_1:app_a',
  attemptNumber: 1,
  ...changes,
})

test('a failed attempt says why, what the gateway does by itself, and what a person can do', () => {
  const answered = (statusCode: number) => attempt({ statusCode })
  expect(shortReason(answered(500))).toBe('answered 500')
  expect(shortReason(attempt({ outcome: 'timeout' }))).toBe('no answer in 5 s')
  const blocked = attempt({ outcome: 'network_error', errorClass: 'BlockedAddress' })
  expect(shortReason(blocked)).toBe('address not allowed')
  expect(adviceOf(blocked)).toContain('WEBHOOK_ALLOW_CIDRS')
  expect(adviceOf(answered(302))).toContain('Redirects are not followed')
  expect(adviceOf(answered(401))).toContain('signature')
  expect(retryText('none', answered(500))).toBe('It is not tried again automatically.')
  expect(retryText('short', answered(500))).toContain('5 times')
  expect(retryText('short', attempt({ attemptNumber: 6 }))).toBe('It is not tried again automatically.')
  expect(retryText('standard', answered(410))).toBe('It is not tried again automatically.')
})

test('a delivery says which event it is of', () => {
  expect(eventOf({ deliveryId: 'msg_1:trg_1' })).toBe('Received text')
  expect(eventOf({ deliveryId: 'msg_1:app_a:sms_delivery' })).toBe('Delivered or not')
  expect(eventOf({ deliveryId: 'msg_1:app_a:newer_event' })).toBe('newer_event')
})

test('an address opens a destination or a delivery, and filters by what the API knows', () => {
  expect(openedOf('')).toBeNull()
  expect(openedOf('trg_1')).toEqual({ destination: 'trg_1' })
  expect(openedOf('msg_1:app_a:sms_status 2')).toEqual({ deliveryId: 'msg_1:app_a:sms_status', messageId: 'msg_1' })
  expect(queryOf(filterOf(WORDS, { app: 'app_a', outcome: 'timeout', id: 'app_a', text: 'x' }))).toEqual({
    appId: 'app_a',
    triggerId: undefined,
    messageId: undefined,
    outcome: 'timeout',
  })
  expect(redeliverAsCurl('msg_1:app_a', 'http://h')).toContain('/msg_1%3Aapp_a/redeliver')
})
