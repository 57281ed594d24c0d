import { describe, expect, test } from 'bun:test'
import { ACCESS_TOKEN, clientOf, errorBody, failureOf, httpServer, valueOf } from './servers.ts'

const number = (phoneNumber: unknown, other: object = {}) => ({
  id: 299282016,
  phoneNumber,
  type: 'VoiceFax',
  usageType: 'DirectNumber',
  status: 'Normal',
  features: ['SmsSender', 'CallerId', 'MmsSender'],
  ...other,
})

async function listedOf(...records: unknown[]): Promise<string[]> {
  using server = httpServer(() => Response.json({ records, navigation: {} }))
  return valueOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).sms.map((one) => one.number)
}

describe('numbers that may send', () => {
  const rows: [name: string, record: object, expected: string[]][] = [
    ['with SmsSender', number('+16505550101'), ['+16505550101']],
    ['of the high-volume product', number('+16505550101', { features: ['A2PSmsSender'] }), []],
    ['for caller id only', number('+16505550101', { features: ['CallerId'] }), []],
    ['without features', number('+16505550101', { features: undefined }), []],
    ['with features of another type', number('+16505550101', { features: 'SmsSender' }), []],
    ['for fax only', number('+16505550101', { type: 'FaxOnly' }), []],
    ['for voice only', number('+16505550101', { type: 'VoiceOnly' }), ['+16505550101']],
    ['still pending', number('+16505550101', { status: 'Pending' }), []],
    ['without a status', number('+16505550101', { status: undefined }), ['+16505550101']],
    ['without the plus', number('16505550101'), ['+16505550101']],
    ['as a JSON number', number(16505550101), ['+16505550101']],
    ['in another notation', number('(650) 555-0101'), []],
    ['in American notation', number('(650)555-0101', { country: { id: '1' } }), ['+16505550101']],
    ['as ten digits of the United States', number('6505550101', { country: { id: 1 } }), ['+16505550101']],
    ['in American notation of another country', number('(650)555-0101', { country: { id: '44' } }), []],
    ['with its country in another notation', number('+1 (650) 555-0101'), ['+16505550101']],
    ['starting with zero', number('+06505550101'), []],
    ['too long', number('+1650555010123456'), []],
    ['too short', number('+72345'), []],
    ['without a number', number(undefined), []],
  ]
  test.each(rows)('%s', async (_name, record, expected) => {
    expect(await listedOf(record)).toEqual(expected)
  })

  test('a number that is listed twice counts once', async () => {
    expect(await listedOf(number('+16505550101'), number('16505550101'), number('+16505550102'))).toEqual([
      '+16505550101',
      '+16505550102',
    ])
  })
})

test.each([
  ['of the user', { extension: { id: 629890016 } }, 'DirectNumber', '629890016', null],
  [
    'of a call queue',
    { extension: { id: 62498880016, type: 'Department' } },
    'DirectNumber',
    '62498880016',
    'Department',
  ],
  ['of the company', { usageType: 'MainCompanyNumber' }, 'MainCompanyNumber', null, null],
  ['of nobody that is named', { usageType: undefined, extension: { name: 'x' } }, null, null, null],
])('a number %s says so', async (_name, other, usageType, ownerId, ownerType) => {
  using server = httpServer(() => Response.json({ records: [number('+16505550101', other)], navigation: {} }))
  const listed = valueOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).sms
  expect(listed).toEqual([{ number: '+16505550101', usageType, sendsMedia: true, ownerId, ownerType }])
})

test.each([
  [['SmsSender', 'MmsSender'], true],
  [['SmsSender'], false],
  [['SmsSender', 'mmssender', 7], false],
])('a number with %j may send media: %p', async (features, sendsMedia) => {
  using server = httpServer(() => Response.json({ records: [number('+16505550101', { features })], navigation: {} }))
  expect(valueOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).sms).toMatchObject([{ sendsMedia }])
})

