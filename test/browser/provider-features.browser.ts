import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { FaultCase } from '../flows/fault-table/case.ts'
import { pass } from '../flows/fault-table/passing-time.ts'
import { openConsole } from '../support/console.ts'
import { operate } from '../support/operator.ts'

// What RingCentral may have for an account, lack, or refuse: what the gateway says of it everywhere.

setDefaultTimeout(120_000)

const MINUTE_MS = 60_000
const DAY_SECONDS = 86_400
const QUEUE = '+15555550150'
const NUMBER = '+15555550170'

interface Row {
  feature: string
  state: string
  prepare: (one: FaultCase, extensionId: string) => unknown
  /** The doctor's check that tells of it. */
  check: string
  /** What doctor, health, alert and Setup say; null: nothing is wrong. */
  trouble: string | null
  alert?: string
  /** What Setup says of it besides. */
  setup?: string
  /** Where the manual tells of it. */
  manual: [page: string, words: string]
}

const shareInbox =
  (settings: object) =>
  (one: FaultCase, extensionId: string): void => {
    one.world.control.configure(settings)
    one.world.control.addQueue({ numbers: [QUEUE], recipients: [extensionId] })
  }

const endSessions =
  (days: number | null) =>
  ({ world }: FaultCase): void =>
    void world.control.configure({ sessionSeconds: days === null ? null : days * DAY_SECONDS })

const haveCampaign =
  (campaign: { status: string; tier: string } | null, refused?: number) =>
  ({ world }: FaultCase, extensionId: string): void => {
    if (refused !== undefined)
      world.control.fault({ route: 'sms-configuration', calls: null, fault: { kind: 'respond', status: refused } })
    world.control.addNumber({ extensionId, phoneNumber: NUMBER, campaign })
  }

const INBOX = `Inbound texts to ${QUEUE} go to RingCentral's Shared Inbox, which this app may not read`
const MANUAL_OF_INBOX: Row['manual'] = ['connect-ringcentral.md', 'Shared Inbox']
const MANUAL_OF_SESSIONS: Row['manual'] = ['alerts.md', '`session_ends`']
const MANUAL_OF_CAMPAIGNS: Row['manual'] = ['ringcentral-numbers.md', '`cannotSend`']
const TIER = 'LowVolume, 6,000 texts a day over all its numbers'

const ROWS: Row[] = [
  {
    feature: 'Shared Inbox',
    state: 'there',
    prepare: shareInbox({ messageThreads: true }),
    check: 'subscriptions',
    trouble: null,
    manual: MANUAL_OF_INBOX,
  },
  {
    feature: 'Shared Inbox',
    state: 'absent',
    prepare: shareInbox({ messageThreads: false }),
    check: 'subscriptions',
    trouble: null,
    manual: MANUAL_OF_INBOX,
  },
  {
    feature: 'Shared Inbox',
    state: 'refused',
    prepare: shareInbox({ messageThreads: true, readThreads: false }),
    check: 'subscriptions',
    trouble: INBOX,
    alert: 'extension_not_receiving',
    setup: 'texts to it go to Shared Inbox',
    manual: MANUAL_OF_INBOX,
  },
  {
    feature: 'end of the session',
    state: 'there, in two days',
    prepare: endSessions(2),
    check: 'extensions',
    trouble: 'RingCentral ends its session on ',
    alert: 'session_ends',
    manual: MANUAL_OF_SESSIONS,
  },
  {
    feature: 'end of the session',
    state: 'absent',
    prepare: endSessions(null),
    check: 'extensions',
    trouble: null,
    manual: MANUAL_OF_SESSIONS,
  },
  {
    feature: 'end of the session',
    state: 'refused: it has ended',
    prepare: endSessions(1 / 24),
    check: 'extensions',
    trouble: 'authorization',
    alert: 'extension_revoked',
    manual: ['alerts.md', '`extension_revoked`'],
  },
  {
    feature: 'campaign',
    state: 'there, approved',
    prepare: haveCampaign({ status: 'Confirmed', tier: 'LowVolume' }),
    check: 'numbers',
    trouble: null,
    setup: 'LowVolume, 6,000 a day',
    manual: MANUAL_OF_CAMPAIGNS,
  },
  {
    feature: 'campaign',
    state: 'there, submitted',
    prepare: haveCampaign({ status: 'Submitted', tier: 'LowVolume' }),
    check: 'numbers',
    trouble: null,
    setup: `cannot send: campaign submitted, not yet approved (${TIER})`,
    manual: MANUAL_OF_CAMPAIGNS,
  },
  {
    feature: 'campaign',
    state: 'there, suspended',
    prepare: haveCampaign({ status: 'CampaignSuspended', tier: 'LowVolume' }),
    check: 'numbers',
    trouble: `${NUMBER}: campaign suspended (${TIER})`,
    alert: 'extension_failing',
    setup: `cannot send: campaign suspended (${TIER})`,
    manual: MANUAL_OF_CAMPAIGNS,
  },
  {
    feature: 'campaign',
    state: 'absent',
    prepare: haveCampaign(null),
    check: 'numbers',
    trouble: null,
    setup: 'cannot send: in no campaign',
    manual: MANUAL_OF_CAMPAIGNS,
  },
  {
    feature: 'campaign',
    state: 'refused (403)',
    prepare: haveCampaign(null, 403),
    check: 'numbers',
    trouble: null,
    setup: 'cannot send: campaign unknown, because RingCentral does not show it (403)',
    manual: MANUAL_OF_CAMPAIGNS,
  },
]

