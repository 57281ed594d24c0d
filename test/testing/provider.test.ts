import { expect, test } from 'bun:test'
import { type ProviderFault, startTestGateway, type TestGateway } from '../../src/testing/index.ts'
import { until } from '../support/world.ts'
import { CONTACT, entriesOnce, send } from './gateways.ts'

const QUEUE = '+15555550150'

async function extensionOf({ client }: TestGateway): Promise<string> {
  const [extension] = await client.connection.extensions()
  return extension?.extensionId ?? ''
}

/** The timeline of a message whose first `times` sends meet a fault, and how long it took to be sent. */
async function sentAfter(
  fault: ProviderFault,
  times = 1,
): Promise<{ entries: string[]; received: number; tookMs: number }> {
  await using gateway = await startTestGateway()
  gateway.provider.next(fault, times)
  const startedAt = performance.now()
  const id = await send(gateway, 'Hello')
  const entries = await entriesOnce(gateway, id, 'sent')
  const tookMs = performance.now() - startedAt
  await send(gateway, 'the next one meets no fault')
  await gateway.phone(CONTACT).waitFor('no fault')
  return {
    entries: entries.filter((entry) => entry.startsWith('attempt')),
    received: gateway.phone(CONTACT).inbox.length - 1,
    tookMs,
  }
}

test.concurrent('429: the message goes out a second later', async () => {
  const { entries, received, tookMs } = await sentAfter('429')
  expect({ entries, received }).toEqual({ entries: ['attempt not_accepted', 'attempt accepted'], received: 1 })
  expect(tookMs).toBeGreaterThan(900)
})

test.concurrent('5xx-before: the message is looked up, and goes out after the settle time of a second', async () => {
  const { entries, received, tookMs } = await sentAfter('5xx-before', 2)
  expect({ entries, received }).toEqual({
    entries: ['attempt unknown', 'attempt unknown', 'attempt accepted'],
    received: 1,
  })
  expect(tookMs).toBeLessThan(15_000)
})

test.concurrent('5xx-after: the message is found, and is not sent twice', async () => {
  expect(await sentAfter('5xx-after')).toMatchObject({ entries: ['attempt unknown'], received: 1 })
})

test.concurrent('hang: the call ends after 5 s, and the message is sent again', async () => {
  const { entries, received, tookMs } = await sentAfter('hang')
  expect({ entries, received }).toEqual({ entries: ['attempt unknown', 'attempt accepted'], received: 1 })
  expect(tookMs).toBeGreaterThan(4900)
})

test('refuses unknown faults and counts', async () => {
  await using gateway = await startTestGateway()
  expect(() => gateway.provider.next('500' as ProviderFault)).toThrow('use one of 429, 5xx-before, 5xx-after, hang')
  expect(() => gateway.provider.next('429', 0)).toThrow('times must be a positive number')
})

test('texts of a queue whose number came later go out, and a platform that writes numbers otherwise is understood', async () => {
  await using gateway = await startTestGateway()
  const extensionId = await extensionOf(gateway)
  const queue = gateway.provider.addQueue({ name: 'Desk', numbers: [QUEUE], recipients: [extensionId] })
  expect(queue).toMatchObject({ name: 'Desk', type: 'Department' })
  expect(gateway.provider.configure({ numberForms: ['digits'] })).toMatchObject({ numberForms: ['digits'] })
  await gateway.advance('25h')
  await until(async () => (await gateway.client.connection.extensions())[0]?.phoneNumbers.includes(QUEUE))
  gateway.provider.next('5xx-after')
  await gateway.client.sms.send({ from: QUEUE, to: CONTACT, body: 'of the queue' })
  await gateway.phone(CONTACT).waitFor('of the queue')
  await until(async () => (await gateway.client.sms.list({ status: 'sent' }).page(1)).total === 1)
  expect(gateway.phone(CONTACT).inbox.map(({ from }) => from)).toEqual([QUEUE])
})

test('a number that is pending or gone is no number to send from, and a disabled extension does not send', async () => {
  await using gateway = await startTestGateway()
  const { provider, client } = gateway
  const extensionId = await extensionOf(gateway)
  const [first, second, third] = gateway.numbers as [string, string, string]
  provider.addNumber({
    extensionId,
    phoneNumber: QUEUE,
    status: 'Pending',
    label: 'New',
    primary: false,
    campaign: null,
  })
  provider.removeNumber({ extensionId, phoneNumber: second })
  await gateway.advance('25h')
  const numbers = async () => (await client.connection.extensions())[0]?.phoneNumbers
  await until(async () => !(await numbers())?.includes(second))
  expect(await numbers()).toEqual([first, third])
  expect(provider.setExtensionStatus({ extensionId, status: 'Disabled' }).status).toBe('Disabled')
  await client.sms.send({ from: first, to: CONTACT, body: 'refused' })
  await until(async () => (await client.connection.health())[0]?.status === 'refresh_failed')
  expect(gateway.phone(CONTACT).inbox).toEqual([])
})

test('a JWT is made and deleted, and no socket meets a fault where webhooks bring the events', async () => {
  await using gateway = await startTestGateway()
  const { provider } = gateway
  const { jwt } = provider.addJwt({ extensionId: await extensionOf(gateway) })
  expect(jwt.split('.')).toHaveLength(3)
  expect(provider.removeJwt({ jwt })).toEqual({ removed: 1 })
  expect(() => provider.removeJwt({ jwt })).toThrow('Unknown JWT')
  expect(provider.faultSockets({ kind: 'cut' })).toEqual({ sockets: 0 })
})

