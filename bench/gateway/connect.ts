import type { RemoteControl } from '../torture/simulator-process.ts'
import { ownNumber } from './numbers.ts'

/** Logins run in parallel, because a single login spends most of its time waiting for round trips. */
const AT_ONCE = 8

export interface ConnectTarget {
  url: string
  key: string
  control: RemoteControl
}

/** Connects extensions as a browser does: link, consent, callback. The provider gives each extension its own numbers. */
export async function connectExtensions(
  target: ConnectTarget,
  extensions: number,
  numbersPerExtension: number,
): Promise<void> {
  for (let extension = 0; extension < extensions; extension++) {
    const numbers = Array.from({ length: numbersPerExtension }, (_, at) => ownNumber(extension, at))
    const { extensionId } = await target.control.addExtension({ name: `Extension ${extension}`, numbers })
    // Control calls form a queue. It does not matter which login gets which extension.
    await target.control.nextLogin({ extensionId })
  }
  let left = extensions
  const work = async (): Promise<void> => {
    while (left-- > 0) await logIn(target)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function logIn({ url, key }: ConnectTarget): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const link = await fetch(`${url}/v1/rc/connect-token`, { method: 'POST', headers })
  const { connectUrl } = (await link.json()) as { connectUrl: string }
  const token = new URL(connectUrl, url).searchParams.get('token') ?? ''
  const body = new URLSearchParams({ token })
  const consent = await fetch(`${url}/v1/rc/connect`, { method: 'POST', body, redirect: 'manual' })
  const login = await fetch(consent.headers.get('location') ?? '', { redirect: 'manual' })
  const callback = await fetch(`${login.headers.get('location') ?? ''}&format=json`)
  if (!callback.ok) throw new Error(`The callback answered ${callback.status}: ${await callback.text()}`)
}
