import { expect, test } from 'bun:test'
import type { ExtensionHealth, Overview, OverviewTotals } from '../../src/client/client.ts'
import type { KnownAlert } from '../../src/console/page/state/alert.ts'
import { factsOfAll } from '../../src/console/page/all/tenant-facts.ts'
import { DAY } from '../../src/console/page/overview/ranges.ts'
import { type Fact, isMuted, worstFirst } from '../../src/console/page/facts/fact.ts'
import { alertFacts, knownAlert } from '../../src/console/page/facts/alert-facts.ts'
import { factsOf } from '../../src/console/page/facts/facts-of.ts'
import { troublesOf } from '../../src/console/page/facts/troubles-of.ts'
import { rowTime } from '../../src/console/page/state/clock.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'
import type { Standing } from '../../src/console/page/state/standing.ts'
import type { Trouble } from '../../src/console/page/state/view-names.ts'
import { CONDITIONS } from '../../src/operator/conditions/table.ts'
import { traitsOf } from '../../src/operator/conditions/traits.ts'
import { tenantOf } from '../support/all-tenants.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString()

/** Faults from the worst, what each makes of a standing without faults, and its sentence. */
const FAULTS: readonly [name: string, sentence: string, change: (standing: Standing) => Standing][] = [
  ['no number', 'No number is connected yet', (standing) => ({ ...standing, extensions: [] })],
  [
    'revoked',
    'Extension 101 was revoked: +15035550100 cannot send or receive',
    withExtension({ status: 'revoked', reason: 'Its authorization has ended', since: at(30) }),
  ],
  [
    'tokens',
    'Extension 101: its tokens could not be refreshed',
    withExtension({ status: 'refresh_failed', reason: 'Its tokens could not be refreshed', since: at(20) }),
  ],
  [
    'paused',
    '17 messages wait: RingCentral paused extension 101 until 14:32:00',
    withOverview({
      waiting: [
        { reason: 'provider_paused', extensionId: 'ext_1', until: at(-6), count: 17, since: at(4), began: at(5) },
      ],
    }),
  ],
  [
    'late',
    'Extension 101: it has no active subscription, so its messages arrive up to a minute late',
    withExtension({
      status: 'active',
      reason: 'It has no active subscription, so its messages arrive up to a minute late',
      since: at(20),
    }),
  ],
  [
    'webhooks',
    'shop.example answers 500: 14 attempts failed',
    withOverview({
      destinations: [
        {
          url: 'https://shop.example/hook',
          kind: 'app',
          appId: 'app_1',
          success: 100,
          failed: 20,
          p95Ms: 90,
          failingSince: at(28),
          failures: 14,
          lastOutcome: 'http_error',
          lastStatusCode: 500,
          neverArrived: 0,
          neverArrivedSince: null,
        },
      ],
    }),
  ],
  [
    'failures',
    '14 of 1,204 failed in 24 hours, 1 the day before; 3 not delivered',
    withOverview({
      totals: totals({ accepted: 1206, failed: 16, cancelled: 2, undelivered: 3, sent: 1187 }),
      previous: totals({ accepted: 900, failed: 1, sent: 899 }),
    }),
  ],
]

for (const [index, [worse, sentence, changeWorse]] of FAULTS.entries())
  for (const [milder, other, changeMilder] of FAULTS.slice(index + 1)) {
    // Of one extension only one fault can be told.
    const isOneExtension = [worse, milder].every((name) => ['no number', 'revoked', 'tokens', 'late'].includes(name))
    test(`${worse} is said before ${milder}, which ${isOneExtension ? 'is not there' : 'stands beneath'}`, () => {
      const { worst, others } = worstFirst(factsOf(changeWorse(changeMilder(FINE)), NOW, []))
      expect(textOf(worst)).toBe(sentence)
      expect(others.map(textOf)).toEqual(isOneExtension ? [] : [worse === 'no number' ? pausedOf(other) : other])
    })
  }

