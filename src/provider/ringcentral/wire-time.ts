import { z } from 'zod'

/** ISO 8601 with a zone, as the API sends all times, into epoch milliseconds. */
export const wireTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/)
  .transform((text) => Date.parse(text))
  .pipe(z.number())
