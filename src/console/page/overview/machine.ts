import { signal } from '@preact/signals'

/** The part of `sgw status` in the line about the system. */
export interface Status {
  version: string
  backup: { litestream: boolean; lagMs: number | null }
  storage: string | null
}

/** One check of `sgw doctor`. */
export interface Finding {
  check: string
  level: 'ok' | 'warn' | 'fail'
  detail: string
}

/** The number of the latest request to show the gateway's checks; 0 while they are folded. Each request scrolls to them. */
export const checksAsked = signal(0)
