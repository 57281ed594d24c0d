import type { DeliveryAttempt } from '../../../client/client.ts'
import type { SimulatorCall } from './simulator.ts'

/** What is shown about a chosen step. */
export interface StepDetail {
  title: string
  request: string
  response: string | null
  /** The response is what people want to see. */
  isBad?: boolean
  note?: string
}

/** Replaces the method for an event from a socket, where no frame is acknowledged. */
const SOCKET_FRAME = 'ServerNotification'

export function detailOf(title: string, call: SimulatorCall): StepDetail {
  const { method, path, request, response, fault } = call
  return {
    title: `${title}: ${method} ${path}`,
    request: method === SOCKET_FRAME ? pretty(request.body) : wire(request),
    response:
      method === SOCKET_FRAME ? null : response === null ? 'No answer.' : `${response.status}\n${wire(response)}`,
    isBad: response === null || response.status >= 400,
    ...(fault === null ? {} : { note: `The simulator plays a fault here: ${fault}.` }),
  }
}

export function eventResult({ method, response }: SimulatorCall): string {
  if (method === SOCKET_FRAME) return response === null ? 'no open socket' : 'sent over the socket'
  return response === null ? 'no answer' : `${response.status}, stored`
}

/** What a destination answered. The simulator does not record webhooks; docs/receive.md says what is posted. */
export function webhookDetail({
  url,
  outcome,
  statusCode,
  responseSnippet,
  errorMessage,
}: DeliveryAttempt): StepDetail {
  const answer =
    statusCode === undefined ? `No answer. ${errorMessage ?? ''}` : `${statusCode}\n\n${responseSnippet ?? ''}`
  return { title: `Answer of ${url}`, request: answer.trim(), response: null, isBad: outcome !== 'success' }
}

const wire = ({ headers, body }: { headers: Record<string, string>; body: string }): string =>
  `${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n\n${pretty(body)}`

function pretty(body: string): string {
  try {
    return json(JSON.parse(body))
  } catch {
    return body
  }
}

export const json = (value: unknown): string => JSON.stringify(value, null, 2)
