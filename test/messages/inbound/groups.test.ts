import { expect, test } from 'bun:test'
import { postEvent, smsEvent, inboundMessages } from '../../support/provider-events.ts'
import { FROM, FROM_2, type World, createWorld, until } from '../../support/world.ts'

// The texted number is one of the tenant's, or `unknown`: never another member of the group. The same for events and records.

const SENDER = '+15555550123'
const STRANGER = '+15555550188'
const OTHER_STRANGER = '+15555550189'
/** Of another extension of the same tenant. */
const COLLEAGUE = '+15555550150'
/** Of another tenant of this gateway. */
const FOREIGN = '+15555550160'

const number = (phoneNumber: string): object => ({ phoneNumber })
const target = (phoneNumber: string): object => ({ phoneNumber, target: true })

const GROUPS: [name: string, to: unknown[], number: string][] = [
  ['the mark counts, wherever it stands', [number(STRANGER), target(FROM)], FROM],
  ['the first of several marks', [number(STRANGER), target(FROM_2), target(FROM)], FROM_2],
  ['a mark on a number that the gateway does not know', [number(FROM), target('+15555550177')], '+15555550177'],
  ['a short code with a mark', [number(STRANGER), target('72345')], '72345'],
  ['no mark, own number last', [number(STRANGER), number(OTHER_STRANGER), number(FROM)], FROM],
  ['no mark, own number as other records write it', [number(STRANGER), number('(555) 555-0100')], FROM],
  ['no mark, own number twice', [number(FROM), number(FROM)], FROM],
  ['no mark, own number twice and a stranger', [number(STRANGER), number(FROM), number(FROM)], FROM],
  ['no mark, a number of a colleague before the own', [number(COLLEAGUE), number(FROM)], FROM],
  ['no mark, a number of a colleague alone', [number(STRANGER), number(COLLEAGUE)], COLLEAGUE],
  ['no mark, strangers alone', [number(STRANGER), number(OTHER_STRANGER)], 'unknown'],
  ['no mark, a number of another tenant', [number(STRANGER), number(FOREIGN)], 'unknown'],
  ['no mark, short codes', [number('72345'), number('72346')], 'unknown'],
  ['no mark, a member without a number', [{ name: 'Alice' }, number(STRANGER)], 'unknown'],
  ['no mark, a member without a number, and the own', [{ name: 'Alice' }, number(STRANGER), number(FROM)], FROM],
  ['a mark without a number, and a stranger', [{ target: true }, number(STRANGER)], 'unknown'],
  ['a mark without a number, and the own', [{ target: true }, number(STRANGER), number(FROM)], FROM],
  ['a mark that is no yes', [{ phoneNumber: STRANGER, target: 'true' }, number(OTHER_STRANGER)], 'unknown'],
  ['one recipient without a mark', [number(FROM)], FROM],
  ['the same recipient twice without a mark', [number('+15555550177'), number('+15555550177')], '+15555550177'],
  ['no recipient', [], 'unknown'],
  ['a recipient without a number', [{ name: 'Alice' }], 'unknown'],
]

async function createGroupWorld(): Promise<World> {
  const world = await createWorld({ outside: true, work: false })
  const { extensionId } = world.control.addExtension({ name: 'Bob', numbers: [COLLEAGUE] })
  await world.connect({ extensionId })
  const other = await world.otherTenant()
  const foreign = world.control.addExtension({ name: 'Carol', numbers: [FOREIGN] })
  await world.connect({ extensionId: foreign.extensionId, tenantId: other.tenantId })
  return world
}

const ownerOf = (world: World): string => world.control.extensions()[0]?.extensionId ?? ''

/** The Verification-Token of a subscription that the test adds to the receiving extension. */
async function tokenOf(world: World): Promise<string> {
  const token = crypto.randomUUID()
  await world.gateway.database.writer.write([
    {
      sql: `INSERT INTO subscriptions (id, tenant_id, extension_id, provider_id, token_hash, status, created_at)
        VALUES ('sub_group', ?1, ?2, 'group', ?3, 'active', 0)`,
      args: [world.tenantId, ownerOf(world), world.gateway.secrets.hash(token)],
    },
  ])
  return token
}

test.each(GROUPS)('in an event %s', async (_name, to, expected) => {
  await using world = await createGroupWorld()
  const token = await tokenOf(world)
  const event = `/restapi/v1.0/account/~/extension/${ownerOf(world)}/message-store/instant?type=SMS`
  const envelope = { event, ownerId: ownerOf(world), subscriptionId: 'group' }
  const sms = smsEvent({ from: number(SENDER), to, subject: 'STOP' }, envelope)
  expect((await postEvent(world, token, sms)).status).toBe(200)
  expect((await inboundMessages(world)).messages).toMatchObject([{ from: SENDER, to: expected, body: 'STOP' }])
  const { body } = await world.json<{ optOuts: object[] }>('GET', '/v1/opt-outs')
  expect(body.optOuts).toMatchObject(expected.startsWith('+') ? [{ number: expected, contact: SENDER }] : [])
})

test('in a record of the message store the same counts', async () => {
  await using world = await createWorld({ outside: true })
  await world.connect({ extensionId: world.control.addExtension({ name: 'Bob', numbers: [COLLEAGUE] }).extensionId })
  const now = Date.now()
  const records = GROUPS.map(([, to], index) => ({
    id: 1000 + index,
    type: 'SMS',
    direction: 'Inbound',
    from: number(SENDER),
    to,
    subject: String(index),
    messageStatus: 'Received',
    creationTime: new Date(now).toISOString(),
    attachments: [],
  }))
  const fault = { kind: 'respond', status: 200, body: { records } } as const
  world.control.fault({ route: 'message-store', calls: null, extensionId: ownerOf(world), fault })
  await world.connect({ extensionId: ownerOf(world) })
  const { messages } = await until(async () => {
    const listed = await inboundMessages(world)
    return listed.total === GROUPS.length ? listed : null
  })
  const found = messages.map(({ body, to }) => [GROUPS[Number(body)]?.[0], to])
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(GROUPS.map(([name, , expected]) => [name, expected])))
})
