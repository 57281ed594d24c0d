import type { Clock } from '../core/clock.ts'
import { apiError, rateExceeded } from './errors.ts'
import type { Fault } from './faults.ts'
import { html, json, jsonObject, type Reply } from './http.ts'
import { type AnswerWire, rawReply } from './wire.ts'

/** Plays one fault on a connection. Returns the status that the client can read, or null if the connection is cut. */
export async function playFault(fault: Fault, play: FaultStage): Promise<number | null> {
  const { wire, process, clock } = play
  switch (fault.kind) {
    case 'respond':
      return send(wire, answerOf(fault))
    case 'hang':
      return hang(wire, fault.ms)
    case 'reset':
    case 'close':
      return cut(wire, fault.kind)
    case 'late-accept':
      clock.after(fault.ms, () => void process())
      return cut(wire, 'reset')
    default:
      return corrupt(fault, await process(), wire)
  }
}

export interface FaultStage {
  wire: AnswerWire
  clock: Clock
  /** Processes the call. */
  process: () => Reply | Promise<Reply>
}

type AfterFault = Exclude<Fault, { kind: 'respond' | 'hang' | 'reset' | 'close' | 'late-accept' }>

const DRIP_MS = 50

/** Replaces or corrupts the right answer after the call was processed. */
async function corrupt(fault: AfterFault, reply: Reply, wire: AnswerWire): Promise<number | null> {
  switch (fault.kind) {
    case 'accept-then-respond':
      return send(wire, answerOf(fault))
    case 'accept-then-hang':
      return hang(wire, fault.ms)
    case 'accept-then-reset':
      return cut(wire, 'reset')
    case 'accept-then-close':
      return cut(wire, 'close')
    case 'delay':
      await wire.pause(fault.ms)
      return send(wire, reply)
    case 'drip-headers':
    case 'drip-body':
      return drip(wire, reply, fault.kind, fault.ms ?? DRIP_MS)
    case 'no-id':
      return send(wire, json(200, { ...jsonObject(reply.body), id: undefined }))
    case 'html':
      return send(wire, html(200, '<html><body><h1>Welcome</h1></body></html>'))
    case 'truncated':
      return send(wire, { ...reply, body: firstHalf(reply.body) })
    case 'cut-body':
      return cutBody(wire, reply)
  }
}

const firstHalf = (body: string): string => body.slice(0, Math.ceil(body.length / 2))

function send(wire: AnswerWire, reply: Reply): number | null {
  if (!wire.open) return null
  wire.send(reply)
  return reply.status
}

function cut(wire: AnswerWire, how: 'reset' | 'close'): null {
  wire.cut(how)
  return null
}

async function hang(wire: AnswerWire, ms: number | undefined): Promise<null> {
  await wire.pause(ms)
  return cut(wire, 'reset')
}

async function drip(
  wire: AnswerWire,
  reply: Reply,
  which: 'drip-headers' | 'drip-body',
  ms: number,
): Promise<number | null> {
  const { head, body } = rawReply(reply)
  const slow = which === 'drip-headers' ? Buffer.from(head) : body
  if (which === 'drip-body') wire.raw(head)
  for (let at = 0; at < slow.length && wire.open; at++) {
    wire.raw(slow.subarray(at, at + 1))
    await wire.pause(ms)
  }
  if (!wire.open) return null
  if (which === 'drip-headers') wire.raw(body)
  wire.cut('close')
  return reply.status
}

/** Waits before the reset, because a reset discards bytes that the client has not read yet. */
async function cutBody(wire: AnswerWire, reply: Reply): Promise<null> {
  const { head, body } = rawReply(reply)
  wire.raw(head)
  wire.raw(body.subarray(0, Math.ceil(body.length / 2)))
  await wire.pause(DRIP_MS)
  return cut(wire, 'reset')
}

interface Canned {
  status: number
  body?: string | object
  headers?: Record<string, string>
}

function answerOf({ status, body, headers }: Canned): Reply {
  const usual = usualAnswer(status)
  const text = body === undefined ? usual.body : typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: { ...usual.headers, ...headers }, body: text }
}

/** The body that the platform or its proxy sends with this status. */
function usualAnswer(status: number): Reply {
  if (status === 429) return rateExceeded({ 'Retry-After': '60' })
  if (status === 503) return apiError(503, 'CMN-201', 'Service Temporary Unavailable')
  if (status === 500) return apiError(500, 'CMN-203', 'Internal Server Error')
  if (status === 401) return apiError(401, 'OAU-213', 'Token not found', { topLevel: 'TokenInvalid' })
  if (status === 403)
    return apiError(
      403,
      'CMN-408',
      'In order to call this API endpoint, user needs to have [OutboundSMS] permission for requested resource.',
    )
  if (status === 502 || status === 504) return html(status, `<html><body><h1>${status}</h1><hr>nginx</body></html>`)
  return apiError(status, 'CMN-101', 'Parameter value is invalid.', { topLevel: 'InvalidParameter' })
}
