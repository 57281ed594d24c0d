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
    extensionNumber: '101',
  })
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/restapi/v1.0/account/~/extension/~', body: '' })
  expect(server.requests[0]?.headers.get('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  expect(server.requests[0]?.headers.get('accept')).toBe('application/json')
})

describe('a name that the provider does not tell is null', () => {
  const rows: [object, string | null][] = [
    [{ name: undefined }, null],
    [{ name: '  ' }, null],
    [{ name: 5 }, null],
    [{ name: null }, null],
    [{ name: `a\0${'n'.repeat(500)}` }, `a\uFFFD${'n'.repeat(198)}`],
  ]
  test.each(rows)('%j', async (other, name) => {
    using server = httpServer(() => Response.json({ ...EXTENSION, ...other }))
    expect(valueOf(await clientOf(server.url).getExtension(ACCESS_TOKEN)).name).toBe(name)
  })
})

test.each([undefined, null, ' ', 101])('an extension number %j is null', async (extensionNumber) => {
  using server = httpServer(() => Response.json({ ...EXTENSION, extensionNumber }))
  expect(valueOf(await clientOf(server.url).getExtension(ACCESS_TOKEN)).extensionNumber).toBeNull()
})

test.each([{ id: undefined }, { account: undefined }, { account: {} }])('%j is unreadable', async (other) => {
  using server = httpServer(() => Response.json({ ...EXTENSION, ...other }))
  expect(failureOf(await clientOf(server.url).getExtension(ACCESS_TOKEN)).reason).toBe('ambiguous')
})
