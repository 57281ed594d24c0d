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
