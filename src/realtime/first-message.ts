import { WS_AUTH_FRAME_BYTES } from '../core/limits.ts'

/** The first message of a socket as an object, or the contract's text of what is wrong with it. */
export function parseFirst(raw: string | Buffer): Record<string, unknown> | string {
  if (typeof raw !== 'string') return 'Invalid JSON'
  if (raw.length > WS_AUTH_FRAME_BYTES) return 'Send auth first'
  try {
    const message: unknown = JSON.parse(raw)
    const isAuth = typeof message === 'object' && message !== null && 'type' in message && message.type === 'auth'
    return isAuth ? { ...message } : 'Send auth first'
  } catch {
    return 'Invalid JSON'
  }
}

export const authError = (error: string): string => JSON.stringify({ type: 'auth_error', error })
