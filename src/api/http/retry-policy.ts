import { z } from 'zod'
import { RETRY_POLICIES } from '../../db/schema/webhooks.ts'
import { fails } from './route.ts'

// The retry policy of an app or a trigger, as both endpoints take and return it.

const POLICY = {
  id: 'RetryPolicy',
  description:
    '`none`: one attempt. `short`: again after 5 s, 30 s, 2 min, 10 min, 30 min. `standard`: after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h',
  example: 'standard',
}

export const RetryPolicySetting = z
  .object({ policy: z.enum(RETRY_POLICIES, fails('badPolicy')).meta(POLICY) }, fails('badJson'))
  .meta({ id: 'RetryPolicySetting' })

export type RetryPolicySetting = z.infer<typeof RetryPolicySetting>
