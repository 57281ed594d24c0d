import { signal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'

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

/** Endpoints that only an operator may call. */
export const readStatus = (operator: Sgw): Promise<Status> => operator.request('GET', '/v1/operator/status')

export const runDoctor = (operator: Sgw): Promise<Finding[]> => operator.request('GET', '/v1/operator/doctor')
