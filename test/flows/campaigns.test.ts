import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { holdCalls } from '../support/held-calls.ts'
import { openOperatorSocket, operate } from '../support/operator.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../support/world.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

// In the US a local number sends only with an approved 10DLC campaign. Without one RingCentral does not list it as a sender.

setDefaultTimeout(60_000)

const MINUTE_MS = 60_000
const NEW = '+15555550170'
const TIER = 'LowVolume, 6,000 texts a day over all its numbers'

interface Health {
  extensionId: string
  reason: string | null
  fix: string | null
  numbers: { phoneNumber: string; campaign: unknown }[]
  cannotSend: {
    phoneNumber: string
    campaign: { status: string; tier: string; dailyLimit: number } | null
    reason: string
  }[]
}

const healthOf = async (world: World): Promise<Health[]> => {
  const { body } = await world.json<{ extensions: Health[] }>('GET', '/v1/rc/extensions/health')
  return body.extensions.map((one) => ({ ...one, cannotSend: one.cannotSend ?? [] }))
}

const doctorOf = async (world: World, name: string): Promise<string> => {
  const { body } = await operate<{ check: string; level: string; detail: string }[]>(
    world,
    'GET',
    '/v1/operator/doctor',
  )
  const { level, detail } = body.find(({ check }) => check === name) ?? {}
  return `${level} ${detail}`
}

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

interface Case {
  name: string
  /** Absent: refused with this status. */
  campaign?: { status: string; tier: string } | null
  refused?: number
  reason: string
  /** Whether it is trouble although another number sends. */
  isTrouble?: boolean
}

const of = (status: string, reason: string, isTrouble = false): Case => ({
  name: status,
  campaign: { status, tier: 'LowVolume' },
  reason: `${reason} (${TIER})`,
  isTrouble,
})

const CASES: readonly Case[] = [
  of('Draft', 'campaign drafted, not yet submitted'),
  of('Created', 'campaign created, not yet submitted'),
  of('Submitted', 'campaign submitted, not yet approved'),
  of('Unconfirmed', 'campaign not yet confirmed by the carriers'),
  of('UpdateRequested', 'change of the campaign requested, not yet approved'),
  of('SubmitFailed', 'campaign rejected when it was submitted', true),
  of('PreVetFailed', 'campaign rejected before it was submitted', true),
  of('CampaignSuspended', 'campaign suspended', true),
  of('CampaignExpired', 'campaign expired', true),
  of('DeleteRequested', 'campaign about to be deleted', true),
  of('SomethingNew', 'campaign has the status SomethingNew'),
  { name: 'no campaign', campaign: null, reason: 'in no campaign' },
  { name: 'refused 403', refused: 403, reason: 'campaign unknown, because RingCentral does not show it (403)' },
  { name: 'refused 404', refused: 404, reason: 'campaign unknown, because RingCentral does not show it (404)' },
]

/** Each case has two users: one whose only number it is, and one who has another number that sends. */
async function connectAll(world: World): Promise<(Case & { number: string; alone: string; beside: string })[]> {
  const { control } = world
  control.setLimits({ enabled: false })
  const connected = []
  for (const [at, one] of CASES.entries()) {
    const number = `+1555555${2000 + at}`
    const spec = { campaign: one.campaign ?? null, phoneNumber: number }
    const alone = control.addExtension({ name: `${one.name} alone`, numbers: [spec] }).extensionId
    const other = { ...spec, phoneNumber: `+1555555${3000 + at}` }
    const beside = control.addExtension({ numbers: [`+1555555${4000 + at}`, other] }).extensionId
    for (const extensionId of [alone, beside]) {
      if (one.refused !== undefined)
        control.fault({
          route: 'sms-configuration',
          extensionId,
          calls: null,
          fault: { kind: 'respond', status: one.refused },
        })
      await world.connect({ extensionId })
    }
    connected.push({ ...one, number, alone, beside })
  }
  return connected
}