test('further pages are requested by number, and their addresses are ignored', async () => {
  using elsewhere = httpServer(() => Response.json({ records: [] }))
  using server = httpServer((seen) => {
    const page = Number(seen.query.get('page'))
    const nextPage = { uri: `${elsewhere.url}/steal?page=${page + 1}` }
    return Response.json({ records: [number(`+1650555010${page}`)], navigation: page < 3 ? { nextPage } : {} })
  })
  expect(valueOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).sms.map((one) => one.number)).toEqual([
    '+16505550101',
    '+16505550102',
    '+16505550103',
  ])
  expect(server.requests.map((seen) => seen.path)).toEqual(
    Array(3).fill('/restapi/v1.0/account/~/extension/~/phone-number'),
  )
  expect(server.requests.map((seen) => seen.query.toString())).toEqual([
    'page=1&perPage=1000',
    'page=2&perPage=1000',
    'page=3&perPage=1000',
  ])
  expect(elsewhere.requests).toHaveLength(0)
})

test('an endless list fails after 20 pages', async () => {
  using server = httpServer(() => Response.json({ records: [], navigation: { nextPage: { uri: 'x' } } }))
  const failure = failureOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN))
  expect(failure).toMatchObject({ reason: 'ambiguous', status: null, code: 'ERR_TOO_MANY_PAGES' })
  expect(server.requests).toHaveLength(20)
})

test('a failure of a later page fails the list', async () => {
  using server = httpServer((seen) =>
    seen.query.get('page') === '1'
      ? Response.json({ records: [number('+16505550101')], navigation: { nextPage: { uri: 'x' } } })
      : Response.json(errorBody('CMN-301', 'Request rate exceeded'), { status: 429 }),
  )
  expect(failureOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).reason).toBe('rate_limited')
})

test.each([{}, { records: null }, { records: {} }, { records: ['x'] }])('%j is unreadable', async (body) => {
  using server = httpServer(() => Response.json(body))
  expect(failureOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).reason).toBe('ambiguous')
})

describe('numbers that need a campaign', () => {
  const local = (other: object = {}) => number('+16505550101', { paymentType: 'Local', country: { id: '1' }, ...other })
  const ID = '299282016'
  const rows: [name: string, record: object, expected: object[]][] = [
    ['local, in the US, that sends', local(), [{ ownerId: null, sends: true }]],
    ['local, in the US, that does not send', local({ features: ['CallerId'] }), [{ ownerId: null, sends: false }]],
    ['of a queue', local({ extension: { id: 7 } }), [{ ownerId: '7', sends: true }]],
    ['in Canada', local({ country: { id: '39' } }), []],
    ['without a country', local({ country: undefined }), []],
    ['toll-free', local({ paymentType: 'TollFree' }), []],
    ['of the company', local({ usageType: 'MainCompanyNumber' }), []],
    ['of the high-volume product', local({ features: ['A2PSmsSender'] }), []],
    ['for fax only', local({ type: 'FaxOnly' }), []],
    ['still pending', local({ status: 'Pending' }), []],
    ['without an id', local({ id: undefined }), []],
    ['of another country by its digits', local({ phoneNumber: '+442079460152' }), []],
  ]
  test.each(rows)('%s', async (_name, record, expected) => {
    using server = httpServer(() => Response.json({ records: [record], navigation: {} }))
    expect(valueOf(await clientOf(server.url).listNumbers(ACCESS_TOKEN)).local).toEqual(
      expected.map((one) => ({ number: '+16505550101', providerNumberId: ID, ...one }) as never),
    )
  })
})

test.each([
  [
    { smsCampaignInfo: { status: 'Submitted', registrationTier: 'LowVolume' } },
    { status: 'Submitted', tier: 'LowVolume' },
  ],
  [{ smsCampaignInfo: { status: 'Confirmed', registrationTier: 7 } }, { status: 'Confirmed', tier: null }],
  [{ smsCampaignInfo: { status: 7 } }, null],
  [{ smsCampaignInfo: null }, null],
  [{ phoneNumberId: '1' }, null],
  [{ smsCampaignInfo: { status: `x\0${'y'.repeat(100)}` } }, { status: `x\uFFFD${'y'.repeat(62)}`, tier: null }],
])('the campaign of %j', async (body, campaign) => {
  using server = httpServer(() => Response.json(body))
  expect(valueOf(await clientOf(server.url).readCampaign(ACCESS_TOKEN, '42'))).toEqual(campaign)
  expect(server.requests.map((seen) => seen.path)).toEqual([
    '/restapi/v1.0/account/~/extension/~/phone-number/42/sms-configuration',
  ])
})
