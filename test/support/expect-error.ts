import { expect } from 'bun:test'

/** An error as the contract prints it: the status, JSON, exactly `{error}`, and a request id to ask about it with. */
export async function expectError(response: Response, status: number, error: string): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toEqual({ status, body: { error } })
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(response.headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/)
}
