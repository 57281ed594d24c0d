import { expect, test } from 'bun:test'
import type { ExtensionHealth, Overview, OverviewTotals } from '../../src/client/client.ts'
import { factsOfAll } from '../../src/console/page/all/tenant-facts.ts'
import { type Part, worstFirst } from '../../src/console/page/facts/fact.ts'
import { areFailuresUsual } from '../../src/console/page/facts/facts-of.ts'
import { alertFacts, knownAlert } from '../../src/console/page/facts/alert-facts.ts'
import { axisOf, barsOf } from '../../src/console/page/overview/bars.ts'
import { csvOf } from '../../src/console/page/overview/csv.ts'
import type { Alert, KnownAlert } from '../../src/console/page/state/alert.ts'
import { type Segment, numbersSentence, wireOf } from '../../src/console/page/overview/wire.ts'
import { DAY } from '../../src/console/page/overview/ranges.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'
import { tenantOf } from '../support/all-tenants.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString()
const said = ({ figure, word, kind }: Segment): string => `${figure} ${word}, ${kind}`.trim()

const OTHER = { phoneNumbers: ['+15035550101'] }
const THIRD = { phoneNumbers: ['+15035550102'] }

test('the wire of a gateway that is fine has a count on each line', () => {
  const wire = wireOf(
    overview({ totals: { accepted: 1204, sent: 1203, delivered: 1151, received: 388 } }),
    [extension({})],
    NOW,
  )
  expect(wire.stations.map(({ name }) => name)).toEqual(['Your apps', 'Gateway', 'RingCentral', 'Phones'])
  expect(wire.out.map(said)).toEqual(['1,204 accepted, plain', '1,203 sent, plain', '1,151 delivered, plain'])
  expect(wire.back.map(said)).toEqual(['– passed on, plain', '388 received, plain', '388 texts, plain'])
  expect(wire.stations[1].lines.map(({ text }) => text)).toEqual(['queue empty', '– to send'])
})

test('what is not known of deliveries is a dash, and no zero', () => {
  const wire = wireOf(overview({ totals: { accepted: 3, sent: 3 } }), [extension({})], NOW)
  expect(said(wire.out[2])).toBe('– delivered, plain')
})

test('each break of the wire stands where it is, with its count', () => {
  const waiting = [
    { reason: 'provider_paused', count: 17, since: at(4), began: at(5) },
    { reason: 'scheduled', count: 9, since: at(600), began: null },
  ] as const
  const paused = wireOf(overview({ waiting: [...waiting] }), [extension({})], NOW)
  expect(said(paused.out[1])).toBe('17 wait, warn')
  expect(paused.stations[1].lines[0]).toEqual({ text: '17 wait, oldest 4 min', kind: 'warn' })
  const revoked = wireOf(
    overview({ waiting: [...waiting] }),
    [extension({}), extension({ status: 'revoked', ...OTHER })],
    NOW,
  )
  expect(said(revoked.out[1])).toBe('1 cannot send, bad')
  expect(said(revoked.back[1])).toBe('1 cannot receive, bad')
  expect(revoked.stations[2].lines[0]).toEqual({ text: '1 of 2 numbers send', kind: 'bad' })
  const pause = extension({ pausedUntil: at(-6) })
  const numbersOf = (...extensions: ExtensionHealth[]) => wireOf(overview({}), extensions, NOW).stations[2].lines[0]
  expect(numbersOf(extension({ status: 'revoked', ...OTHER }), pause, { ...pause, ...THIRD })).toEqual({
    text: '1 cannot send, 2 paused',
    kind: 'bad',
  })
  expect(numbersOf(extension({}), { ...pause, ...OTHER })).toEqual({ text: '1 of 2 numbers paused', kind: 'warn' })
  expect(numbersOf(extension({ pausedUntil: at(1) }))).toEqual({ text: '1 number', kind: 'plain' })
  expect(numbersOf(extension({ status: 'refresh_failed', pausedUntil: at(-6), ...OTHER }), pause)).toEqual({
    text: '1 cannot send, 1 paused',
    kind: 'bad',
  })
  const late = wireOf(overview({}), [extension({ reason: 'It has no active subscription' })], NOW)
  expect([late.out[1], late.back[1]].map(said)).toEqual(['0 sent, plain', '1 late, warn'])
  const failing = wireOf(overview({ destinations: [destination(14), destination(0)] }), [extension({})], NOW)
  expect(said(failing.back[0])).toBe('14 failed, bad')
  const none = wireOf(overview({}), [], NOW)
  expect([none.out[1], none.back[1]].map(said)).toEqual(['no number, bad', 'no number, bad'])
})