test('a consent of the provider reaches the opt-outs, and a message to its contact is not delivered', async () => {
  await using gateway = await startTestGateway()
  const { provider, client } = gateway
  const [from = ''] = gateway.numbers
  expect(provider.configure({ consents: 'shown' })).toMatchObject({ consents: 'shown' })
  await gateway.phone(CONTACT).reply('Hello')
  const consent = provider.addConsent({ from, to: CONTACT, source: 'Carrier' })
  expect(consent).toMatchObject({ optStatus: 'OptOut', coverage: 'PhoneNumber', source: 'Carrier' })
  await until(async () => {
    await gateway.advance('1m')
    return (await client.optOuts.list().page(1)).optOuts.some(({ source }) => source === 'provider')
  })
  await client.sms.send({ from, to: CONTACT, body: 'refused' })
  await gateway.advance('1m')
  expect(gateway.phone(CONTACT).inbox).toEqual([])
})

test('events come over a socket, which may be cut, lose and double them', async () => {
  await using gateway = await startTestGateway({ events: 'websocket' })
  const { provider, client } = gateway
  const phone = gateway.phone(CONTACT)
  const stored = async () => (await client.sms.list({ direction: 'inbound' }).page(1)).messages.map(({ body }) => body)
  await phone.reply('over the socket')
  await until(async () => (await stored()).length === 1)
  provider.faultSockets({ kind: 'duplicate' })
  await phone.reply('doubled')
  await until(async () => (await stored()).length === 2)
  expect(provider.faultSockets({ kind: 'cut' })).toEqual({ sockets: 1 })
  // Nothing takes this one until the socket is opened again.
  await phone.reply('missed').catch(() => undefined)
  await until(async () => (await stored()).length === 3)
  expect((await stored()).toReversed()).toEqual(['over the socket', 'doubled', 'missed'])
})

test('what the provider cannot use is named, and nothing changes', async () => {
  await using gateway = await startTestGateway()
  const provider = gateway.provider as unknown as Record<string, (argument: unknown) => unknown>
  const extensionId = await extensionOf(gateway)
  const number = { extensionId, phoneNumber: QUEUE }
  const queue = { numbers: [QUEUE], recipients: [extensionId] }
  const before = [gateway.provider.configure({}), await gateway.client.connection.extensions()]
  for (const [name, argument, said] of [
    ['configure', { numberForm: ['digits'] }, 'Unknown setting numberForm'],
    ['configure', { constructor: 1 }, 'Unknown setting constructor'],
    ['configure', { numberForms: ['roman'] }, 'Cannot use numberForms.0: Invalid option: expected one of "e164"'],
    ['configure', { numberForms: [] }, 'Cannot use numberForms: '],
    ['configure', { queueEvents: false, sharedOwner: 'hidden' }, 'Cannot use sharedOwner: '],
    ['configure', { sessionSeconds: 0 }, 'Cannot use sessionSeconds: '],
    ['configure', undefined, 'expected object'],
    ['configure', { numberForms: undefined }, 'Cannot use numberForms: '],
    ['configure', { grants: ['password'] }, 'Cannot use grants.0: '],
    ['addQueue', { ...queue, recipients: [] }, 'Cannot use recipients: '],
    ['addQueue', { ...queue, recipients: ['1'] }, 'Unknown extension 1'],
    ['addQueue', { ...queue, numbers: ['5550150'] }, 'Cannot use numbers.0.phoneNumber: Write the number with +'],
    ['addQueue', { ...queue, numbers: gateway.numbers }, 'already: remove it first'],
    ['addQueue', { ...queue, numbers: [QUEUE, { phoneNumber: QUEUE }] }, 'Cannot use numbers: Write each number once'],
    ['addNumber', { ...number, phoneNumber: gateway.numbers[0] }, 'already: remove it first'],
    ['addNumber', { ...number, lable: 'x' }, 'Unknown setting lable'],
    ['addNumber', { ...number, campaign: { status: 'Confirmed' } }, 'Cannot use campaign.tier: '],
    ['addNumber', { ...number, ownerId: '1' }, 'Unknown extension 1'],
    ['addNumber', { ...number, label: undefined }, 'Cannot use label: '],
    ['removeNumber', { extensionId }, 'Cannot use phoneNumber: '],
    ['removeNumber', { phoneNumber: gateway.numbers[0] }, 'Cannot use extensionId: '],
    ['setExtensionStatus', { extensionId: Number(extensionId), status: 'Enabled' }, 'Cannot use extensionId: '],
    ['addJwt', { extensionId: '1' }, 'Unknown extension 1'],
    ['addJwt', { extensionId, expires: 1 }, 'Unknown setting expires'],
    ['removeJwt', { jwt: 'x.y.z' }, 'Unknown JWT'],
    ['addConsent', { from: gateway.numbers[0], to: '5550150' }, 'Cannot use to: Write the number with +'],
    ['addConsent', { to: CONTACT, coverage: 'Account' }, 'Cannot use from: '],
    ['configure', { consents: 'hidden' }, 'Cannot use consents: '],
    ['faultSockets', { kind: 'explode' }, 'Cannot use kind: '],
    ['faultSockets', { kind: 'cut', ms: -1 }, 'Cannot use ms: '],
    ['removeNumber', number, `has no number ${QUEUE}`],
    ['setExtensionStatus', { extensionId, status: 'disabled' }, 'Cannot use status: '],
  ] as const)
    expect(() => provider[name]?.(argument)).toThrow(said)
  expect([gateway.provider.configure({}), await gateway.client.connection.extensions()]).toEqual(before)
})