describe('a number that cannot send', () => {
  test('says why in health, doctor and list, for each status of a campaign, without one, and where RingCentral refuses it', async () => {
    await using world = await createWorld({ connect: false })
    const operator = openOperatorSocket(world)
    const cases = await connectAll(world)
    await until(async () => {
      const all = await healthOf(world)
      return (
        all.length === 2 * CASES.length &&
        all.every(({ cannotSend: [one] }) => one !== undefined && !one.reason.endsWith('read yet'))
      )
    })
    const { stdout } = await sgwIn(world.folder, ['extensions', 'list'])
    const list = flat(stdout)
    const [health, numbers, authorization] = [
      await healthOf(world),
      await doctorOf(world, 'numbers'),
      await doctorOf(world, 'authorization'),
    ]
    for (const { campaign = null, number, alone, beside, reason, isTrouble } of cases) {
      const shown = campaign && { ...campaign, dailyLimit: 6000 }
      const [one, two] = [alone, beside].map((id) => health.find(({ extensionId }) => extensionId === id))
      expect(one?.cannotSend).toEqual([{ phoneNumber: number, campaign: shown, reason }])
      expect(one?.reason).toBe(`None of its numbers may send SMS. ${number}: ${reason}`)
      const other = number.replace('5552', '5553')
      expect(two?.cannotSend).toEqual([{ phoneNumber: other, campaign: shown, reason }])
      expect(two?.reason).toBe(isTrouble === true ? `${other}: ${reason}` : null)
      expect(list).toContain(`! ${alone}: None of its numbers may send SMS. ${number}: ${reason}. ${one?.fix}`)
      expect(list).toContain(
        isTrouble === true
          ? `! ${beside}: ${other}: ${reason}. ${two?.fix}`
          : `- ${beside}: ${other} cannot send: ${reason}`,
      )
    }
    expect(numbers).toStartWith('warn ')
    expect(authorization).toStartWith('fail ')
    await operator.stop()
  })
})

const ALERTS = async ({ gateway }: World): Promise<string[]> => {
  await gateway.alerts.check()
  return gateway.alerts.firing.map(({ alert, detail }) => `${alert} ${String(detail['reason'])}`)
}

const asked = ({ control }: World): number => control.counters().requests['sms-configuration'] ?? 0

/** One user with two numbers that send, whose campaigns are known. */
async function openCase() {
  const one = await FaultCase.open()
  const { world } = one
  const extensionId = world.control.extensions()[0]?.extensionId ?? ''
  const read = () => world.gateway.numbers.read({ tenantId: world.tenantId, extensionId })
  /** The number as RingCentral has it from now on. */
  const set = (phoneNumber: string, changes: object) => {
    world.control.removeNumber({ extensionId, phoneNumber })
    world.control.addNumber({ extensionId, phoneNumber, ...changes })
  }
  const told = async () => {
    const [health] = await healthOf(world)
    if (health === undefined) throw new Error('No extension')
    return health
  }
  const untilTold = (is: (health: Health) => boolean) =>
    pass(one, 30 * MINUTE_MS, async () => ((health) => (is(health) ? health : null))(await told()))
  await read()
  await untilTold(({ numbers }) => numbers.every(({ campaign }) => campaign !== null))
  return {
    one,
    world,
    extensionId,
    read,
    set,
    told,
    untilTold,
    [Symbol.asyncDispose]: () => one[Symbol.asyncDispose](),
  }
}

/** Reads the numbers a day later, when the tokens have expired and are refreshed first. */
async function aDayLater({ one, read }: Awaited<ReturnType<typeof openCase>>): Promise<void> {
  one.clock.advance(24 * 60 * MINUTE_MS)
  await pass(one, 10 * MINUTE_MS, async () => ((await read()).type === 'ok' ? true : null), MINUTE_MS)
}

const CONFIRMED = { status: 'Confirmed', tier: 'LowVolume', dailyLimit: 6000 }