test('a number of a call queue that two extensions list counts once, and sends while one of them does', () => {
  const numbersOf = (...extensions: ExtensionHealth[]) => wireOf(overview({}), extensions, NOW).stations[2].lines[0]
  expect(numbersOf(extension({}), extension({}), extension(OTHER))).toEqual({ text: '2 numbers', kind: 'plain' })
  expect(numbersOf(extension({}), extension({ status: 'revoked' }))).toEqual({ text: '1 number', kind: 'plain' })
  expect(textOf(numbersSentence([extension({}), extension({})], NOW))).toBe('+15035550100 can send and receive')
})

test('the sentence counts the numbers that can send now', () => {
  const pause = extension({ pausedUntil: at(-6) })
  const text = (...extensions: ExtensionHealth[]) => textOf(numbersSentence(extensions, NOW))
  expect(text(extension({}), extension(OTHER))).toBe('All 2 numbers can send and receive')
  expect(text(extension({ pausedUntil: at(1) }))).toBe('+15035550100 can send and receive')
  expect(text(extension({}), { ...pause, ...OTHER }, { ...pause, ...THIRD })).toBe(
    '1 of 3 numbers can send now: RingCentral paused 2 until 14:32:00',
  )
  expect(text(pause, { ...pause, ...OTHER })).toBe('No number can send now: RingCentral paused 2 until 14:32:00')
  expect(text(pause)).toBe('No number can send now: RingCentral paused it until 14:32:00')
  expect(text(extension({ phoneNumbers: [] }))).toBe('The extension has no number for texts')
})

test('bars are parts of the highest one, what waits stands on the last, and little is seen as well', () => {
  const buckets = [
    { at: at(60), sent: 90, failed: 0, received: 10 },
    { at: at(30), sent: 0, failed: 1, received: 0 },
    { at: at(0), sent: 20, failed: 0, received: 0 },
  ]
  const waiting = [{ reason: 'order', count: 30, since: at(1), began: null }] as const
  const [high, little, last] = barsOf(overview({ buckets, waiting: [...waiting] }), NOW)
  expect(high).toEqual({
    title: '13:26:00: 90 sent, 10 received, 0 failed',
    sent: 90,
    received: 10,
    failed: 0,
    waiting: 0,
  })
  expect(little).toMatchObject({ sent: 0, failed: 1.5, waiting: 0 })
  expect(last).toMatchObject({ sent: 20, waiting: 30, title: '14:26:00: 20 sent, 0 received, 0 failed, 30 wait now' })
})

test('the axis names the day where it changes, and only days over a long range', () => {
  const every = (minutes: number) =>
    Array.from({ length: 48 }, (_, index) => ({ at: at((47 - index) * minutes), sent: 0, failed: 0, received: 0 }))
  expect(axisOf({ buckets: every(30) }, NOW)).toEqual(['23 Nov 14:56', '20:56', '02:56', '08:56', 'now'])
  expect(axisOf({ buckets: every(900) }, NOW).slice(0, 2)).toEqual(['Mon 26 Oct', 'Mon 2 Nov'])
})

