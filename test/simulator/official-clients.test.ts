import { afterAll, describe, expect, test } from 'bun:test'
import RingCentral from '@rc-ex/core'
import { SDK } from '@ringcentral/sdk'
import { ALICE, CUSTOMER, REDIRECT, SELF, smsBody, startHarness, type SimulatorHarness } from './harness.ts'
import { startWebhook } from './webhook.ts'

// RingCentral's own clients do what a gateway does, and read what the simulator answers.

const INSTANT = '/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS'
const QUEUE = '+16505550190'
const PICTURE = 'a picture'

/** What each client of RingCentral is asked for: the calls of a gateway. */
interface Client {
  login(harness: SimulatorHarness): Promise<unknown>
  refresh(): Promise<unknown>
  get<T>(path: string, query?: Record<string, unknown>): Promise<T>
  post<T>(path: string, body?: unknown): Promise<T>
  put<T>(path: string, body: unknown): Promise<T>
  delete(path: string): Promise<unknown>
  /** Sends a message with a picture, as the guide and the client's own types say. */
  mms(path: 'sms' | 'mms', body: MmsBody, picture: string): Promise<Sms>
  /** The bytes of an attachment, as text. */
  download(uri: string): Promise<string>
  logout(): Promise<unknown>
  /** The status and code of a refusal. */
  refusal(error: unknown): Promise<unknown>
}

/** What of a client's own requests is not published. */
const SDK_WAYS = [
  'request authorize ?display:  enum [["page","popup","touch","mobile"]]',
  'request authorize:  parameter ["ui_options"]',
  'request authorize:  parameter ["localeId"]',
]

const CLIENTS: [name: string, create: (url: string) => Client, ownWays: string[]][] = [
  ['@ringcentral/sdk', officialSdk, SDK_WAYS],
  ['@rc-ex/core', extensibleCore, []],
]

/** The one wrong request of the test. */
const NO_OWNER = [
  'request listMessages ?owner:  enum [["Any","Personal","Shared"]]',
  'request listMessages ?owner:  type ["array"]',
  'request listMessages ?owner:  oneOf [null]',
]

const counts = new Map<string, { calls: number; requests: number; answers: number; events: number }>()
afterAll(() => {
  for (const [name, count] of counts) console.log(name, JSON.stringify(count))
})

