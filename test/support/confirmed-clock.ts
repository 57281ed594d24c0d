import type { World } from './world.ts'

/** Lets the gateway trust its clock, as after the provider's first answer. */
export function confirmClock({ gateway }: Pick<World, 'gateway'>): void {
  gateway.provider.hasAnswered = () => true
}
