import type { Sgw } from '../../../client/client.ts'

/** What the simulator can do with the next send, in words for people. */
export const FAULTS = {
  '429': '429, try later',
  '5xx-after': '502 after accepting',
  slow: 'takes 3 s',
  'opted-out': 'recipient opted out',
} as const
/** Null: the send succeeds. */
export type SimulatorFault = keyof typeof FAULTS | null

/** One call between gateway and simulator, as the simulator recorded it. `out`: by the gateway; `in`: to the gateway. */
export interface SimulatorCall {
  at: string
  durationMs: number
  direction: 'in' | 'out'
  route: string
  method: string
  path: string
  request: { headers: Record<string, string>; body: string }
  response: { status: number; headers: Record<string, string>; body: string } | null
  fault: string | null
  rcMessageId?: string
}

/** Texts as a contact. */
export const sendInbound = (
  sgw: Sgw,
  text: { from: string; to: string; text: string },
): Promise<{ rcMessageId: string }> => sgw.request('POST', '/v1/operator/simulator/inbound', { body: text })

export const getNextFault = async (sgw: Sgw): Promise<SimulatorFault> =>
  (await sgw.request<{ fault: SimulatorFault }>('GET', '/v1/operator/simulator/next')).fault

export const setNextFault = async (sgw: Sgw, fault: SimulatorFault): Promise<SimulatorFault> =>
  (await sgw.request<{ fault: SimulatorFault }>('PUT', '/v1/operator/simulator/next', { body: { fault } })).fault

/** The newest calls since a time, oldest first. */
export const listCalls = async (sgw: Sgw, query: { since: string; limit: number }): Promise<SimulatorCall[]> =>
  (await sgw.request<{ calls: SimulatorCall[] }>('GET', '/v1/operator/simulator/calls', { query })).calls
