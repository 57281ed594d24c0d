/** Parses the first message of a socket. Returns an object, or the contract's error text. */
export function parseFirst(raw: string | Buffer): Record<string, unknown> | string {
  if (typeof raw !== 'string') return 'Invalid JSON'
  try {
    const message: unknown = JSON.parse(raw)
    const isAuth = typeof message === 'object' && message !== null && 'type' in message && message.type === 'auth'
    return isAuth ? { ...message } : 'Send auth first'
  } catch {
    return 'Invalid JSON'
  }
}
