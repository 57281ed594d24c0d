/** Why a message has not been sent yet. If several reasons apply, the first in this list is reported. */
export const WAITING_REASONS = [
  'suspended',
  'scheduled',
  'restore',
  'reauthorization',
  'number_lookup',
  'reconciling',
  'provider_unreachable',
  'provider_paused',
  'order',
  'number_limit',
  'extension_limit',
] as const
export type WaitingReason = (typeof WAITING_REASONS)[number]