describe('a number that could send', () => {
  test('is trouble when its campaign is suspended, with an alert, until it sends again', async () => {
    await using one = await openCase()
    const { world, set, read, untilTold } = one
    expect(await one.told()).toMatchObject({
      reason: null,
      cannotSend: [],
      numbers: [FROM, FROM_2].map((phoneNumber) => ({ phoneNumber, campaign: CONFIRMED })),
    })
    expect(await doctorOf(world, 'numbers')).toBe(`ok 2 that can send; campaign: ${TIER}`)
    set(FROM_2, { campaign: { status: 'CampaignSuspended', tier: 'StandardVolume' } })
    await read()
    const { reason, fix, cannotSend } = await untilTold((health) => health.reason !== null)
    expect(reason).toBe(`${FROM_2} can no longer send: campaign suspended (StandardVolume)`)
    expect(cannotSend).toMatchObject([{ campaign: { tier: 'StandardVolume', dailyLimit: null } }])
    expect(await doctorOf(world, 'numbers')).toContain(`${reason}. ${fix}`)
    expect(await ALERTS(world)).toEqual([])
    one.one.clock.advance(16 * MINUTE_MS)
    expect(await ALERTS(world)).toEqual([`extension_failing ${reason}`])
    set(FROM_2, {})
    await read()
    await untilTold((health) => health.reason === null && health.cannotSend.length === 0)
    expect(await ALERTS(world)).toEqual([])
  })

  test('stays in trouble while its campaign cannot be read', async () => {
    await using one = await openCase()
    const { world, set, read, untilTold } = one
    set(FROM_2, { campaign: { status: 'CampaignSuspended', tier: 'StandardVolume' } })
    await read()
    const { reason } = await untilTold((health) => health.reason !== null)
    one.one.clock.advance(16 * MINUTE_MS)
    // What a proxy answers, and that RingCentral does not say it any more, take nothing back. A proxy that answers for two minutes
    // is an alert of its own.
    const ofNumber = async () => (await ALERTS(world)).filter((alert) => !alert.startsWith('provider_unreachable'))
    for (const body of ['<html>', { errorCode: 'CMN-401', message: 'No', errors: [] }]) {
      world.control.fault({ route: 'sms-configuration', calls: null, fault: { kind: 'respond', status: 403, body } })
      const before = asked(world)
      await aDayLater(one)
      await pass(one.one, MINUTE_MS, () => (asked(world) >= before + 2 ? true : null))
      await pass(one.one, MINUTE_MS, async () => ((await one.told()).reason === reason ? true : null))
      expect(await ofNumber()).toEqual([`extension_failing ${reason}`])
      world.control.clearFaults()
    }
  })

  test.each([
    [
      'Confirmed',
      { status: 'Confirmed', tier: 'LowVolume' },
      `campaign approved, but RingCentral does not let the number send (${TIER})`,
    ],
    [
      'UpdateRequested',
      { status: 'UpdateRequested', tier: 'LowVolume' },
      `change of the campaign requested, not yet approved (${TIER})`,
    ],
    ['none', null, 'in no campaign'],
  ])('is trouble whatever its campaign says: %s', async (_name, campaign, words) => {
    await using one = await openCase()
    one.set(FROM_2, { campaign, features: ['CallerId'] })
    await one.read()
    const { reason } = await one.untilTold((health) => health.reason?.includes(words) === true)
    expect(reason).toBe(`${FROM_2} can no longer send: ${words}`)
  })

  test('and still sends although its campaign was rejected is trouble, too', async () => {
    await using one = await openCase()
    one.set(FROM_2, { campaign: { status: 'CampaignExpired', tier: 'LowVolume' }, features: ['SmsSender'] })
    one.one.clock.advance(24 * 60 * MINUTE_MS)
    await one.read()
    const { reason, cannotSend } = await one.untilTold((health) => health.reason?.includes(FROM_2) === true)
    expect(reason).toBe(`${FROM_2}: campaign expired (${TIER})`)
    expect(cannotSend).toEqual([])
  })

  test("is forgotten when it is not the extension's any more", async () => {
    await using one = await openCase()
    one.set(FROM_2, { campaign: null })
    await one.read()
    await one.untilTold(({ reason }) => reason !== null)
    one.world.control.removeNumber({ extensionId: one.extensionId, phoneNumber: FROM_2 })
    await one.read()
    await one.untilTold(({ reason, cannotSend }) => reason === null && cannotSend.length === 0)
  })
})