test('alerts of the gateway are facts; those of the own tenant are facts already', () => {
  const alerts = [
    alert('backup_behind', 'The backup of /data/sgw.db has been behind for 10800 s', {
      fix: 'Keep the volume until it has caught up.',
      detail: { lagSeconds: 10_800 },
    }),
    alert('extension_revoked', 'Extension 7 of tenant_1 is revoked, so its messages fail', {
      fix: 'Authorize it again: sgw extensions invite.',
      subject: '7',
      tenantId: 'tenant_1',
      tenantName: 'Own',
    }),
    alert('storage_failing', 'The disk of /data/sgw.db has 57 MiB left', { fix: 'Make room.' }),
  ]
  const { worst, others } = worstFirst(alertFacts(alerts, [], overview({}), NOW))
  expect([worst, ...others].map((fact) => [fact?.rank, fact?.parts.join(''), fact?.advice])).toEqual([
    ['stopped', 'The disk of /data/sgw.db has 57 MiB left', 'Make room.'],
    ['system', 'The backup is 3 h behind', 'Keep the volume until it has caught up.'],
  ])
  expect([worst, ...others].map((fact) => fact?.action?.type)).toEqual(['show checks', 'show checks'])
})

test('failures are usual where they are few, and no more than the day before', () => {
  const failed = (now: number, before: number): Overview => {
    const { totals, previous, ...rest } = overview({ totals: { accepted: 100, failed: now } })
    return { ...rest, totals, previous: { ...previous, undelivered: before } }
  }
  expect(areFailuresUsual(failed(1, 1))).toBe(true)
  expect(areFailuresUsual(failed(2, 1))).toBe(false)
  expect(areFailuresUsual(failed(5, 9))).toBe(false)
})

test('an old queue is not told twice', () => {
  const alerts = [alert('queue_old', 'Message msg_1 has waited for 12 minutes', { fix: 'sgw status says why.' })]
  const queue = overview({ queued: 3, scheduled: 2, oldestQueuedAt: at(47) })
  const told = alertFacts(alerts, [], queue, NOW)
  expect(told.map(({ parts }) => textOf(parts))).toEqual(['One message has waited for 47 min'])
  const waits = told.map((fact) => ({ ...fact, key: 'waiting' }))
  expect(alertFacts(alerts, waits, queue, NOW)).toEqual([])
  // The newer figures deny it.
  expect(alertFacts(alerts, [], overview({ queued: 2, scheduled: 2 }), NOW)).toEqual([])
})

test('of all tenants, a few failures are usual, and many or most are not', () => {
  const factsAt = (sent: number, failed: number) => {
    const tenants = [tenantOf('tenant_2', 'Harbor Clinic', 0, { sent, failed })]
    const shown = { from: at(1440), to: at(0), total: 1, alerts: [], tenants }
    return factsOfAll(shown, { range: DAY, hasLinks: true }).map(({ parts }) => textOf(parts))
  }
  for (const [sent, failed] of [
    [0, 0],
    [11, 1],
    [20, 4],
    [1000, 40],
  ] as const)
    expect([sent, failed, factsAt(sent, failed)]).toEqual([sent, failed, []])
  expect(factsAt(0, 1)).toEqual(['Harbor Clinic: 1 of 1 message failed'])
  expect(factsAt(60, 5)).toEqual(['Harbor Clinic: 5 of 65 messages failed'])
})

test('what an alert says to a terminal is no sentence of the page', () => {
  const tenant = { tenantId: 'tenant_2', tenantName: 'Harbor Clinic' }
  const detail = { tenantId: 'tenant_2', extensionId: '9', reason: 'It has no active subscription' }
  const alerts = [
    alert('extension_revoked', 'Extension 9 of tenant_2 is revoked, so its messages fail', {
      ...tenant,
      subject: '9',
      detail,
      fix: 'Authorize it again with an invite link: sgw extensions invite --tenant tenant_2.',
    }),
    alert('webhook_failing', 'The webhook of app app_9 of tenant_2 has failed for an hour', {
      ...tenant,
      subject: 'app_9',
      fix: 'sgw webhooks list --app app_9 shows the errors. Once they are fixed, sgw webhooks recover delivers again.',
    }),
    alert('webhooks_interrupted', '3 webhooks were interrupted, and may not have arrived', {
      fix: 'sgw webhooks recover --since 2026-11-24T10:00:00.000Z posts again what failed since then.',
    }),
    alert('queue_old', 'Message msg_1 has waited for 12 minutes', { ...tenant, fix: 'sgw status says why.' }),
    ...['extension_not_receiving', 'extension_failing', 'jwt_ends'].map((name) =>
      alert(name, 'Extension 9 of tenant_2 does not receive events', {
        ...tenant,
        subject: '9',
        detail,
        fix: 'They are read again every 10 minutes; sgw doctor says whether RingCentral answers.',
      }),
    ),
  ]
  const tenants = [tenantOf('tenant_2', 'Harbor Clinic', 100, { waiting: 4 })]
  const shown = { from: at(1440), to: at(0), total: 1, alerts, tenants }
  const facts = [...alertFacts(alerts, [], overview({}), NOW), ...factsOfAll(shown, { range: DAY, hasLinks: true })]
  expect(facts.length).toBe(8)
  for (const fact of facts) {
    expect(`${textOf(fact.parts)} ${fact.advice}`).not.toMatch(/\bsgw |docs\/|tenant_2/)
    expect(fact.advice).toMatch(/^$|\.$/)
  }
})

