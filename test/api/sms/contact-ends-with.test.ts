import { expect, test } from 'bun:test'
import { storeInbound } from '../../../src/messages/inbound/store-inbound.ts'
import { FROM, FROM_2, type World, createWorld } from '../../support/world.ts'

const LISTS = ['/v1/sms/messages', '/v1/conversations'] as const

let lastId = 0
const receive = (world: World, from: string, to = FROM): Promise<boolean> =>
  storeInbound(world.gateway, {
    tenantId: world.tenantId,
    extensionId: '1',
    providerMessageId: `end-${++lastId}`,
    from,
    to,
    text: 'Hi',
  })

/** The contacts of what a list finds, the newest first. */
async function found(world: World, path: (typeof LISTS)[number], query: string, key = world.key): Promise<string[]> {
  type Found = { direction: string; from: string; to: string; contact?: string }
  type List = { messages?: Found[]; conversations?: Found[]; total: number }
  const { status, body } = await world.json<List>('GET', `${path}?${query}`, { key })
  const items = body.messages ?? body.conversations ?? []
  expect([query, status, body.total]).toEqual([query, 200, items.length])
  return items.map(({ contact, direction, from, to }) => contact ?? (direction === 'inbound' ? from : to))
}

const A = '+15035550142'
const B = '+4915112340142'
const C = '+15035551142'

test('messages and conversations are found by the last digits of a contact, in both directions, however old they are', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await world.send({ to: A, body: 'yesterday' })
  await receive(world, B)
  for (let index = 0; index < 120; index++) await world.send({ to: `+1555777${1000 + index}` })
  await receive(world, A)
  for (const path of LISTS) {
    const isMessages = path === '/v1/sms/messages'
    expect(await found(world, path, 'contactEndsWith=0142')).toEqual(isMessages ? [A, B, A] : [A, B])
    expect(await found(world, path, 'contactEndsWith=15035550142')).toEqual(isMessages ? [A, A] : [A])
    expect(await found(world, path, 'contactEndsWith=4915112340142')).toEqual([B])
    expect(await found(world, path, 'contactEndsWith=0143')).toEqual([])
    // The own number is no contact.
    expect(await found(world, path, `contactEndsWith=${FROM.slice(-4)}`)).toEqual([])
    expect(await found(world, path, 'contactEndsWith=77711')).toEqual([])
  }
  expect(await found(world, '/v1/sms/messages', 'contactEndsWith=0142&direction=outbound')).toEqual([A])
  expect(await found(world, '/v1/sms/messages', 'contactEndsWith=0142&state=waiting&number=%2B15555550100')).toEqual([
    A,
  ])
  await receive(world, C)
  expect(await found(world, '/v1/sms/messages', 'contactEndsWith=142&status=received')).toEqual([C, A, B])
})

test('a short code and a name end with digits, too; another tenant finds nothing', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const stranger = await world.otherTenant()
  for (const from of ['72345', 'Pizza 345', '34512']) await receive(world, from, FROM_2)
  for (const path of LISTS) {
    expect(await found(world, path, 'contactEndsWith=345')).toEqual(['Pizza 345', '72345'])
    expect(await found(world, path, 'contactEndsWith=345', stranger.apiKey)).toEqual([])
  }
})

test('anything but 3 to 15 digits is refused by its name; an empty value counts as absent, and of several the last one counts', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await world.send({ to: A })
  const bad = [
    '12',
    '1234567890123456',
    '014%',
    '%25%25%25',
    '01 42',
    '+1503',
    '-142',
    '1e3',
    '٠١٤٢',
    "0142' OR 1=1",
    'null',
    '0142\n',
    '014%00',
  ]
  for (const path of LISTS) {
    for (const value of bad) {
      const answer = await world.call('GET', `${path}?contactEndsWith=${encodeURIComponent(value)}`)
      expect([value, answer.status, await answer.json()]).toEqual([value, 400, { error: 'Invalid contactEndsWith' }])
    }
    expect(await found(world, path, 'contactEndsWith=')).toEqual([A])
    expect(await found(world, path, 'contactEndsWith=999&contactEndsWith=142')).toEqual([A])
  }
})

test('messages of a hundred contacts are found, those of more are refused, and the conversations list them all', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (let index = 0; index < 100; index++) await world.send({ to: `+1555${String(1000 + index)}321` })
  // Another conversation of the same contact is no further contact.
  await world.send({ to: '+15551000321', from: FROM_2 })
  const list = (path: string) => world.json<{ total: number }>('GET', `${path}?contactEndsWith=321`)
  expect((await list('/v1/sms/messages')).body).toMatchObject({ total: 101 })
  await world.send({ to: '+4915551234321' })
  const refused = await list('/v1/sms/messages')
  expect([refused.status, refused.body as unknown]).toEqual([
    400,
    { error: 'contactEndsWith matches too many contacts' },
  ])
  expect((await list('/v1/conversations')).body).toMatchObject({ total: 102 })
  expect(await found(world, '/v1/sms/messages', 'contactEndsWith=1234321')).toEqual(['+4915551234321'])
})

test('with a full disk a text is found that no list has followed yet', async () => {
  await using world = await createWorld({ connect: false, work: false })
  for (const to of [B, C]) await world.send({ to })
  expect(await found(world, '/v1/sms/messages', 'contactEndsWith=0142')).toEqual([B])
  await world.send({ to: A })
  const { writer } = world.gateway.database
  writer.write = () => Promise.reject(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
  expect(await found(world, '/v1/sms/messages', 'contactEndsWith=0142')).toEqual([A, B])
})
