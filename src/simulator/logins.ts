/** The next logins at the authorize page, as set by the control API. Each is used once. */
export interface Logins {
  next(extensionId: number): void
  denyNext(calls: number): void
  /** Takes the next login: an extension, a denial, or null if none is set. */
  take(): number | 'deny' | null
}

export function createLogins(): Logins {
  const queue: (number | 'deny')[] = []
  return {
    next: (extensionId) => void queue.push(extensionId),
    denyNext(calls) {
      for (let left = calls; left > 0; left--) queue.push('deny')
    },
    take: () => queue.shift() ?? null,
  }
}
