import type { Gateway } from '../gateway.ts'

/**
 * Presents the client's credentials at the start, and again while the provider does not answer or refuses them, so that an idle gateway
 * notices both, and their end. The refresh token is invalid on purpose, so the call changes nothing.
 */
export async function watchProvider({ config, provider, providerState, log }: Gateway): Promise<void> {
  if (config.provider.simulated || (providerState.isClientKnown && !providerState.isInTrouble)) return
  const before = providerState.clientRefusal
  await provider.refresh('sgw-check')
  const { clientRefusal } = providerState
  if (before !== null || clientRefusal === null) return
  const { status, code, requestId: providerRequestId } = clientRefusal
  const fix = provider.fixOf(clientRefusal, 'refresh', config.publicUrl)
  log.error({ status, code, providerRequestId, fix }, 'the provider refuses RC_CLIENT_ID and RC_CLIENT_SECRET')
}
