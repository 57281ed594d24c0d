import { expect, test } from 'bun:test'
import { ALICE, answer, BOB, codes, SELF, startHarness } from './harness.ts'

test('the bearer check has four different errors', async () => {
  await using harness = await startHarness()
  const url = `${harness.simulator.url}/restapi/v1.0${SELF}`
  expect(codes(await answer(fetch(url)))).toEqual([401, 'AGW-401'])
  expect(codes(await answer(fetch(url, { headers: { authorization: 'Basic eDp5' } })))).toEqual([401, 'AGW-402'])
  const nonsense = await harness.api('nonsense', 'GET', SELF)
  expect(nonsense.body).toMatchObject({
    errorCode: 'TokenInvalid',
    message: 'OAuth token is invalid',
    errors: [{ errorCode: 'OAU-149', message: 'OAuth token is invalid' }],
  })
  const { access_token } = await harness.login()
  expect(codes(await harness.api(`${access_token}x`, 'GET', SELF))).toEqual([401, 'OAU-213'])
  expect((await harness.api(access_token, 'GET', SELF)).status).toBe(200)
})

test('every answer has an RCRequestId, also errors and the open probe', async () => {
  await using harness = await startHarness()
  const probe = await fetch(`${harness.simulator.url}/restapi`)
  expect(probe.status).toBe(200)
  const answers = [
    probe,
    await fetch(`${harness.simulator.url}/restapi/v1.0/nothing`),
    await fetch(`${harness.simulator.url}/restapi/v1.0${SELF}`),
  ]
  const ids = answers.map((one) => one.headers.get('rcrequestid'))
  expect(new Set(ids).size).toBe(3)
  expect(ids).not.toContain(null)
})

test('the extension has a numeric id, its account a text id, and the address has real ids', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const { body, status } = await harness.api(access_token, 'GET', SELF)
  expect(status).toBe(200)
  expect(body.id).toBe(Number(harness.alice))
  expect(body['account']).toMatchObject({ id: '809640016' })
  expect(body['uri']).toBe(`${harness.simulator.url}/restapi/v1.0/account/809640016/extension/${harness.alice}`)
  expect(body).toMatchObject({ name: 'Alice Smith', extensionNumber: '101', type: 'User', status: 'Enabled' })
})

test('own ids work instead of ~, and others are not found', async () => {
  await using harness = await startHarness()
  const bob = harness.control.addExtension({ numbers: [BOB] }).extensionId
  const { access_token } = await harness.login()
  const get = (path: string) => harness.api(access_token, 'GET', path)
  expect((await get(`/account/809640016/extension/${harness.alice}`)).status).toBe(200)
  const other = await get(`/account/~/extension/${bob}`)
  expect(codes(other)).toEqual([404, 'CMN-102'])
  expect(other.body['message']).toBe('Resource for parameter [extensionId] is not found')
  expect((await get('/account/1/extension/~')).body['message']).toBe('Resource for parameter [accountId] is not found')
})

test('phone numbers are listed with their features', async () => {
  await using harness = await startHarness()
  const add = (phoneNumber: string, features: string[]) =>
    harness.control.addNumber({ extensionId: harness.alice, phoneNumber, features })
  add('+18445550188', ['CallerId'])
  add('+18445550189', ['A2PSmsSender'])
  add('+18445550190', [])
  const { access_token } = await harness.login()
  const { records, ...list } = (await harness.api(access_token, 'GET', `${SELF}/phone-number`)).body
  expect(records.map((one) => [one['phoneNumber'], one['features']])).toEqual([
    [ALICE, ['SmsSender', 'CallerId', 'MmsSender']],
    ['+18445550188', ['CallerId']],
    ['+18445550189', ['A2PSmsSender']],
    ['+18445550190', []],
  ])
  expect(records[0]).toMatchObject({ usageType: 'DirectNumber', type: 'VoiceFax', status: 'Normal' })
  expect(list['paging']).toEqual({ page: 1, totalPages: 1, perPage: 100, totalElements: 4, pageStart: 0, pageEnd: 3 })
  expect(list['navigation']).not.toHaveProperty('nextPage')
})

test('paging obeys perPage, and navigation.nextPage has the next page', async () => {
  await using harness = await startHarness()
  for (let at = 1; at < 5; at++)
    harness.control.addNumber({ extensionId: harness.alice, phoneNumber: `+1650555020${at}` })
  const { access_token } = await harness.login()
  const seen: unknown[] = []
  let next: string | undefined = `${harness.simulator.url}/restapi/v1.0${SELF}/phone-number?perPage=2`
  while (next !== undefined) {
    const page = await answer(fetch(next, { headers: { authorization: `Bearer ${access_token}` } }))
    expect(page.body.records.length).toBeLessThanOrEqual(2)
    seen.push(...page.body.records.map((one) => one['phoneNumber']))
    next = (page.body['navigation'] as { nextPage?: { uri: string } }).nextPage?.uri
  }
  expect(seen).toEqual([ALICE, '+16505550201', '+16505550202', '+16505550203', '+16505550204'])
  const paging = async (query: string) => {
    const { status, body } = await harness.api(access_token, 'GET', `${SELF}/phone-number?${query}`)
    return { status, message: body.errors[0]?.message, paging: body['paging'] }
  }
  expect(await paging('perPage=1001')).toMatchObject({
    status: 200,
    paging: { page: 1, perPage: 1000, totalElements: 5 },
  })
  expect(await paging('perPage=-1')).toMatchObject({ status: 400, message: 'Parameter [perPage] value is invalid.' })
  expect(await paging('page=0')).toMatchObject({ status: 400, message: 'Parameter [page] value is invalid.' })
  expect((await paging('page=7')).paging).toEqual({ perPage: 100, totalPages: 1, totalElements: 5 })
})

test('the simulator refuses to run in production', () => {
  expect(startHarness({ environment: 'production' })).rejects.toThrow('The simulator refuses to run in production')
})
