import { createHash } from 'node:crypto'
import type { SimulatorControl } from '../../src/simulator/control.ts'
import { startSimulator, type Simulator, type SimulatorOptions } from '../../src/simulator/simulator.ts'
import { PublishedApi } from '../support/published-api.ts'
import { manualClock, type ManualClock } from '../support/manual-clock.ts'

/** A simulator with the extension Alice (+16505550101), and a plain HTTP client for it. */
export interface SimulatorHarness extends AsyncDisposable {
  simulator: Simulator
  control: SimulatorControl
  clock: ManualClock
  alice: string
  /** Every answer and event is compared with what RingCentral publishes. One that differs fails the test at its end. */
  published: PublishedApi
  authorize(query?: Record<string, string>): Promise<URL>
  /** A complete login: authorize, then exchange the code. */
  login(query?: Record<string, string>): Promise<Tokens>
  token(form: Record<string, string>, headers?: Record<string, string>): Promise<ParsedAnswer>
  refresh(refreshToken: string): Promise<ParsedAnswer>
  api(token: string, method: string, path: string, body?: unknown): Promise<ParsedAnswer>
  sms(token: string, text?: string, to?: string): Promise<ParsedAnswer>
}

export interface Tokens {
  access_token: string
  refresh_token: string
}

export interface ParsedAnswer {
  status: number
  headers: Headers
  text: string
  body: Body
}

interface Body extends Tokens {
  [name: string]: unknown
  errorCode: string
  errors: { errorCode: string; message: string; parameterName?: string }[]
  records: Record<string, unknown>[]
  error: string
  id: number
}

export const REDIRECT = 'https://gw.example.com/v1/rc/callback'
export const ALICE = '+16505550101'
export const BOB = '+16505550102'
export const CUSTOMER = '+16505550123'
export const basic = (id: string, secret: string): string => `Basic ${btoa(`${id}:${secret}`)}`
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
export const codes = (from: ParsedAnswer): [number, string | undefined] => [from.status, from.body.errors[0]?.errorCode]

export async function startHarness(options: Partial<SimulatorOptions> = {}): Promise<SimulatorHarness> {
  const clock = manualClock()
  const simulator = await startSimulator({ clock, clientId: 'app', clientSecret: 'secret', ...options })
  const { url, control } = simulator
  const published = new PublishedApi()
  simulator.onCall(published.note)
  const alice = control.addExtension({ name: 'Alice Smith', numbers: [ALICE] }).extensionId

  async function authorize(query: Record<string, string> = {}): Promise<URL> {
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: 'app',
      redirect_uri: REDIRECT,
      state: 's 1',
      ...query,
    })
    const response = await fetch(`${url}/restapi/oauth/authorize?${asked}`, { redirect: 'manual' })
    return new URL(response.headers.get('location') ?? `error:${response.status} ${await response.text()}`)
  }

  async function token(form: Record<string, string>, headers: Record<string, string> = {}): Promise<ParsedAnswer> {
    return answer(
      fetch(`${url}/restapi/oauth/token`, {
        method: 'POST',
        headers: {
          authorization: basic('app', 'secret'),
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body: new URLSearchParams(form).toString(),
      }),
    )
  }

  async function login(query: Record<string, string> = {}): Promise<Tokens> {
    const code = (await authorize(query)).searchParams.get('code') ?? ''
    return (await token({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT })).body
  }

  async function api(bearer: string, method: string, path: string, body?: unknown): Promise<ParsedAnswer> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
    return answer(fetch(`${url}/restapi/v1.0${path}`, { method, headers, ...init }))
  }

  return {
    simulator,
    control,
    clock,
    alice,
    authorize,
    login,
    token,
    refresh: (refreshToken) => token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    api,
    sms: (bearer, text = 'Hello', to = CUSTOMER) => api(bearer, 'POST', `${SELF}/sms`, smsBody(text, to)),
    published,
    async [Symbol.asyncDispose]() {
      await simulator.stop()
      if (published.wrongAnswers.length > 0)
        throw new Error(`Not as RingCentral publishes it:\n${published.wrongAnswers.join('\n')}`)
    },
  }
}

export const SELF = '/account/~/extension/~'

export const smsBody = (text: string, to: string = CUSTOMER, from: string = ALICE) => ({
  from: { phoneNumber: from },
  to: [{ phoneNumber: to }],
  text,
})

export async function answer(request: Promise<Response>): Promise<ParsedAnswer> {
  const response = await request
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) }
}

function parsed(text: string): Body {
  const nothing = { errors: [], records: [] }
  try {
    return { ...nothing, ...JSON.parse(text) } as Body
  } catch {
    return nothing as unknown as Body
  }
}
