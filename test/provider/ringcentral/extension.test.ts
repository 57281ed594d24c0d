import { describe, expect, test } from 'bun:test'
import { ACCESS_TOKEN, clientOf, failureOf, httpServer, valueOf } from './servers.ts'

const EXTENSION = {
  uri: 'https://platform.ringcentral.com/restapi/v1.0/account/809640016/extension/629890016',
  id: 629890016,
  extensionNumber: '101',
  name: 'Alice Smith',
  type: 'User',
  status: 'Enabled',
  account: { uri: 'https://platform.ringcentral.com/restapi/v1.0/account/809640016', id: '809640016' },
}

test('the extension of the token is returned with ids as text', async () => {
  using server = httpServer(() => Response.json(EXTENSION))
  expect(valueOf(await clientOf(server.url).getExtension(ACCESS_TOKEN))).toEqual({
    extensionId: '629890016',
    accountId: '809640016',
    name: 'Alice Smith',
  })
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/restapi/v1.0/account/~/extension/~', body: '' })
  expect(server.requests[0]?.headers.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  expect(server.requests[0]?.headers.get('accept')).toBe('application/json')
})

describe('the name has fallbacks', () => {
  const rows: [object, string][] = [
    [{ name: undefined }, '101'],
    [{ name: '  ' }, '101'],
    [{ name: 5 }, '101'],
    [{ name: null, extensionNumber: undefined }, '629890016'],
    [{ name: `a\0${'n'.repeat(500)}` }, `a\uFFFD${'n'.repeat(198)}`],
  ]
  test.each(rows)('%j', async (other, name) => {
    using server = httpServer(() => Response.json({ ...EXTENSION, ...other }))
    expect(valueOf(await clientOf(server.url).getExtension(ACCESS_TOKEN)).name).toBe(name)
  })
})

test.each([{ id: undefined }, { account: undefined }, { account: {} }])('%j is unreadable', async (other) => {
  using server = httpServer(() => Response.json({ ...EXTENSION, ...other }))
  expect(failureOf(await clientOf(server.url).getExtension(ACCESS_TOKEN)).reason).toBe('ambiguous')
})
