import type { NotifiedMessage } from '../client/sms-types.ts'
import type { CliContext, Run } from './context.ts'
import { jsonOf } from './standard-input.ts'

export interface NotifyOptions {
  from: string
  to: string
  text?: string
  app?: string
}

/** Sends a text made from the JSON on standard input, a message to each recipient. */
export async function notify(context: CliContext, { app, ...notice }: NotifyOptions, run: Run): Promise<void> {
  const query = new URLSearchParams({ ...notice, ...(app === undefined ? {} : { appId: app }) })
  const body = await jsonOf(context)
  await run(
    { method: 'POST', path: `/v1/operator/notify?${query}`, body, needs: 'server' },
    { view: ({ messages }: { messages: NotifiedMessage[] }) => messages },
  )
}
