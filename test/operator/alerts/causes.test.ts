import { describe, expect, test } from 'bun:test'
import type { Finding } from '../../../src/operator/doctor/finding.ts'
import type { Fault } from '../../../src/simulator/faults.ts'
import { FaultCase } from '../../flows/fault-table/case.ts'
import { pass } from '../../flows/fault-table/passing-time.ts'
import { operate } from '../../support/operator.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { FROM, FROM_2, until } from '../../support/world.ts'

// Whatever keeps an extension from sending or receiving is an alert within 15 minutes of the gateway's noticing it, also while nothing
// waits, and over when it is over. The provider is real HTTP, and all timers of the gateway run.

const MINUTE = 60_000
const STEP_MS = 20_000

const refused: Fault = {
  kind: 'respond',
  status: 403,
  body: { errorCode: 'CMN-408', message: 'In order to call this API endpoint, user needs to have [X] permission' },
}
const limited = (seconds: number): Fault => ({
  kind: 'respond',
  status: 429,
  headers: { 'Retry-After': String(seconds) },
})
const answers = (status: number, body: string | object): Fault => ({ kind: 'respond', status, body })

const idOf = ({ world }: FaultCase): string => world.control.extensions()[0]?.extensionId ?? ''
const execute = async ({ world }: FaultCase, sql: string): Promise<void> => {
  await world.gateway.database.gate.execute(sql)
  world.gateway.directory.forget(world.tenantId)
}
const fault = ({ world }: FaultCase, route: string, what: Fault): void =>
  world.control.fault({ route, calls: null, fault: what })
const endFaults = async ({ world }: FaultCase): Promise<void> => world.control.clearFaults()

/** Lets the next refresh meet a fault. */
async function refreshing(one: FaultCase, what: Fault): Promise<void> {
  fault(one, 'token', what)
  await one.world.gateway.tokens.refresh({ tenantId: one.world.tenantId, extensionId: idOf(one) })
}

/** Lets the gateway ask for the numbers again, as it does each day. */
const asksForNumbers = (one: FaultCase): Promise<void> => execute(one, 'UPDATE extensions SET numbers_read_at = 0')

interface Cause {
  alert: string
  /** The `cause` of its detail. */
  cause?: string
  /** The doctor's check that says the same. */
  check: string
  begin(one: FaultCase): Promise<unknown>
  end(one: FaultCase): Promise<unknown>
  /** Minutes from the beginning until the alert: at least, and at most. */
  within: [number, number]
}

