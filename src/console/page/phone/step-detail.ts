import type { Message } from '../../../client/client.ts'
import type { SimulatorCall } from '../state/operator.ts'

/** What is shown of a step when it is chosen. */
export interface StepDetail {
  title: string
  request: string
  response: string | null
  /** Said above what was not recorded but rebuilt. */
  note?: string
}

/** A recorded call, as it was on the wire. */
export function detailOf(title: string, { method, path, request, response, fault }: SimulatorCall): StepDetail {
  return {
    title: `${title}: ${method} ${path}`,
    request: wire(request),
    response: response === null ? 'No answer.' : `${response.status}\n${wire(response)}`,
    ...(fault === null ? {} : { note: `The simulator was told to answer so: ${fault}.` }),
  }
}

/** The body that the webhooks of an inbound message had. */
export function webhookDetail(message: Message): StepDetail {
  const { messageId, from, to, body, rcMessageId, tenantId, createdAt, receivingExtensionId } = message
  return {
    title: 'Webhook to your app',
    request: json({
      type: 'sms_inbound',
      messageId,
      from,
      to,
      body,
      rcMessageId,
      tenantId,
      timestamp: createdAt,
      receivingExtensionId,
    }),
    response: null,
    note: 'Rebuilt from the stored message. The request had X-Gateway-Timestamp and X-Gateway-Signature besides.',
  }
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
