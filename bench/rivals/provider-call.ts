import type { Message } from './contestant.ts'
import { SMS_PATH } from './provider.ts'

/** Makes the same call as the gateway, with the cheapest client. */
export async function callProvider(providerUrl: string, { from, to, body }: Message): Promise<void> {
  const response = await fetch(`${providerUrl}${SMS_PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
    body: JSON.stringify({ from: { phoneNumber: from }, to: [{ phoneNumber: to }], text: body }),
  })
  await response.json()
}