describe('campaigns are read', () => {
  test('daily where all is well, with each list of the numbers where not, and daily where they are refused', async () => {
    await using one = await openCase()
    const { world, read, set, untilTold } = one
    const before = asked(world)
    await read()
    one.one.clock.advance(MINUTE_MS)
    expect(asked(world)).toBe(before)
    set(FROM_2, { campaign: { status: 'Submitted', tier: 'LowVolume' } })
    await read()
    await untilTold(({ cannotSend }) => cannotSend.length === 1)
    await pass(one.one, MINUTE_MS, () => (asked(world) === before + 1 ? true : null))
    // A message from the number finds that out, too.
    await world.send({ from: FROM_2 })
    await pass(one.one, MINUTE_MS, () => (asked(world) === before + 2 ? true : null))
    const body = { errorCode: 'CMN-401', message: 'No', errors: [] }
    world.control.fault({ route: 'sms-configuration', calls: null, fault: { kind: 'respond', status: 403, body } })
    await read()
    await pass(one.one, MINUTE_MS, () => (asked(world) === before + 3 ? true : null))
    const refused = asked(world)
    expect((await one.told()).cannotSend[0]?.reason).toContain('submitted, not yet approved')
    for (let times = 3; times > 0; times--) {
      await read()
      one.one.clock.advance(20 * MINUTE_MS)
    }
    expect(asked(world)).toBe(refused)
    one.one.clock.advance(24 * 60 * MINUTE_MS)
    await read()
    await pass(one.one, 30 * MINUTE_MS, () => (asked(world) > refused ? true : null))
  })

  test('of own local numbers in the US alone', async () => {
    await using one = await openCase()
    const { world, extensionId, read } = one
    const before = asked(world)
    world.control.addQueue({ numbers: ['+15555550150'], recipients: [extensionId] })
    for (const number of [
      { phoneNumber: '+18885550151' },
      { phoneNumber: '+442079460152' },
      { phoneNumber: '+15555550153', usageType: 'MainCompanyNumber' },
      { phoneNumber: '+15555550154', usageType: 'CompanyNumber', features: [] },
      { phoneNumber: '+15555550155', type: 'FaxOnly', features: [] },
      { phoneNumber: '+15555550156', status: 'Pending', features: [] },
      { phoneNumber: '+15555550157', features: ['A2PSmsSender'] },
    ])
      world.control.addNumber({ extensionId, ...number })
    await read()
    one.one.clock.advance(MINUTE_MS)
    const { numbers, cannotSend } = await one.told()
    expect(cannotSend).toEqual([])
    expect(Object.fromEntries(numbers.map(({ phoneNumber, campaign }) => [phoneNumber, campaign]))).toEqual({
      [FROM]: CONFIRMED,
      [FROM_2]: CONFIRMED,
      '+15555550150': null,
      '+15555550153': null,
      '+18885550151': null,
      '+442079460152': null,
    })
    expect(asked(world)).toBe(before)
  })

  test('again soon if RingCentral did not answer; neither that nor a wait keeps anything from being sent', async () => {
    await using one = await openCase()
    const { world, extensionId, read, set, untilTold } = one
    for (const status of [503, 429]) {
      world.control.fault({ route: 'sms-configuration', extensionId, fault: { kind: 'respond', status } })
      set(FROM_2, { campaign: { status: status === 503 ? 'Submitted' : 'Created', tier: 'LowVolume' } })
      const before = asked(world)
      await read()
      await pass(one.one, MINUTE_MS, () => (asked(world) > before ? true : null))
      const sent = await one.one.ended(await world.send(), 2 * MINUTE_MS)
      expect(sent).toMatchObject({ status: 'sent' })
      expect(sent.tookMs).toBeLessThan(10_000)
      await untilTold(
        ({ cannotSend: [first] }) => first?.campaign?.status === (status === 503 ? 'Submitted' : 'Created'),
      )
    }
  })

  test('beside everything else: a call that is not answered delays neither a connection nor a send', async () => {
    await using world = await createWorld({ connect: false })
    const extensionId = world.control.extensions()[0]?.extensionId ?? ''
    const release = holdCalls(world, 'readCampaign')
    expect((await world.connect()).ok).toBe(true)
    expect(await world.untilStatus(await world.send())).toMatchObject({ status: 'sent' })
    world.control.addNumber({ extensionId, phoneNumber: NEW })
    expect(await world.untilStatus(await world.send({ from: NEW }))).toMatchObject({ status: 'sent' })
    expect((await healthOf(world))[0]).toMatchObject({
      reason: null,
      numbers: [{ campaign: null }, { campaign: null }, { campaign: null }],
    })
    release()
    await until(async () => (await healthOf(world))[0]?.numbers.every(({ campaign }) => campaign !== null))
  })

  test('of many numbers in portions, each once', async () => {
    await using one = await openCase()
    const { world, extensionId, read } = one
    const before = asked(world)
    for (let at = 0; at < 45; at++)
      world.control.addNumber({ extensionId, phoneNumber: `+1555556${1000 + at}`, campaign: null })
    await read()
    await pass(one.one, 30_000, () => (asked(world) === before + 20 ? true : null))
    await one.untilTold(
      ({ cannotSend }) => cannotSend.length === 45 && cannotSend.every(({ reason }) => reason === 'in no campaign'),
    )
    one.one.clock.advance(5 * MINUTE_MS)
    expect(asked(world)).toBe(before + 45)
    expect(await doctorOf(world, 'numbers')).toEndWith('; and 40 more')
  })
})
