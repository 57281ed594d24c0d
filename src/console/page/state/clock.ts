import { signal } from '@preact/signals'
import { timeZone } from './settings.ts'

/** The time of day, in milliseconds, set each second while the page is visible. */
export const now = signal(Date.now())

type Time = string | number

/** `14:26:07`. */
export const clockTime = (at: Time): string => part(at, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** `14:26`. */
export const shortTime = (at: Time): string => part(at, { hour: '2-digit', minute: '2-digit' })

/** `14:26:07` today, `22 Nov 14:26` on another day, `22 Nov 2025` in another year. */
export function rowTime(at: Time, today: number): string {
  if (dayOf(at) === dayOf(today)) return clockTime(at)
  return yearOf(at) === yearOf(today)
    ? `${part(at, { day: 'numeric', month: 'short' })} ${shortTime(at)}`
    : part(at, { day: 'numeric', month: 'short', year: 'numeric' })
}

/** `Today, Mon 23 Nov`, the header of a day in a list. */
export function dayHeader(at: Time, today: number): string {
  const day = part(at, { weekday: 'short', day: 'numeric', month: 'short' }).replace(',', '')
  if (dayOf(at) === dayOf(today)) return `Today, ${day}`
  if (dayOf(at) === dayOf(today - 86_400_000)) return `Yesterday, ${day}`
  return yearOf(at) === yearOf(today) ? day : `${day} ${yearOf(at)}`
}

/** In UTC with milliseconds, for tooltips. */
export const utcTime = (at: Time): string => new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC')

/** A key that is the same for two times on the same day. */
export function dayOf(at: Time): string {
  const date = new Date(at)
  if (timeZone.value === 'utc') return date.toISOString().slice(0, 10)
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`
}

const yearOf = (at: Time): string => part(at, { year: 'numeric' })

/** `UTC+1`, the offset of the zone in which times are shown. */
export function zoneName(at: Time): string {
  const minutes = timeZone.value === 'utc' ? 0 : -new Date(at).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const rest = Math.abs(minutes) % 60
  return `UTC${minutes < 0 ? '−' : '+'}${Math.floor(Math.abs(minutes) / 60)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** A part of a time in the style of `en-GB`. Formats are kept, because creating one takes a hundred times as long as using it. */
export function part(at: Time, options: Intl.DateTimeFormatOptions): string {
  const zone = timeZone.value === 'utc' ? 'UTC' : undefined
  const key = JSON.stringify([zone, options])
  const format = formats.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' })
  formats.set(key, format)
  return format.format(new Date(at))
}

/** `840 ms`, `2.4 s`, `5 min 52 s`, `3 h 20 min`, `2 d 3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const seconds = Math.floor(ms / 1000)
  if (seconds < 3600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  if (seconds < 86_400) return two(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min')
  return two(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h')
}

const two = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`

const grouped = new Intl.NumberFormat('en-US')

/** `1,204`; unknown is an en dash, never 0. */
export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : grouped.format(value)

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
