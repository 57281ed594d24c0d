import type { ConditionSource } from './condition.ts'

/** The provider refuses this gateway's client. */
export const providerCredentials: ConditionSource = {
  alert: 'provider_credentials',
  check: 'provider credentials',
  find: async ({ config, provider, providerState: { clientRefusal: refusal } }) => {
    if (refusal === null) return []
    return [
      {
        what: 'RingCentral refuses RC_CLIENT_ID and RC_CLIENT_SECRET, so nothing is sent once the access tokens expire',
        fix: `${provider.fixOf(refusal, 'refresh', config.publicUrl)} Then restart.`,
        overText: 'Resolved: RingCentral accepts RC_CLIENT_ID and RC_CLIENT_SECRET again.',
        detail: { status: refusal.status, code: refusal.code },
      },
    ]
  },
}