test('what waits is as old as its oldest text, and each paused extension is named with the last end', () => {
  const [own] = FINE.extensions
  const second = own === undefined ? [] : [{ ...own, extensionId: 'ext_2', extensionNumber: '102' }]
  const waiting = [
    { reason: 'provider_paused', extensionId: 'ext_1', until: at(-6), count: 17, since: at(4), began: at(3) },
    { reason: 'order', count: 5, since: at(30), began: null },
    { reason: 'provider_paused', extensionId: 'ext_2', until: at(-8), count: 4, since: at(9), began: at(2) },
  ] as const
  const standing = withOverview({ waiting: [...waiting] })({ ...FINE, extensions: [...FINE.extensions, ...second] })
  const { worst } = worstFirst(factsOf(standing, NOW, []))
  expect(textOf(worst)).toBe('26 messages wait: RingCentral paused extensions 101 and 102 until 14:34:00')
  expect(worst?.since).toBe(at(30))
})

test('what never arrived is said and counted until it is made again, whether its destination answers again or fails', () => {
  const destination = {
    url: 'https://shop.example/hook',
    kind: 'app',
    appId: 'app_1',
    success: 100,
    failed: 4,
    p95Ms: 90,
    failingSince: null,
    failures: 0,
    lastOutcome: 'success',
    lastStatusCode: 200,
    neverArrived: 4,
    neverArrivedSince: at(150),
  } as const
  const told = (change: Partial<Standing['overview']['destinations'][number]>) => {
    const standing = withOverview({ destinations: [{ ...destination, ...change }] })(FINE)
    const { worst } = worstFirst(factsOf(standing, NOW, []))
    return [textOf(worst), worst?.count, worst?.since, troublesOf(standing, NOW).webhooks]
  }
  const since = rowTime(at(150), NOW)
  const trouble = (count: number): Trouble => ({ count, kind: 'bad', word: 'never arrived' })
  expect(told({})).toEqual([
    `shop.example answers again. 4 deliveries never arrived, the oldest since ${since}`,
    4,
    null,
    trouble(4),
  ])
  expect(told({ neverArrived: 1 })).toEqual([
    `shop.example answers again. 1 delivery never arrived since ${since}`,
    1,
    null,
    trouble(1),
  ])
  const failing = { failingSince: at(28), failures: 14, lastOutcome: 'http_error', lastStatusCode: 500 } as const
  expect(told(failing)).toEqual(['shop.example answers 500: 4 deliveries never arrived', 4, at(28), trouble(4)])
})

test('without a fault there is no fact, and nothing is counted', () => {
  expect(worstFirst(factsOf(FINE, NOW, []))).toEqual({ worst: null, others: [] })
  expect(troublesOf(FINE, NOW)).toEqual({ all: null, messages: null, webhooks: null, numbers: null })
})

test('of an extension whose JWT has ended, the advice names the JWT before it says to make another one', () => {
  const fix = 'Make another one in the developer console: sgw extensions connect-jwt --tenant T --jwt-file FILE.'
  const change = { status: 'revoked', connectedBy: 'jwt', reason: 'Its JWT is no longer accepted', fix } as const
  const { worst } = worstFirst(factsOf(withExtension(change)(FINE), NOW, []))
  expect(worst?.advice).toBe(`Its JWT is no longer accepted. ${fix}`)
})

test('the rail counts the worst that a view has, and no milder fact with it', () => {
  const counted = (view: 'messages' | 'webhooks' | 'numbers', ...names: string[]) => {
    const changes = FAULTS.filter(([name]) => names.includes(name))
    const standing = changes.reduce((changed, [, , change]) => change(changed), FINE)
    return troublesOf(standing, NOW)[view]
  }
  expect(counted('messages', 'paused')).toEqual({ count: 17, kind: 'warn', word: 'waiting' })
  expect(counted('messages', 'failures')).toEqual({ count: 17, kind: 'bad', word: 'failed' })
  const all = ['revoked', 'paused', 'webhooks', 'failures']
  expect(counted('messages', ...all)).toEqual({ count: 17, kind: 'warn', word: 'waiting' })
  expect(counted('webhooks', ...all)).toEqual({ count: 14, kind: 'bad', word: 'failed attempts' })
  expect(counted('numbers', ...all)).toEqual({ count: 1, kind: 'bad', word: 'cannot send' })
  expect(counted('numbers', 'no number')).toEqual({ count: 1, kind: 'bad', word: 'needs a number' })
  expect(counted('numbers', 'late')).toEqual({ count: 1, kind: 'warn', word: 'needs attention' })
  const paused = withExtension({ pausedUntil: at(-6) })(FINE)
  expect(troublesOf(paused, NOW).numbers).toEqual({ count: 1, kind: 'warn', word: 'paused' })
  const numberless = withExtension({ phoneNumbers: [] })(FINE)
  expect(troublesOf(numberless, NOW).numbers).toEqual({ count: 1, kind: 'bad', word: 'cannot send' })
})