const FAILING = { alert: 'extension_failing', check: 'extensions', end: endFaults }
/** The gateway reads the message store every 15 minutes, and subscriptions every 10. */
const CAUSES: Record<string, Cause> = {
  'messages that a firewall refuses': {
    ...FAILING,
    cause: 'send',
    check: 'authorization',
    begin: async (one) => {
      fault(one, 'sms', answers(403, '<html>Request blocked</html>'))
      await one.world.send()
    },
    within: [15, 17],
  },
  'a refresh that is answered 503': {
    ...FAILING,
    cause: 'refresh',
    begin: (one) => refreshing(one, answers(503, { errorCode: 'CMN-211', message: 'Service is overloaded' })),
    within: [15, 16],
  },
  'a refresh that is answered 429': {
    ...FAILING,
    cause: 'refresh',
    begin: (one) => refreshing(one, limited(60)),
    within: [15, 16],
  },
  'a refresh that a page of something in between answers': {
    ...FAILING,
    alert: 'provider_unreachable',
    begin: (one) => refreshing(one, answers(403, '<html>Blocked</html>')),
    within: [2, 3],
  },
  'a user that an administrator has disabled': {
    ...FAILING,
    cause: 'refresh',
    begin: async (one) => {
      one.world.control.setExtensionStatus({ extensionId: idOf(one), status: 'Disabled' })
      await one.world.gateway.tokens.refresh({ tenantId: one.world.tenantId, extensionId: idOf(one) })
    },
    end: async (one) => one.world.control.setExtensionStatus({ extensionId: idOf(one), status: 'Enabled' }),
    within: [15, 16],
  },
  'a list of numbers that is refused': {
    ...FAILING,
    cause: 'numbers',
    check: 'authorization',
    begin: async (one) => {
      fault(one, 'phone-number', refused)
      await asksForNumbers(one)
    },
    within: [15, 26],
  },
  'no number that may send SMS any more': {
    ...FAILING,
    cause: 'numbers',
    check: 'authorization',
    begin: async (one) => {
      for (const phoneNumber of [FROM, FROM_2]) one.world.control.removeNumber({ extensionId: idOf(one), phoneNumber })
      await asksForNumbers(one)
    },
    end: async (one) => one.world.control.addNumber({ extensionId: idOf(one), phoneNumber: FROM }),
    within: [15, 26],
  },
  'numbers that could never be read': {
    ...FAILING,
    cause: 'unknown_numbers',
    begin: async (one) => {
      fault(one, 'phone-number', answers(500, { errorCode: 'CMN-203', message: 'Internal error' }))
      await execute(one, 'DELETE FROM phone_numbers')
      await execute(one, `UPDATE extensions SET numbers_read_at = NULL, connected_at = ${one.clock.now()}`)
    },
    within: [15, 16],
  },
  'an access token that is refused although refreshes work': {
    ...FAILING,
    cause: 'messages',
    check: 'authorization',
    begin: async (one) => {
      const body = { errorCode: 'OAU-213', message: 'Token not found' }
      for (const route of ['message-store', 'phone-number', 'sms']) fault(one, route, answers(401, body))
    },
    within: [15, 31],
  },
  'a message store that is refused': {
    ...FAILING,
    cause: 'messages',
    check: 'authorization',
    begin: async (one) => fault(one, 'message-store', refused),
    within: [15, 31],
  },
  'a list of subscriptions that is refused': {
    ...FAILING,
    cause: 'subscription',
    check: 'subscriptions',
    begin: async (one) => fault(one, 'subscription-list', refused),
    within: [15, 26],
  },
  'sends that are answered 429 again and again': {
    ...FAILING,
    cause: 'paused',
    begin: async (one) => {
      fault(one, 'sms', limited(60))
      await one.world.send()
    },
    within: [15, 17],
  },
  'one 429 that asks to wait for two hours': {
    ...FAILING,
    cause: 'paused',
    begin: async (one) => {
      one.world.control.fault({ route: 'sms', fault: limited(7200) })
      await one.world.send()
    },
    end: async (one) => {
      one.clock.advance(7200_000)
      await execute(one, `UPDATE extensions SET access_expires_at = ${one.clock.now() + 3600_000}`)
    },
    within: [15, 16],
  },
  'reading that is answered 429 again and again': {
    ...FAILING,
    cause: 'paused',
    begin: async (one) => {
      for (const route of ['message-store', 'subscription-list', 'phone-number']) fault(one, route, limited(60))
    },
    within: [15, 36],
  },
  'sends that are answered 503 again and again': {
    alert: 'queue_old',
    check: 'extensions',
    begin: async (one) => {
      fault(one, 'sms', answers(503, { errorCode: 'CMN-211', message: 'Service is overloaded' }))
      await one.world.send()
    },
    end: endFaults,
    within: [10, 11],
  },
  'an authorization that has ended': {
    alert: 'extension_revoked',
    check: 'extensions',
    begin: async (one) => {
      one.world.control.revokeTokens({ extensionId: idOf(one) })
      await one.world.gateway.tokens.refresh({ tenantId: one.world.tenantId, extensionId: idOf(one) })
    },
    end: (one) => one.world.connect(),
    within: [0, 1],
  },
  'a subscription that is gone and refused': {
    alert: 'extension_not_receiving',
    check: 'subscriptions',
    begin: async (one) => {
      fault(one, 'subscription-create', refused)
      for (const { subscriptionId } of one.world.control.subscriptions())
        one.world.control.deleteSubscription({ subscriptionId })
    },
    end: endFaults,
    within: [1, 12],
  },
  'a subscription that is blacklisted and refused': {
    alert: 'extension_not_receiving',
    check: 'subscriptions',
    begin: async (one) => {
      fault(one, 'subscription-create', refused)
      for (const { subscriptionId } of one.world.control.subscriptions())
        one.world.control.blacklistSubscription({ subscriptionId })
    },
    end: endFaults,
    within: [1, 12],
  },
  'a client that is refused': {
    alert: 'provider_credentials',
    check: 'extensions',
    begin: (one) => refreshing(one, answers(401, { error: 'invalid_client', error_description: 'Unauthorized' })),
    end: endFaults,
    within: [0, 1],
  },
  'a provider that is silent': {
    alert: 'provider_unreachable',
    check: 'extensions',
    begin: async (one) => {
      fault(one, '*', { kind: 'reset' })
      await one.world.gateway.tokens.refresh({ tenantId: one.world.tenantId, extensionId: idOf(one) })
    },
    end: endFaults,
    within: [2, 3],
  },
}

