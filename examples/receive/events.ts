/** Listens to the events of the token's app. `base` is the gateway's address. */
export function follow(base: string, token: string, heard: (event: { type: string }) => void): WebSocket {
  const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/ws`)
  socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', token })))
  socket.addEventListener('message', ({ data }: MessageEvent) => heard(JSON.parse(String(data)) as { type: string }))
  return socket
}

/** Passes every event after `cursor` to `heard`, and returns the cursor to store. Call it every few seconds, or after a reconnect. */
export async function catchUp(
  base: string,
  key: string,
  cursor: string,
  heard: (event: { type: string }) => unknown,
): Promise<string> {
  for (;;) {
    const response = await fetch(`${base}/v1/events?after=${cursor}`, { headers: { authorization: `Bearer ${key}` } })
    if (!response.ok) throw new Error(`The gateway answered ${response.status}`)
    const page = (await response.json()) as { events: { type: string }[]; cursor: string; gap: boolean }
    if (page.gap) console.warn('Some events are gone: compare with the lists')
    for (const event of page.events) await heard(event)
    cursor = page.cursor
    if (page.events.length === 0) return cursor
  }
}
