import { z } from 'zod'

/** The answer of an endpoint that has nothing to return. */
export const Done = z.object({ ok: z.literal(true) }).meta({ id: 'Ok', example: { ok: true } })
