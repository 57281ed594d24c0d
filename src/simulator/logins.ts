/** Who will log in next at the authorize page, as the control API arranged it. Each arrangement serves once. */
export interface Logins {
  next(extensionId: number): void
  denyNext(calls: number): void
  /** What the coming login does: a chosen extension, a denial, or null for no arrangement. */
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
