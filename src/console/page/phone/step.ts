import type { StepDetail } from './step-detail.ts'

/** The stations, from left to right. */
export const STATIONS = ['Your app', 'Gateway', 'RingCentral', 'Phone'] as const

/** One step of a text on its way. A hop goes from a station to the next one; `at` is in milliseconds. */
export interface Step {
  key: string
  at: number
  kind: 'hop' | 'back' | 'self' | 'wait'
  /** The left one of a hop's two stations, or the station of any other step. */
  station: 0 | 1 | 2
  title: string
  /** The text after the title, such as a status. */
  result: string
  /** How long this step alone took, in milliseconds; null for a moment, and while it runs. */
  took: number | null
  isBad: boolean
  detail: StepDetail | null
}

/** A moment about which nothing more is known. */
export const base = (key: string, at: number) =>
  ({ key, at, result: '', took: null, isBad: false, detail: null }) satisfies Partial<Step>