interface Health {
  reason: string | null
  numbers: unknown
  cannotSend?: unknown
  sessionExpiresAt: string | null
}

interface Alert {
  alert: string
  text: string
}

/** Whether the alert fires; where none is expected, whether it is late enough to know. */
async function isShown({ world, clock }: FaultCase, expected: string | null, until: number): Promise<boolean> {
  await world.gateway.alerts.check()
  const firing = world.gateway.alerts.firing.map(({ alert }) => alert)
  return expected === null ? clock.now() >= until : firing.includes(expected)
}

test.each(ROWS.map((row) => [`${row.feature}, ${row.state}`, row] as const))('%s', async (name, row) => {
  await using one = await FaultCase.open({ connect: false })
  const { world, clock } = one
  const extensionId = world.control.extensions()[0]?.extensionId ?? ''
  await row.prepare(one, extensionId)
  await world.connect()
  const until = clock.now() + 90 * MINUTE_MS
  await pass(one, 120 * MINUTE_MS, async () => (await isShown(one, row.alert ?? null, until)) || null, 20_000)
  const { alerts } = (await operate<{ alerts: Alert[] }>(world, 'GET', '/v1/operator/alerts')).body
  const { body } = await world.json<{ extensions: Health[] }>('GET', '/v1/rc/extensions/health')
  const [health] = body.extensions
  const doctor = (await diagnose(world.gateway)).find(({ check }) => check === row.check)
  const status = (await world.json('GET', '/v1/rc/status')).body
  await using opened = await openConsole(world.url, { hash: '#/numbers' })
  await opened.page.locator('.thing').waitFor()
  const setup = (await opened.page.locator('.thing').innerText()).replaceAll(/\s+/g, ' ')
  const page = readFileSync(join(import.meta.dir, '../../docs', row.manual[0]), 'utf8')
  console.log(
    `### ${name}\n${[
      ['status', JSON.stringify(status)],
      ['doctor', `${row.check} ${doctor?.level}: ${doctor?.detail}`],
      [
        'health',
        JSON.stringify(health, [
          'reason',
          'fix',
          'numbers',
          'phoneNumber',
          'inbound',
          'campaign',
          'status',
          'tier',
          'dailyLimit',
          'cannotSend',
          'sessionExpiresAt',
        ]),
      ],
      ['alerts', alerts.map(({ alert, text }) => `${alert}: ${text}`).join(' ') || 'none'],
      ['Setup', setup],
      ['manual', `docs/${row.manual[0]}, ${row.manual[1]}`],
    ]
      .map(([where, said]) => `- ${where}: ${said}`)
      .join('\n')}`,
  )
  expect(alerts.map(({ alert }) => alert)).toEqual(row.alert === undefined ? [] : expect.arrayContaining([row.alert]))
  expect(doctor?.level === 'ok').toBe(row.trouble === null)
  if (row.trouble === null) expect(health?.reason).toBeNull()
  const text = alerts.find(({ alert }) => alert === row.alert)?.text
  for (const said of [doctor?.detail, health?.reason, text, setup]) expect(said ?? '').toContain(row.trouble ?? '')
  if (row.setup !== undefined) expect(setup).toContain(row.setup)
  expect(page).toContain(row.manual[1])
})