describe.each(CLIENTS)('%s', (name, create, ownWays) => {
  test('does against the simulator all that a gateway does, and reads what RingCentral publishes', async () => {
    await using harness = await startHarness({ limits: false })
    await using webhook = startWebhook()
    const queue = harness.control.addQueue({ name: 'Sales', numbers: [QUEUE], recipients: [harness.alice] }).extensionId
    const client = create(harness.simulator.url)

    expect(await client.login(harness)).toMatchObject({ owner_id: harness.alice, token_type: 'bearer' })
    expect(await client.refresh()).toMatchObject({ owner_id: harness.alice })
    expect(await client.get(SELF)).toMatchObject({ id: Number(harness.alice), name: 'Alice Smith', type: 'User' })
    const { records: numbers } = await client.get<List>(`${SELF}/phone-number`, { perPage: 2000 })
    expect(numbers).toMatchObject([
      { phoneNumber: ALICE, features: ['SmsSender', 'CallerId', 'MmsSender'], extension: { type: 'User' } },
      { phoneNumber: QUEUE, usageType: 'DirectNumber', extension: { type: 'Department', name: 'Sales' } },
    ])
    expect(await client.get<List>(`${SELF}/features`, { featureId: 'MessageThreads' })).toMatchObject({
      records: [{ id: 'MessageThreads', available: false }],
    })
    const { id: numberId } = numbers[0] as { id: number }
    expect(await client.get(`${SELF}/phone-number/${numberId}/sms-configuration`)).toMatchObject({
      smsCampaignInfo: { status: 'Confirmed' },
    })

    const sent = await client.post<Sms>(`${SELF}/sms`, smsBody('Hello'))
    expect(sent).toMatchObject({ messageStatus: 'Queued', to: [{ phoneNumber: CUSTOMER }], subject: 'Hello' })
    const pictured: number[] = []
    const ofQueue = await client.post<Sms>(`${SELF}/sms`, smsBody('Hello from Sales', CUSTOMER, QUEUE))
    expect(ofQueue.owner).toEqual({ extensionId: queue, extensionType: 'Department', name: 'Sales' })
    for (const path of ['sms', 'mms'] as const) {
      const body = { from: { phoneNumber: ALICE }, to: [{ phoneNumber: CUSTOMER }], text: `By ${path}` }
      const { attachments = [], ...mms } = await client.mms(path, body, PICTURE)
      expect(mms).toMatchObject({ messageStatus: 'Queued', subject: `By ${path}` })
      expect(attachments).toMatchObject([
        { type: 'Text' },
        { type: 'MmsAttachment', contentType: 'image/png', size: PICTURE.length, fileName: 'picture.png' },
      ])
      expect(await client.download(attachments[1]?.uri ?? '')).toBe(PICTURE)
      pictured.push(mms.id)
    }
    harness.clock.advance(1000)
    expect(await client.get<Sms>(`${SELF}/message-store/${sent.id}`)).toMatchObject({
      id: sent.id,
      messageStatus: 'Sent',
    })
    const outbound = { messageType: 'SMS', direction: 'Outbound', dateFrom: '2026-11-20T00:00:00.000Z' }
    const listed = async (query: object) =>
      (await client.get<List>(`${SELF}/message-store`, { ...outbound, ...query })).records
    expect((await listed({})).map((one) => one['id'])).toEqual([...pictured.toReversed(), sent.id])
    expect((await listed({ owner: 'Any', perPage: 5000 })).map((one) => one['id'])).toEqual([
      ...pictured.toReversed(),
      ofQueue.id,
      sent.id,
    ])

    const deliveryMode = { transportType: 'WebHook', address: webhook.url, verificationToken: 'verify-me' }
    const made = await client.post<{ id: string }>('/subscription', {
      eventFilters: [INSTANT],
      deliveryMode,
      expiresIn: 3600,
    })
    expect(await client.get<List>('/subscription')).toMatchObject({ records: [{ id: made.id, status: 'Active' }] })
    expect(await client.post(`/subscription/${made.id}/renew`)).toMatchObject({ id: made.id, expiresIn: 3600 })
    expect(await client.put(`/subscription/${made.id}`, { eventFilters: [INSTANT] })).toMatchObject({ id: made.id })
    expect(await client.get(`/subscription/${made.id}`)).toMatchObject({
      status: 'Active',
      eventFilters: [webhook.url && expect.stringContaining('instant')],
    })
    await harness.control.injectSms({
      to: QUEUE,
      text: 'With a picture',
      attachments: [{ contentType: 'image/png', data: btoa(PICTURE) }],
    })
    expect(webhook.requests.at(-1)?.headers.get('verification-token')).toBe('verify-me')
    const [event] = webhook.events() as unknown as [{ body: { attachments: { type: string; uri: string }[] } }]
    const media = event.body.attachments.find(({ type }) => type === 'MmsAttachment')
    expect(await client.download(media?.uri ?? '')).toBe(PICTURE)
    await client.delete(`/subscription/${made.id}`)

    const refused = (call: Promise<unknown>) =>
      call.then(
        () => 'accepted',
        (error: unknown) => client.refusal(error),
      )
    expect(await refused(client.get(`/subscription/${made.id}`))).toEqual([404, 'CMN-102'])
    expect(await refused(client.post(`${SELF}/sms`, smsBody('x', '123456')))).toEqual([400, 'MSG-247'])
    expect(await refused(client.get(`${SELF}/message-store`, { owner: 'Nobody' }))).toEqual([400, 'CMN-101'])
    harness.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } })
    expect(await refused(client.post(`${SELF}/sms`, smsBody('x')))).toEqual([429, 'CMN-301'])
    await client.logout()
    expect(harness.control.sessions()).toEqual([])

    expect(harness.published.wrongRequests).toEqual([...ownWays, ...NO_OWNER])
    const { requests, answers, events } = harness.published.compared
    counts.set(name, { calls: harness.control.requests().length, requests, answers, events })
  })
})

