import type { TestGateway } from '../../src/testing/index.ts'
import { until } from '../support/world.ts'

export const CONTACT = '+15555550199'

/** Calls the API of a test gateway like an ordinary program. */
export async function call<T = Record<string, unknown>>(
  { url, apiKey }: Pick<TestGateway, 'url' | 'apiKey'>,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await response.json()) as T
}

/** Sends an SMS from the gateway's first number, and returns its id. */
export async function send(gateway: TestGateway, body: string, more: object = {}): Promise<string> {
  const message = { from: gateway.numbers[0], to: CONTACT, body, ...more }
  return (await call<{ messageId: string }>(gateway, 'POST', '/v1/sms/send', message)).messageId
}

/** Waits for a status of the message, and returns the types of the entries of its timeline. */
export async function entriesOnce(gateway: TestGateway, messageId: string, type: string): Promise<string[]> {
  return until(async () => {
    const path = `/v1/sms/${messageId}/timeline`
    const { entries } = await call<{ entries: { type: string; outcome?: string }[] }>(gateway, 'GET', path)
    if (!entries.some((entry) => entry.type === type)) return null
    return entries.map((entry) => (entry.outcome === undefined ? entry.type : `${entry.type} ${entry.outcome}`))
  })
}
