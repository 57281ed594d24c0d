import { hinted } from './facet.ts'
import type { FacetValue } from './filters.ts'

/**
 * The times suggested at a moment, in epoch milliseconds. A typed number can be hours or days. The last suggestion shows how to write a date.
 */
export const timesAt =
  (now: number) =>
  (part: string): readonly FacetValue[] => {
    if (/^\d{1,3}$/.test(part))
      return Object.entries(UNITS).map(([unit, words]) => ({ value: `${part}${unit}`, hint: `${part} ${words}` }))
    const date = new Date(now).toISOString().slice(0, 10)
    return [...TIMES, { value: date, hint: `a date, or a time: ${date}T14:00Z` }]
  }

const TIMES = hinted({
  today: 'since midnight',
  yesterday: 'since midnight of yesterday',
  '1h': 'an hour ago',
  '24h': '24 hours ago',
  '7d': '7 days ago',
  '30d': '30 days ago',
})
const UNITS = { h: 'hours ago', d: 'days ago' } as const