test('what is muted is in neither the sentence nor the rail, and other tenants in trouble are counted beside All tenants', () => {
  const [revoked, paused, webhooks] = ['revoked', 'paused', 'webhooks'].map(
    (name) => FAULTS.find(([fault]) => fault === name)?.[2] ?? ((standing: Standing) => standing),
  )
  const faulty = [revoked, paused, webhooks].reduce((changed, change) => change?.(changed) ?? changed, FINE)
  const alerts = [
    firing('extension_revoked', 'ext_1'),
    firing('queue_old', 'gateway'),
    firing('webhook_failing', 'app_1'),
  ]
  expect(troublesOf(faulty, NOW, { own: alerts, others: 2 })).toMatchObject({
    all: { count: 2, kind: 'bad' },
    webhooks: { count: 14 },
  })
  expect(factsOf(faulty, NOW, alerts).filter(isMuted)).toEqual([])
  const muted = alerts.map((alert) => ({ ...alert, mutedUntil: 'over', mutedBy: 'cli' as const }))
  const facts = factsOf(faulty, NOW, muted)
  const { worst, others } = worstFirst(facts)
  expect([worst, ...others]).toEqual([null])
  expect(
    facts
      .filter(isMuted)
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual(['app_1', 'ext_1', 'waiting'])
  const own = [...muted, firing('extension_failing', 'ext_1')]
  expect(worstFirst(factsOf(faulty, NOW, own)).worst?.key).toBe('ext_1')
  const silent = { messages: null, webhooks: null, numbers: null }
  expect(troublesOf(faulty, NOW, { own: muted, others: 0 })).toMatchObject({ all: null, ...silent })
  // A tenant that cannot send at all is never silent.
  const none = [...muted, firing('no_extension_can_send', 'tenant_1')]
  expect(troublesOf(faulty, NOW, { own: none, others: 0 })).toMatchObject({ ...silent, numbers: { count: 1 } })
})

test.each([...CONDITIONS.map(({ alert }) => alert), 'one_of_a_newer_server'])(
  '%s is told once: by the fact that has figures about it, else in its own words',
  (name) => {
    const { toldBy } = traitsOf(name)
    const faulty = FAULTS.filter(([fault]) => ['paused', 'late', 'webhooks'].includes(fault))
    const standing = faulty.reduce((changed, [, , change]) => change(changed), FINE)
    const keys = { waiting: 'waiting', extension: 'ext_1', webhook: 'app_1' }
    const subject = toldBy === undefined || toldBy === 'waiting' ? 'tenant_1' : keys[toldBy]
    const told = { ...firing(name, subject), what: 'Something of tenant_1 is wrong', fix: 'Mend it.' }
    const isOf = (fact: Fact): boolean => fact.alerts?.some((alert) => alert.alert === name) ?? false
    const facts = factsOf(standing, NOW, [told])
    const [fact, ...more] = [...facts, ...alertFacts([told], facts, standing.overview, NOW)].filter(isOf)
    expect(more).toEqual([])
    if (toldBy !== undefined) expect(fact?.key).toBe(keys[toldBy])
    else if (name === 'no_extension_can_send') expect(textOf(fact ?? null)).toBe('None of the extensions can send')
    else
      expect([textOf(fact ?? null), fact?.advice]).toEqual(['Something of Own is wrong', expect.stringMatching(/.\.$/)])
    const all = { from: at(1440), to: at(0), total: 1, alerts: [told] }
    const tenants = [tenantOf('tenant_1', 'Own', 100, { waiting: 17, neverArrived: 1 })]
    const ofAll = factsOfAll({ ...all, tenants }, { range: DAY, hasLinks: true }).filter(isOf)
    expect(ofAll.map(({ tenantId }) => tenantId)).toEqual(['tenant_1'])
  },
)

test('an alert about the gateway itself is told on each overview, whatever its subject, and so is each of two subjects', () => {
  const alerts = ['disk', 'commits'].map((subject) => {
    const { tenantId: _id, tenantName: _name, ...alert } = firing('storage_failing', subject)
    return { ...alert, what: `The ${subject} of sgw.db fails` }
  })
  const facts = alertFacts(alerts, factsOf(FINE, NOW, alerts), FINE.overview, NOW)
  expect(facts.map(textOf)).toEqual(['The disk of sgw.db fails', 'The commits of sgw.db fails'])
  expect(new Set(facts.map(({ key }) => key)).size).toBe(2)
})

/** An alert of the tenant. */
const firing = (alert: string, subject: string): KnownAlert => {
  const words = { text: '', what: '', fix: '' }
  return knownAlert({ alert, subject, ...words, since: at(90), tenantId: 'tenant_1', tenantName: 'Own', detail: {} })
}

test('of two facts that are as bad the one of more things wins, then the older one', () => {
  const fact = (key: string, count: number, since: string): Fact => ({
    key,
    count,
    since,
    rank: 'webhooks',
    kind: 'bad',
    icon: 'webhook',
    parts: [key],
    advice: '',
    action: null,
  })
  const { worst, others } = worstFirst([fact('few', 2, at(90)), fact('late', 9, at(1)), fact('early', 9, at(60))])
  expect([worst, ...others].map((each) => each?.key)).toEqual(['early', 'late', 'few'])
})

/** A standing without faults: one extension, and a day of traffic. */
const FINE: Standing = {
  readAt: NOW,

  extensions: [
    {
      extensionId: 'ext_1',
      rcAccountId: 'acc_1',
      extensionNumber: '101',
      name: 'Front desk',
      status: 'active',
      reason: null,
      since: null,
      fix: null,
      phoneNumbers: ['+15035550100'],
      windowUsed: 0,
      windowLimit: 40,
      pausedUntil: null,
      subscription: { status: 'active', expiresAt: at(-600) },
      accessExpiresAt: at(-60),
      refreshExpiresAt: at(-9000),
      lastInboundAt: null,
    },
  ],
  overview: {
    from: at(1440),
    to: at(0),
    totals: totals({ accepted: 1204, sent: 1204 }),
    previous: totals({ accepted: 900, sent: 900 }),
    buckets: [],
    p50Ms: 900,
    p95Ms: 2400,
    queued: 0,
    scheduled: 0,
    oldestQueuedAt: null,
    waiting: [],
    errors: [],
    destinations: [],
  },
}

function totals(some: Partial<OverviewTotals>): OverviewTotals {
  return { accepted: 0, sent: 0, failed: 0, cancelled: 0, received: 0, delivered: 0, undelivered: 0, ...some }
}

function withExtension(change: Partial<ExtensionHealth>) {
  return (standing: Standing): Standing => ({
    ...standing,
    extensions: standing.extensions.map((extension) => ({ ...extension, ...change })),
  })
}

function withOverview(change: Partial<Overview>) {
  return (standing: Standing): Standing => ({ ...standing, overview: { ...standing.overview, ...change } })
}

const textOf = (fact: Fact | null): string =>
  (fact?.parts ?? [])
    .map((part) => (typeof part === 'string' ? part : 'number' in part ? part.number : part.text))
    .join('')

/** The gateway names no extension that is not there. */
const pausedOf = (sentence: string): string => sentence.replace('extension 101', 'the extension')
