import { expect } from 'bun:test'

/** Expects an error of the contract: the status, JSON with exactly `{error}`, and a request id. */
export async function expectError(response: Response, status: number, error: string): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toEqual({ status, body: { error } })
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(response.headers.get('x-request-id')).toMatch(/^[\x21-\x7e]{1,128}$/)
}