test('an alert that the page has no words for is told in its own, with what to do', () => {
  const alerts = [alert('standby_missing', 'No standby has been seen for an hour', { fix: 'Start another gateway.' })]
  const [fact] = alertFacts(alerts, [], overview({}), NOW)
  expect([fact?.parts.join(''), fact?.advice]).toEqual([
    'No standby has been seen for an hour',
    'Start another gateway.',
  ])
})

test('the file of the usage is oldest first, and a name can be neither a column nor a formula', () => {
  const day = { appId: 'app_1', sent: 3, failed: 1, received: 2, segments: 4 }
  const days = [
    { ...day, date: '2026-11-24', media: 2 },
    { ...day, date: '2026-11-23', appId: 'app_2' },
  ]
  const names: Record<string, string> = { app_1: 'a "b", c', app_2: '=1+1' }
  expect(csvOf(days, (appId) => names[appId] ?? '')).toBe(
    [
      'date,appId,app,sent,failed,received,segments,media',
      "2026-11-23,app_2,'=1+1,3,1,2,4,0",
      '2026-11-24,app_1,"a ""b"", c",3,1,2,4,2',
      '',
    ].join('\r\n'),
  )
})

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : 'number' in part ? part.number : part.text)).join('')

function alert(name: string, what: string, { fix = '', ...more }: Partial<Alert>): KnownAlert {
  const words = { text: `${what}. ${fix}`, what, fix }
  return knownAlert({ alert: name, subject: 'gateway', ...words, since: at(30), detail: {}, ...more })
}

function overview({
  totals,
  ...change
}: Partial<Omit<Overview, 'totals'>> & { totals?: Partial<OverviewTotals> }): Overview {
  const none = { accepted: 0, sent: 0, failed: 0, cancelled: 0, received: 0, delivered: 0, undelivered: 0 }
  return {
    from: at(1440),
    to: at(0),
    totals: { ...none, ...totals },
    previous: none,
    buckets: [],
    p50Ms: null,
    p95Ms: null,
    queued: 0,
    scheduled: 0,
    oldestQueuedAt: null,
    waiting: [],
    errors: [],
    destinations: [],
    ...change,
  }
}

function extension(change: Partial<ExtensionHealth>): ExtensionHealth {
  return {
    extensionId: 'ext_1',
    rcAccountId: 'acc_1',
    extensionNumber: '101',
    name: null,
    status: 'active',
    reason: null,
    since: null,
    fix: null,
    phoneNumbers: ['+15035550100'],
    windowUsed: 0,
    windowLimit: 40,
    pausedUntil: null,
    subscription: { status: 'active', expiresAt: null },
    accessExpiresAt: at(-60),
    refreshExpiresAt: at(-9000),
    lastInboundAt: null,
    ...change,
  }
}

function destination(failures: number): Overview['destinations'][number] {
  return {
    url: 'https://shop.example/hook',
    kind: 'app',
    appId: 'app_1',
    success: 5,
    failed: failures,
    p95Ms: 90,
    failingSince: failures === 0 ? null : at(30),
    failures,
    lastOutcome: 'success',
    neverArrived: 0,
    neverArrivedSince: null,
  }
}