interface Posted {
  alert: string
  state: string
  text: string
  since: string
  detail: Record<string, unknown>
}

const postsOf = (receiver: Receiver, alert: string): Posted[] =>
  receiver.requests.map(({ body }) => body as unknown as Posted).filter((post) => post.alert === alert)

async function firing({ world }: FaultCase): Promise<Posted[]> {
  return (await operate<{ alerts: Posted[] }>(world, 'GET', '/v1/operator/alerts')).body.alerts
}

const findingOf = async ({ world }: FaultCase, check: string): Promise<Finding | undefined> =>
  (await operate<Finding[]>(world, 'GET', '/v1/operator/doctor')).body.find((finding) => finding.check === check)

describe('is an alert, and over when it is over:', () => {
  test.each(Object.entries(CAUSES))('%s', async (_name, { alert, cause, check, begin, end, within }) => {
    await using receiver = startReceiver()
    await using one = await FaultCase.open({ outside: true, env: { ALERT_URL: receiver.url } })
    await operate(one.world, 'GET', '/v1/operator/alerts')
    const beganAt = one.clock.now()
    await begin(one)
    const found = await pass(
      one,
      50 * MINUTE,
      async () => (await firing(one)).find((each) => each.alert === alert) ?? null,
      STEP_MS,
    )
    const minutes = (one.clock.now() - beganAt) / MINUTE
    expect(minutes).toBeGreaterThanOrEqual(within[0])
    expect(minutes).toBeLessThanOrEqual(within[1])
    if (cause !== undefined) {
      expect(found.detail).toMatchObject({ tenantId: one.world.tenantId, extensionId: idOf(one), cause })
      const { body } = await one.world.json<{ extensions: object[] }>('GET', '/v1/rc/extensions/health')
      expect(body.extensions).toMatchObject([{ reason: found.detail['reason'], fix: expect.any(String) }])
    }
    if (alert !== 'queue_old') expect((await findingOf(one, check))?.level).not.toBe('ok')
    // The text of a refresh says when it is tried again.
    if (cause !== undefined && cause !== 'refresh') expect((await findingOf(one, check))?.detail).toContain(found.text)
    await end(one)
    await pass(
      one,
      45 * MINUTE,
      async () => ((await firing(one)).some((each) => each.alert === alert) ? null : true),
      STEP_MS,
    )
    await until(() => {
      one.clock.advance(1000)
      return postsOf(receiver, alert).length > 1
    })
    expect(postsOf(receiver, alert).map(({ state }) => state)).toEqual(['firing', 'resolved'])
  })
})

test('is none after an upgrade, although how the numbers are used was not read yet', async () => {
  await using receiver = startReceiver()
  await using one = await FaultCase.open({ outside: true, env: { ALERT_URL: receiver.url } })
  // The migration 0020 leaves it so, and the numbers are there.
  await execute(one, `UPDATE extensions SET numbers_read_at = NULL, connected_at = ${one.clock.now() - 60 * MINUTE}`)
  await execute(one, 'UPDATE phone_numbers SET usage_type = NULL')
  fault(one, 'phone-number', answers(500, { errorCode: 'CMN-203', message: 'Internal error' }))
  for (let passed = 0; passed < 5 * MINUTE; passed += STEP_MS) {
    await pass(one, STEP_MS, async () => null).catch(() => null)
    expect(await firing(one)).toEqual([])
  }
  expect((await findingOf(one, 'extensions'))?.level).toBe('ok')
  const { body } = await one.world.json<{ extensions: object[] }>('GET', '/v1/rc/extensions/health')
  expect(body.extensions).toMatchObject([{ reason: null, fix: null }])
})
