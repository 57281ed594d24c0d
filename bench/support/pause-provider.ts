import { eventually } from '../torture/program.ts'
import type { Stage } from '../torture/stage.ts'
import { acceptMessages } from './send-requests.ts'

const WITHIN_MS = 10_000

/** The provider refuses for an hour; settles when a message has met that, so that its extension is paused. */
export async function pauseProvider(stage: Stage): Promise<void> {
  const fault = { kind: 'respond', status: 429, headers: { 'retry-after': '3600' } } as const
  await stage.control.fault({ route: 'sms', calls: null, fault })
  await acceptMessages(stage, 0, 1)
  await eventually('The pause of the extension', WITHIN_MS, async () => {
    const response = await stage.call('GET', '/v1/sms/messages?limit=1')
    const { messages } = (await response.json()) as { messages: { status: string }[] }
    return messages[0]?.status === 'sending' ? true : null
  })
}