interface List {
  records: Record<string, unknown>[]
}

interface Sms {
  id: number
  owner?: unknown
  attachments?: { type?: string; uri?: string }[]
}

interface MmsBody {
  from: { phoneNumber: string }
  to: { phoneNumber: string }[]
  text: string
}

/** What the person's browser does: follows the address to the simulator, which sends it back with a code. */
async function codeOf(address: string): Promise<string> {
  const { headers } = await fetch(address, { redirect: 'manual' })
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
}

function officialSdk(server: string): Client {
  const platform = new SDK({ server, clientId: 'app', clientSecret: 'secret', redirectUri: REDIRECT }).platform()
  const at = (path: string): string => `/restapi/v1.0${path}`
  const read = async <T>(answer: Promise<Response>): Promise<T> => (await (await answer).json()) as T
  return {
    async login() {
      const code = await codeOf(platform.loginUrl({ state: 'a state', usePKCE: true }))
      return read(platform.login({ code, redirect_uri: REDIRECT }))
    },
    refresh: () => read(platform.refresh()),
    get: (path, query) => read(platform.get(at(path), query)),
    post: (path, body) => read(platform.post(at(path), body)),
    put: (path, body) => read(platform.put(at(path), body)),
    delete: (path) => platform.delete(at(path)),
    mms(path, body, picture) {
      const form = new FormData()
      form.append('json', new Blob([JSON.stringify(body)], { type: 'application/json' }), 'request.json')
      form.append('attachment', new Blob([picture], { type: 'image/png' }), 'picture.png')
      return read(platform.post(at(`${SELF}/${path}`), form))
    },
    download: async (uri) => (await platform.get(uri)).text(),
    logout: () => platform.logout(),
    async refusal(error) {
      const { response } = error as { response: Response }
      return [response.status, ((await response.json()) as ErrorBody).errors[0]?.errorCode]
    },
  }
}

interface ErrorBody {
  errors: { errorCode: string }[]
}

function extensibleCore(server: string): Client {
  const rest = new RingCentral({ server, clientId: 'app', clientSecret: 'secret' })
  const at = (path: string): string => `/restapi/v1.0${path}`
  return {
    async login() {
      // The address of the login page is made by another package of the same authors.
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: 'app',
        redirect_uri: REDIRECT,
        state: 'a state',
      })
      const code = await codeOf(`${server}/restapi/oauth/authorize?${query}`)
      return rest.authorize({ code, redirect_uri: REDIRECT })
    },
    refresh: () => rest.refresh(),
    get: async <T>(path: string, query?: Record<string, unknown>) => (await rest.get<T>(at(path), query)).data,
    post: async <T>(path: string, body?: unknown) => (await rest.post<T>(at(path), body as object)).data,
    put: async <T>(path: string, body: unknown) => (await rest.put<T>(at(path), body as object)).data,
    delete: (path) => rest.delete(at(path)),
    mms(path, body, picture) {
      const extension = rest.restapi().account().extension()
      const attachments = [{ filename: 'picture.png', contentType: 'image/png', content: Buffer.from(picture) }]
      return (path === 'mms' ? extension.mms() : extension.sms()).post({ ...body, attachments }) as Promise<Sms>
    },
    async download(uri) {
      const { data } = await rest.get<Uint8Array>(uri, undefined, { responseType: 'arraybuffer' })
      return Buffer.from(data).toString()
    },
    logout: () => rest.revoke(),
    refusal: async (error) => {
      const { status, data } = (error as { response: { status: number; data: ErrorBody } }).response
      return [status, data.errors[0]?.errorCode]
    },
  }
}
